// SPDX-License-Identifier: GPL-2.0
// One of the traces that are reported: its wanted events, and what is to be said of it.
#include "report/open_trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include "output/accounting.h"
#include "output/text.h"
#include "report/losses.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

OpenTrace::OpenTrace(const std::string& path, const MakeReader& make, bool merged,
                     const Wanted& wanted, std::function<void(const std::string& line)> say)
    : merged_(merged), timed_(!wanted.times.empty()), damage_(path, std::move(say)),
      reader_(make([this](const std::string& text) { damage_.report(text); })),
      filter_(wanted, reader_->description().layouts) {
    const std::optional<ClockAnchor>& anchor = reader_->description().clock.anchor;
    if (merged && (!anchor || anchor->realtime_ns == 0))
        throw Error(fmt::format("{}: it doesn't tell when it was recorded, so it can't be shown "
                                "together with others",
                                escaped(path)),
                    fmt::format("alone it can: trapline report {}", escaped(path)));
}

std::uint64_t OpenTrace::to_shown_ns(std::uint64_t ticks) const {
    return merged_ ? reader_->clock().to_realtime_ns(ticks)
                   : reader_->clock().to_monotonic_ns(ticks);
}

bool OpenTrace::advance() {
    while ((event_ = reader_->next()) != nullptr) {
        last_ticks_ = event_->ticks;
        // Not for nothing: it is a division of 128 bits.
        if (merged_ || timed_)
            shown_ns_ = to_shown_ns(event_->ticks);
        if (filter_.passes(*event_, shown_ns_))
            return true;
    }
    return false;
}

std::optional<std::uint64_t> OpenTrace::last_monotonic_ns() const {
    if (!last_ticks_)
        return std::nullopt;
    return reader_->clock().to_monotonic_ns(*last_ticks_);
}

std::string OpenTrace::accounting() const {
    const TraceDescription& description = reader_->description();
    if (!description.totals)
        return {};
    std::unordered_map<std::uint16_t, std::uint32_t> maxactive;
    for (const ProbeDescription& probe : description.probes)
        maxactive.emplace(probe.id, probe.maxactive);
    std::vector<ProbeAccount> accounts;
    std::string gone;
    for (const ProbeTotals& totals : description.totals->probes) {
        const EventLayout* layout = reader_->layout(totals.id);
        if (layout == nullptr)
            continue;
        ProbeAccount& account = accounts.emplace_back();
        account.name = layout->name;
        account.kind = layout->kind;
        account.counters = totals.counters;
        account.maxactive = maxactive[totals.id];
        account.pending = totals.pending;
        account.pending_known = totals.pending_known;
        if (totals.gone)
            gone += gone_text(account.name);
    }
    return accounting_text(accounts) + gone;
}

std::string OpenTrace::losses() const {
    std::string out;
    const auto time = [this](std::uint64_t ticks) { return seconds_text(to_shown_ns(ticks)); };
    for (const CpuGaps& of : reader_->gaps_by_cpu())
        out += losses_text(of.cpu, of.gaps, time);
    return out;
}

std::string OpenTrace::gaps() const {
    std::string out;
    const auto time = [this](std::uint64_t ticks) { return seconds_text(to_shown_ns(ticks)); };
    for (const CpuGaps& of : reader_->gaps_by_cpu())
        out += gaps_text(of.cpu, of.gaps, time);
    return out;
}

} // namespace trapline
