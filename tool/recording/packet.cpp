// SPDX-License-Identifier: GPL-2.0
// A packet's header as it lies in a file: taken apart and checked, and made.
#include "recording/packet.h"

#include <cstring>
#include <fmt/format.h>

#include "shared/trapline.h"
#include "trace/description.h"

namespace trapline {

namespace {

bool check(const PacketHeader& header, std::string& why) {
    if (header.content_size < TL_PACKET_SIZE || header.content_size > header.packet_size)
        why = fmt::format("{} bytes of content in {}, with a header of {}", header.content_size,
                          header.packet_size, TL_PACKET_SIZE);
    else if (header.packet_size > TRAPLINE_CHUNK_MAX)
        why = fmt::format("{} bytes, and {} are the most", header.packet_size, TRAPLINE_CHUNK_MAX);
    else if (header.begin > header.end)
        why = fmt::format("its end, {}, is before its begin, {}", header.end, header.begin);
    else if (header.cpu >= trace_cpus_max)
        why = fmt::format("there is no CPU {}", header.cpu);
    else
        return true;
    return false;
}

} // namespace

bool parse_packet(std::span<const std::byte> bytes, PacketHeader& header, std::string& why) {
    tl_packet packet{};
    if (bytes.size() < sizeof(packet)) {
        why = fmt::format("truncated: {} of {} bytes of a header", bytes.size(), sizeof(packet));
        return false;
    }
    std::memcpy(&packet, bytes.data(), sizeof(packet));
    const std::uint32_t magic = packet.magic;
    const std::uint32_t stream_id = packet.stream_id;
    const std::uint64_t content_bits = packet.content_size;
    const std::uint64_t packet_bits = packet.packet_size;
    if (magic != TL_CTF_MAGIC) {
        why = fmt::format("it begins with {:#x} instead of {:#x}", magic, TL_CTF_MAGIC);
        return false;
    }
    if (stream_id != TL_STREAM_ID) {
        why = fmt::format("stream {} is unknown", stream_id);
        return false;
    }
    if (content_bits % 8 != 0 || packet_bits % 8 != 0) {
        why = fmt::format("{} bits of content in {} are no whole bytes", content_bits, packet_bits);
        return false;
    }
    header.begin = packet.timestamp_begin;
    header.end = packet.timestamp_end;
    header.content_size = content_bits / 8;
    header.packet_size = packet_bits / 8;
    header.events_discarded = packet.events_discarded;
    header.sequence = packet.packet_seq_num;
    header.first_event = packet.first_event;
    header.cpu = packet.cpu_id;
    return check(header, why);
}

EmptyPacket empty_packet(const PacketHeader& header) {
    tl_packet packet{};
    packet.magic = TL_CTF_MAGIC;
    packet.stream_id = TL_STREAM_ID;
    packet.timestamp_begin = header.begin;
    packet.timestamp_end = header.end;
    packet.content_size = std::uint64_t{TL_PACKET_SIZE} * 8;
    packet.packet_size = packet.content_size;
    packet.events_discarded = header.events_discarded;
    packet.packet_seq_num = header.sequence;
    packet.first_event = header.first_event;
    packet.cpu_id = header.cpu;
    EmptyPacket bytes;
    std::memcpy(bytes.data(), &packet, sizeof(packet));
    return bytes;
}

} // namespace trapline
