// SPDX-License-Identifier: GPL-2.0
// One stream of a recording, read packet by packet. The file may be anything: whatever is
// wrong in it is reported with its place, and what can be read is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recording/packet.h"
#include "ring/decoder.h"
#include "trace/batch.h"
#include "trace/event.h"
#include "util/fd.h"

namespace trapline {

// Events that are not in the stream, by its packets' headers.
struct Gap {
    std::uint64_t from = 0;        // ticks: the last event before; 0: there is none
    std::uint64_t to = 0;          // ticks: the end of the packet that says so
    std::uint64_t dropped = 0;     // no room, nested, too big
    std::uint64_t overwritten = 0; // by newer ones, before they were read
};

class StreamReader {
public:
    using Damage = std::function<void(const std::string& text)>;

    // Of more gaps than these, the last one takes in what follows.
    static constexpr std::size_t gaps_max = 65536;

    // `name` is for messages, and may say whose packets are in it: "cpu_N". `layouts` must
    // outlive the reader. Looks for the first packet.
    StreamReader(UniqueFd file, std::string name, std::span<const EventLayout> layouts,
                 Damage damage);

    // False: nothing in the file is a packet, which is damage.
    bool any() const { return decoder_.has_value(); }

    std::uint32_t cpu() const { return cpu_; } // of all packets that are read

    // The next event, or null at the end. It lasts until the next call.
    const Event* next();
    std::uint64_t events() const { return events_; } // given so far

    const std::vector<Gap>& gaps() const { return gaps_; }

private:
    // What packets say of the events before them, compared with what the last one said.
    struct Known {
        std::uint64_t discarded = 0;
        std::uint64_t events = 0; // recorded until now
        bool exact = true;        // false: damage took an unknown number of them
        std::uint64_t end = 0;    // ticks
    };

    bool next_packet(); // fills batch_; false at the end
    std::uint32_t whose();
    bool find_packet(); // at position_ or behind it: sets header_ and position_
    bool read_header(std::uint64_t at, PacketHeader& header, std::string& why);
    std::optional<std::uint64_t> scan(std::uint64_t from);
    bool read_packet();
    void compare();
    void note(std::uint64_t dropped, std::uint64_t overwritten);
    std::size_t read_at(std::uint64_t at, std::span<std::byte> into);
    void damaged(const std::string& what) const; // with the packet's place

    UniqueFd file_;
    std::string name_;
    std::uint32_t cpu_ = 0;
    Damage damage_;
    std::span<const EventLayout> layouts_;
    std::uint64_t size_ = 0;     // bytes of the file
    std::uint64_t position_ = 0; // of the next packet
    bool found_ = false;         // header_ is the one at position_
    PacketHeader header_;
    std::optional<RecordDecoder> decoder_;
    std::vector<std::byte> packet_;
    Batch batch_;
    std::uint64_t events_ = 0;
    std::size_t at_ = 0;           // of the next event in it
    bool whole_ = true;            // all of the packet could be decoded
    std::uint64_t last_event_ = 0; // ticks: in all packets before this
    std::uint64_t newest_ = 0;     // ticks, of all events
    Known known_;
    std::vector<Gap> gaps_;
};

} // namespace trapline
