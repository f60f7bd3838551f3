// SPDX-License-Identifier: GPL-2.0
// One stream of a recording, read packet by packet. The file may be anything: whatever is
// wrong in it is reported with its place, and what can be read is read.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ring/decoder.h"
#include "trace/batch.h"
#include "trace/event.h"
#include "util/fd.h"

namespace trapline {

// Events that are not in the stream, by its packets' headers.
struct Gap {
    std::uint64_t from = 0;        // ticks: the last event before
    std::uint64_t to = 0;          // ticks: the end of the packet that says so
    std::uint64_t dropped = 0;     // no room, nested, too big
    std::uint64_t overwritten = 0; // by newer ones, before they were read
};

class StreamReader {
public:
    using Damage = std::function<void(const std::string& text)>;

    // `name` is for messages. `layouts` must outlive the reader.
    StreamReader(UniqueFd file, std::string name, std::span<const EventLayout> layouts,
                 Damage damage);

    std::uint32_t cpu() const { return cpu_; }

    // The next event, or null at the end. It lasts until the next call.
    const Event* next();

    const std::vector<Gap>& gaps() const { return gaps_; }

private:
    bool next_packet(); // fills batch_; false at the end

    UniqueFd file_;
    std::string name_;
    std::uint32_t cpu_ = 0;
    Damage damage_;
    std::optional<RecordDecoder> decoder_;
    std::vector<std::byte> packet_;
    Batch batch_;
    std::size_t at_ = 0; // of the next event in it
    std::vector<Gap> gaps_;
};

} // namespace trapline
