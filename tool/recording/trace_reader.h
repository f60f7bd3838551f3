// SPDX-License-Identifier: GPL-2.0
// Reads a recording: its events, in time order across the CPUs, with as much memory as a
// packet per CPU takes, however long the trace is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recording/stream_reader.h"
#include "trace/clock.h"
#include "trace/description.h"
#include "trace/event.h"

namespace trapline {

class TraceReader {
public:
    // Told of each piece of damage: where it is and what that means. Reading goes on.
    using Damage = std::function<void(const std::string& text)>;

    // Opens everything there is in `path`. Error if it isn't a directory with metadata that
    // describes a trace of ours. Whatever else lies there is a stream, unless its name begins
    // with a dot; what can't be read as one is reported as damage, and so are two of one CPU,
    // which are both read.
    TraceReader(const std::string& path, Damage damage);
    TraceReader(const TraceReader&) = delete;
    TraceReader& operator=(const TraceReader&) = delete;

    const std::string& path() const { return path_; }
    const TraceDescription& description() const { return description_; }
    const ClockConversion& clock() const { return clock_; }

    // The layout of an event id; never null for ids of events that next() gave.
    const EventLayout* layout(std::uint16_t id) const;

    // The next event, or null at the end. It lasts until the next call.
    const Event* next();

    // Where packet headers say that events are missing, found so far, in each stream's order.
    const std::vector<Gap>& gaps(std::size_t stream) const;
    std::size_t streams() const { return streams_.size(); }
    std::uint32_t cpu(std::size_t stream) const;

    bool damaged() const { return damaged_; }

private:
    // A stream in the heap, and its next event.
    struct Entry {
        const Event* event;
        std::size_t stream;
    };

    static bool after(const Entry& a, const Entry& b);

    void open_streams(int directory);
    void add_stream(UniqueFd file, const std::string& name);
    void push_next(std::size_t stream);
    void report(const std::string& text);
    void check_totals();

    std::string path_;
    Damage damage_;
    bool damaged_ = false;
    TraceDescription description_;
    ClockConversion clock_;
    std::vector<const EventLayout*> layouts_;            // by event id
    std::vector<std::unique_ptr<StreamReader>> streams_; // by CPU
    std::vector<Entry> heap_;                            // the earliest first
    std::optional<std::size_t> handed_; // the stream whose event was handed out, not in the heap
};

} // namespace trapline
