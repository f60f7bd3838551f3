// SPDX-License-Identifier: GPL-2.0
// From rings to disk: each finished chunk as it stands.
#include "recording/chunk_writer.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>

#include "util/error.h"

namespace trapline {

namespace {

PacketHeader header_of(std::span<const std::byte> packet, std::uint32_t cpu) {
    PacketHeader header;
    std::string why;
    if (!parse_packet(packet, header, why))
        throw Error(fmt::format("the ring of CPU {} contradicts itself: {}", cpu, why),
                    "this is a bug in trapline, or its memory was overwritten: please report it");
    return header;
}

} // namespace

ChunkWriter::ChunkWriter(std::span<const RingOfCpu> rings, RecordingDirectory& directory,
                         std::uint64_t max_size)
    : directory_(directory),
      max_size_(max_size == 0 ? std::numeric_limits<std::uint64_t>::max() : max_size) {
    max_size_ -= std::min<std::uint64_t>(max_size_, rings.size() * TL_PACKET_SIZE);
    for (const RingOfCpu& ring : rings)
        rings_.push_back({RingReader(ring.memory, ring.cpu), ring.memory.size,
                          ring.memory.control->chunk_size, std::nullopt});
}

bool ChunkWriter::write_finished() {
    return std::all_of(rings_.begin(), rings_.end(),
                       [this](Ring& ring) { return write_finished(ring); });
}

// No more than a ring holds: what is written meanwhile is for the next time.
bool ChunkWriter::write_finished(Ring& ring) {
    std::uint64_t left = ring.size;
    while (left != 0) {
        std::span<const std::byte> chunks = ring.reader.finished();
        if (chunks.empty())
            return true;
        const std::uint64_t size = directory_.size();
        const std::uint64_t room =
            size < max_size_ ? (max_size_ - size) / ring.chunk_size * ring.chunk_size : 0;
        chunks = chunks.first(std::min<std::uint64_t>({chunks.size(), left, room}));
        if (chunks.empty())
            return false;
        directory_.stream(ring.reader.cpu()).append(chunks);
        ring.last = header_of(chunks.last(ring.chunk_size), ring.reader.cpu());
        ring.reader.release_chunks(chunks.size());
        left -= chunks.size();
    }
    return true;
}

bool ChunkWriter::write_rest(const ClockAnchor& stop) {
    const bool all = write_finished();
    for (Ring& ring : rings_)
        write_losses(ring, stop);
    return all;
}

void ChunkWriter::write_losses(Ring& ring, const ClockAnchor& stop) {
    const std::uint64_t lost = ring.reader.lost();
    if (lost == (ring.last ? ring.last->events_discarded : 0))
        return;
    PacketHeader header;
    header.begin = std::max(stop.ticks, ring.last ? ring.last->end : 0);
    header.end = header.begin;
    header.content_size = TL_PACKET_SIZE;
    header.packet_size = TL_PACKET_SIZE;
    header.events_discarded = lost;
    header.sequence = ring.last ? ring.last->sequence + 1 : 0;
    header.first_event = ring.reader.released_records(); // others may wait in the ring
    header.cpu = ring.reader.cpu();
    directory_.stream(ring.reader.cpu()).append(empty_packet(header));
    ring.last = header;
}

std::vector<RingTotals> ChunkWriter::totals() const {
    std::vector<RingTotals> all;
    for (const Ring& ring : rings_) {
        RingTotals& totals = all.emplace_back();
        totals.cpu = ring.reader.cpu();
        totals.written = ring.reader.written();
        totals.lost_full = ring.reader.lost_full();
        totals.lost_nested = ring.reader.lost_nested();
        totals.lost_too_big = ring.reader.lost_too_big();
        totals.read = ring.reader.released_records();
        totals.unread = totals.written - totals.read;
    }
    return all;
}

} // namespace trapline
