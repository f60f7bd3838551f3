// SPDX-License-Identifier: GPL-2.0
// Reads a recording: its events, in time order across the CPUs, with as much memory as a
// packet per CPU takes, however long the trace is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recording/event_reader.h"
#include "recording/stream_reader.h"

namespace trapline {

class TraceReader : public EventReader {
public:
    // Opens everything there is in `path`. Error if it isn't a directory with metadata that
    // describes a trace of ours. Whatever else lies there is a stream, unless its name begins
    // with a dot; what can't be read as one is reported as damage, and so are two of one CPU,
    // which are both read.
    TraceReader(const std::string& path, Damage damage);

    const Event* next() override;
    std::vector<CpuGaps> gaps_by_cpu() const override;

    // Where packet headers say that events are missing, found so far, in each stream's order.
    const std::vector<Gap>& gaps(std::size_t stream) const;
    std::size_t streams() const { return streams_.size(); }
    std::uint32_t cpu(std::size_t stream) const;

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
    void check_totals();

    std::vector<std::unique_ptr<StreamReader>> streams_; // by CPU
    std::vector<Entry> heap_;                            // the earliest first
    std::optional<std::size_t> handed_; // the stream whose event was handed out, not in the heap
};

} // namespace trapline
