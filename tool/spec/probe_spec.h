// SPDX-License-Identifier: GPL-2.0
// The PROBE argument of the command line, taken apart.
//
//   [kprobe:|kretprobe:]PLACE[LIST][ if CONDITION]
//
//   PLACE      0xADDR | [MODULE:]FUNC[#N][+OFF[/SIZE]][ [MODULE]] | [MODULE:]PATTERN
//              [MODULE:]FUNC@FILE[+OFF[/SIZE]] | [MODULE:]FUNC:LINE | FILE:LINE
//   LIST       "(" [ ITEM { "," ITEM } ] ")" [ "=" ITEM ]
//   ITEM       VALUE [ ":" FORMAT ]
//   FORMAT     x | d | u | c | str[n] | ustr[n] | hex[n] | be16 | be32 | ip4 | ip6 | mac | errno |
//              sym | depth[n]
//   CONDITION  COMPARISON { ("&&" | "||") COMPARISON }, with "!" and parentheses
//   VALUE      file->f_path.dentry->d_name.name, ((struct sock *)$arg1)->sk_state, a[2], a[0:4],
//              *p, &s->m, p + 1, (n & 3), $pid, ...
//
// The grammar of a list is in spec/argument_list.h, that of a value in spec/expression.h, that of
// a condition in spec/condition.h.
//
// Behind a colon a number is a line, and all else is a function. What is before the number is a
// file if it has '.' or '/' in it, and a function else, whose lines are counted from its beginning,
// which is 0.
//
// PATTERN is a FUNC with *, ? or [...] in it, as a shell has them. FUNC#N is the Nth function of
// that name by address, from 1, wherever they are: MODULE:FUNC#N has the same number, and has to be
// in that module. +OFF/SIZE and a module in brackets behind it are how an oops writes a place. A
// list picks what is recorded: without one it is all parameters, with "()" none. It follows the
// place at once; what stands behind "=" is how the return value is recorded. " /CONDITION/" is
// bpftrace's way to write " if CONDITION".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "shared/trapline.h"
#include "spec/argument_list.h"
#include "spec/condition.h"

namespace trapline {

struct ProbeSpec {
    trapline_probe_kind kind = TRAPLINE_CALL;
    std::string module;   // empty: wherever it is; "kernel" or "vmlinux": the kernel image
    std::string function; // empty: FILE:LINE
    bool pattern = false; // of names, as fnmatch() takes it
    std::optional<std::uint64_t> address; // instead of a name
    std::string file;                     // FILE:LINE, FUNC@FILE
    std::optional<unsigned> line;         // FILE:LINE, FUNC:LINE
    unsigned number = 0;                  // FUNC#N; 0: not given
    std::uint64_t offset = 0;
    bool has_offset = false; // given, even as +0
    std::optional<std::uint64_t> oops_size;
    std::optional<ArgumentList> arguments; // none: all parameters
    std::optional<Condition> condition;
    std::string text; // as typed

    bool is_of_source() const { return line || !file.empty(); }
    bool begins_call =
        false;          // the entry that --begin adds to a call: a part of its condition holds
    unsigned stack = 0; // frames to be recorded at most; 0: no stack
};

// `kind` is what --entry (TRAPLINE_ENTRY) or --return (TRAPLINE_RETURN) ask for. Throws UsageError
// that shows the argument with a caret under what is wrong in it.
ProbeSpec parse_probe(std::string_view text,
                      std::optional<trapline_probe_kind> kind = std::nullopt);

// How events of the probe are called, whatever its condition: "vfs_read", "vfs_read+0x1c",
// "ext4:ext4_sync_file".
std::string event_name(const ProbeSpec& spec);

} // namespace trapline
