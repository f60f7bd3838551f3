// SPDX-License-Identifier: GPL-2.0
// From a ring's bytes to events. A decoder follows one ring: it remembers time and task
// from piece to piece of a packet.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ring/reader.h"
#include "trace/batch.h"
#include "trace/event.h"
#include "util/error.h"

namespace trapline {

// What can't be a record. Its message takes the bytes for a ring's.
class DecodeError : public Error {
public:
    DecodeError(std::uint32_t cpu, std::uint64_t packet, std::size_t offset, std::string why);

    std::size_t offset() const { return offset_; } // bytes, in its packet
    const std::string& why() const { return why_; }

private:
    std::size_t offset_;
    std::string why_;
};

class RecordDecoder {
public:
    // `layouts` must outlive the decoder. Marks are understood besides.
    RecordDecoder(std::uint32_t cpu, std::span<const EventLayout> layouts);

    // Appends the events of one piece, which is copied first. DecodeError for what can't be a
    // record; the batch then holds the events before it.
    void decode(const tl_ring_span& span, Batch& batch);

    // The next packet may follow any other, as in a recording that lacks some, and none of its
    // records can be later than `latest`.
    void restart(std::uint64_t latest);

    std::uint64_t events() const { return events_; } // decoded so far

private:
    struct Known {
        const EventLayout* layout = nullptr;
        std::optional<std::uint32_t> size; // of the fields, if always the same
    };

    const Known* find(std::uint32_t id) const;
    void begin_packet(const std::uint8_t* at);
    std::size_t take(std::span<const std::byte> bytes, std::size_t offset, Batch& batch);
    [[noreturn]] void fail(std::size_t offset, const std::string& why) const;

    std::uint32_t cpu_;
    std::vector<Known> known_; // by event id
    Known mark_;
    std::uint64_t events_ = 0;

    std::uint64_t latest_ = std::numeric_limits<std::uint64_t>::max();

    // Of the packet being read.
    bool any_ = false;
    std::uint64_t sequence_ = 0;
    std::uint64_t last_ = 0; // time of the record before, or of the packet's begin
    std::uint32_t tgid_ = 0;
    std::array<char, TL_COMM_SIZE> comm_{};
};

struct Drained {
    std::size_t bytes = 0; // taken out of the ring
    bool more = false;     // the budget ended before the ring did
};

// Reads pieces until the ring is empty or `max_bytes` were taken (the last piece, a chunk
// at most, may go over). Each is copied, decoded and released before the next.
Drained drain(RingReader& reader, RecordDecoder& decoder, Batch& batch, std::size_t max_bytes);

} // namespace trapline
