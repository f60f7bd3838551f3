// SPDX-License-Identifier: GPL-2.0
// A trace that is read back, wherever it comes from: its events in time order, and what is
// known of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "recording/stream_reader.h"
#include "trace/clock.h"
#include "trace/description.h"
#include "trace/event.h"

namespace trapline {

// Where events are missing in what a CPU recorded.
struct CpuGaps {
    std::uint32_t cpu = 0;
    std::span<const Gap> gaps;
};

class EventReader {
public:
    // Told of each piece of damage: where it is and what that means. Reading goes on.
    using Damage = std::function<void(const std::string& text)>;

    EventReader(const EventReader&) = delete;
    EventReader& operator=(const EventReader&) = delete;
    virtual ~EventReader() = default;

    // The next event, or null at the end. It lasts until the next call.
    virtual const Event* next() = 0;

    // Found so far, by CPU.
    virtual std::vector<CpuGaps> gaps_by_cpu() const { return {}; }

    // Whatever else is to be said of it at the end: lines with their newlines.
    virtual std::string notes() const { return {}; }

    const std::string& path() const { return path_; }
    const TraceDescription& description() const { return description_; }
    const ClockConversion& clock() const { return clock_; }

    // The layout of an event id; never null for ids of events that next() gave.
    const EventLayout* layout(std::uint16_t id) const;

    bool damaged() const { return damaged_; }

protected:
    EventReader(std::string path, Damage damage);

    void describe(TraceDescription description); // once, before anything else
    void report(const std::string& text);        // damage

private:
    std::string path_;
    Damage damage_;
    bool damaged_ = false;
    TraceDescription description_;
    ClockConversion clock_;
    std::vector<const EventLayout*> layouts_; // by event id
};

} // namespace trapline
