// SPDX-License-Identifier: GPL-2.0
// The PROBE argument of the command line, taken apart.
//
//   [kprobe:|kretprobe:][MODULE:]FUNC[#N][+OFF[/SIZE]][ [MODULE]][ if CONDITION]
//
// FUNC#N is the Nth function of that name by address, from 1, wherever they are: MODULE:FUNC#N has
// the same number, and has to be in that module. +OFF/SIZE and a module in
// brackets behind it are how an oops writes a place. " /CONDITION/" is bpftrace's way to write
// " if CONDITION".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/trapline.h"
#include "spec/condition.h"

namespace trapline {

struct ProbeSpec {
    trapline_probe_kind kind = TRAPLINE_CALL;
    std::string module; // empty: wherever it is; "kernel" or "vmlinux": the kernel image
    std::string function;
    unsigned number = 0; // FUNC#N; 0: not given
    std::uint64_t offset = 0;
    bool has_offset = false; // given, even as +0
    std::optional<std::uint64_t> oops_size;
    Condition condition;
    std::string text; // as typed
};

// `kind` is what --entry (TRAPLINE_ENTRY) or --return (TRAPLINE_RETURN) ask for. Throws UsageError
// that shows the argument with a caret under what is wrong in it.
ProbeSpec parse_probe(std::string_view text,
                      std::optional<trapline_probe_kind> kind = std::nullopt);

// How events of the probe are called, whatever its condition: "vfs_read", "vfs_read+0x1c",
// "ext4:ext4_sync_file".
std::string event_name(const ProbeSpec& spec);

} // namespace trapline
