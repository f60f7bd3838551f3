// SPDX-License-Identifier: GPL-2.0
// Which events of a trace are wanted.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/event.h"

namespace trapline {

// Both ends belong to it.
struct TimeRange {
    std::uint64_t from_ns = 0;
    std::uint64_t to_ns = UINT64_MAX;
};

// An empty list wants everything; else one of it must fit.
struct Wanted {
    std::vector<std::string> probes; // globs of event names
    std::vector<std::uint32_t> pids; // process ids
    std::vector<std::string> comms;
    std::vector<TimeRange> times;
};

class EventFilter {
public:
    // `wanted` must outlive it.
    EventFilter(const Wanted& wanted, std::span<const EventLayout> layouts);

    // `ns`: on the clock that the times are of.
    bool passes(const Event& event, std::uint64_t ns) const;

    // Whether events of this id can pass.
    bool wants(std::uint16_t id) const;

private:
    const Wanted& wanted_;
    std::vector<bool> wanted_ids_; // of probes; empty: all
    bool marks_ = true;
};

// Error if a glob among `globs` fits no event there can be, with names that come near.
void check_globs(std::span<const std::string> globs,
                 std::span<const std::span<const EventLayout>> traces);

} // namespace trapline
