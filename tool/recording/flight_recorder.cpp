// SPDX-License-Identifier: GPL-2.0
// From rings that are written over and over to disk: what is in them now.
#include "recording/flight_recorder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "trace/batch.h"

namespace trapline {

FlightRecorder::FlightRecorder(std::span<const RingOfCpu> rings,
                               std::span<const EventLayout> layouts, RecordingDirectory& directory,
                               std::uint64_t max_size)
    : directory_(directory), max_size_(max_size) {
    for (const RingOfCpu& ring : rings)
        rings_.push_back({SnapshotReader(ring.memory, ring.cpu), RecordDecoder(ring.cpu, layouts),
                          ring.memory.control->chunk_size, std::nullopt});
}

bool FlightRecorder::write_new() {
    return std::all_of(rings_.begin(), rings_.end(),
                       [this](Ring& ring) { return write_new(ring); });
}

bool FlightRecorder::write_new(Ring& ring) {
    const std::uint64_t end = ring.reader.published();
    for (;;) {
        const std::uint64_t lost = ring.reader.lost();
        const std::optional<SnapshotReader::Chunk> chunk = ring.reader.next(end);
        if (!chunk)
            return true;
        const std::uint64_t records = complete(ring, *chunk, lost);
        const bool larger = ring.open != chunk->position;
        if (larger && max_size_ != 0 && directory_.size() + packet_.size() > max_size_)
            return false;
        store(ring, *chunk);
        ring.reader.count(records);
    }
}

// Makes packet_ the chunk as it goes to disk; returns how many records are in it. `lost`: by
// the ring before it was copied.
std::uint64_t FlightRecorder::complete(Ring& ring, const SnapshotReader::Chunk& chunk,
                                       std::uint64_t lost) {
    packet_.assign(ring.chunk_size, std::byte{0});
    std::copy(chunk.packet.begin(), chunk.packet.end(), packet_.begin());

    const auto* start = reinterpret_cast<const std::uint8_t*>(packet_.data());
    ring.decoder.restart(std::numeric_limits<std::uint64_t>::max());
    Batch batch;
    ring.decoder.decode({start, start + TL_PACKET_SIZE, chunk.packet.size() - TL_PACKET_SIZE, 0},
                        batch);
    if (!chunk.finished) {
        tl_packet header{};
        std::memcpy(&header, packet_.data(), sizeof(header));
        header.timestamp_end = batch.empty() ? header.timestamp_begin : batch.events.back().ticks;
        header.content_size = std::uint64_t{chunk.packet.size()} * 8;
        header.events_discarded = lost;
        std::memcpy(packet_.data(), &header, sizeof(header));
    }
    return batch.events.size();
}

void FlightRecorder::store(Ring& ring, const SnapshotReader::Chunk& chunk) {
    StreamFile& stream = directory_.stream(ring.reader.cpu());
    if (ring.open == chunk.position)
        stream.replace_open(packet_);
    else if (chunk.finished)
        stream.append(packet_);
    else
        stream.append_open(packet_);
    ring.open = chunk.finished ? std::nullopt : std::optional(chunk.position);
}

std::vector<RingTotals> FlightRecorder::totals() {
    std::vector<RingTotals> all;
    for (Ring& ring : rings_) {
        const SnapshotReader::Counts counts = ring.reader.counts();
        RingTotals& totals = all.emplace_back();
        totals.cpu = ring.reader.cpu();
        totals.written = counts.before + counts.read + counts.overwritten + counts.unread;
        totals.lost_full = ring.reader.lost_full();
        totals.lost_nested = ring.reader.lost_nested();
        totals.lost_too_big = ring.reader.lost_too_big();
        totals.read = counts.read;
        totals.overwritten = counts.overwritten + counts.before;
        totals.unread = counts.unread;
    }
    return all;
}

} // namespace trapline
