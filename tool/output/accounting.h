// SPDX-License-Identifier: GPL-2.0
// What became of every hit: the table at the end of a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/trapline.h"

namespace trapline {

struct ProbeAccount {
    std::string name;
    trapline_probe_kind kind = TRAPLINE_CALL;
    trapline_counters counters{};
    std::uint32_t maxactive = 0;
    std::vector<trapline_pending> pending; // calls still inside, as far as they can be found
    bool pending_known = true;             // false: the kernel doesn't let any be found
};

// Lines, each with its newline.
std::string accounting_text(std::span<const ProbeAccount> probes);

// The lines about hits beyond a limit, records that were dropped, and hits that the kernel missed,
// by cause; nothing where there were none.
void append_limited(std::string& out, std::string_view name, const trapline_counters& counters);
void append_dropped(std::string& out, std::string_view name, const trapline_counters& counters);
void append_missed(std::string& out, std::string_view name, const trapline_counters& counters,
                   std::uint32_t maxactive);

// The line about a probe whose trap was not in place at the end.
std::string gone_text(std::string_view name);

// Of a run that a crash of the kernel ended at a time of CLOCK_MONOTONIC.
std::string silenced_text(std::uint64_t monotonic_ns);

// Records that were hits and wanted but dropped: what --strict asks for.
std::uint64_t lost_records(const trapline_counters& counters);

} // namespace trapline
