// SPDX-License-Identifier: GPL-2.0
// A packet's header as it lies in a file: taken apart and checked, and made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "shared/ring.h"

namespace trapline {

struct PacketHeader {
    std::uint64_t begin = 0;        // ticks
    std::uint64_t end = 0;          // ticks
    std::uint64_t content_size = 0; // bytes, the header's among them
    std::uint64_t packet_size = 0;  // bytes
    std::uint64_t events_discarded = 0;
    std::uint64_t sequence = 0;
    std::uint64_t first_event = 0;
    std::uint32_t cpu = 0;
};

// Takes apart what `bytes` begin with. False, and `why` to follow "packet: ", if that is no
// header of a packet of ours, whatever follows it.
bool parse_packet(std::span<const std::byte> bytes, PacketHeader& header, std::string& why);

using EmptyPacket = std::array<std::byte, TL_PACKET_SIZE>;

// A packet that is a header and nothing more: it tells what was lost since the one before.
EmptyPacket empty_packet(const PacketHeader& header);

} // namespace trapline
