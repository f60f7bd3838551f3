// SPDX-License-Identifier: GPL-2.0
// One CPU's ring in overwrite mode, copied.
#include "ring/snapshot_reader.h"

#include <fmt/format.h>

namespace trapline {

SnapshotReader::SnapshotReader(const RingMemory& memory, std::uint32_t cpu)
    : RingCounters(memory), cpu_(cpu) {
    check_ring(memory, cpu);
    if (memory.control->overwrite == 0)
        refuse_ring(cpu, "it isn't in overwrite mode");
    if (memory.control->chunk_size == memory.size)
        refuse_ring(cpu, "overwrite mode takes two chunks, and it has one");
    tl_ring_reader_init(&reader_, memory.control, memory.consumer, memory.data);
    if (reader_.pos > published())
        throw ring_contradiction(cpu, positions(reader_));
    done_ = reader_.pos;
    buffer_.resize(reader_.chunk_size);
    if (reader_.pos == 0)
        before_ = 0; // nobody was here before
}

std::optional<SnapshotReader::Chunk> SnapshotReader::next(std::uint64_t end) {
    given_.reset();
    tl_ring_copied copied{};
    if (done_ >= end || !copy(buffer_.data(), reader_.chunk_size, copied))
        return std::nullopt;
    given_ = copied;
    const auto* packet = reinterpret_cast<const tl_packet*>(buffer_.data());
    return Chunk{std::span(buffer_).first(copied.length), copied.finished != 0, copied.position,
                 packet->first_event};
}

void SnapshotReader::count(std::uint64_t records) {
    const tl_ring_copied copied = given_.value();
    given_.reset();
    if (copied.finished != 0) {
        kept_ += records;
        open_ = 0;
        tl_ring_pass(&reader_, &copied);
        done_ = reader_.pos;
    } else {
        open_ = records;
        open_position_ = copied.position;
        done_ = copied.position + copied.length;
    }
}

SnapshotReader::Counts SnapshotReader::counts() {
    tl_packet header{};
    tl_ring_copied copied{};
    if (!given_)
        copy(&header, TL_PACKET_SIZE, copied);
    // After that: no record was found there that isn't in this count.
    const std::uint64_t all = written();
    Counts counts;
    counts.before = before_.value_or(all);
    counts.read = kept_ + open_;
    counts.overwritten = overwritten_;
    counts.unread = all - counts.before - counts.read - counts.overwritten;
    return counts;
}

bool SnapshotReader::copy(void* to, std::uint32_t room, tl_ring_copied& copied) {
    const int found = tl_ring_copy(&reader_, to, room, &copied);
    if (found < 0)
        throw ring_contradiction(cpu_, positions(reader_));
    if (found > 0)
        reach(copied.position, static_cast<const tl_packet*>(to)->first_event);
    return found > 0;
}

// All chunks before `position` were counted by now, or never will be.
void SnapshotReader::reach(std::uint64_t position, std::uint64_t first_event) {
    if (open_position_ != position) {
        kept_ += open_; // what else came into it is gone
        open_ = 0;
    }
    if (!before_)
        before_ = first_event;
    if (first_event < *before_ + kept_)
        throw ring_contradiction(
            cpu_, fmt::format("its chunk at {} begins with record {}, and {} were counted before",
                              position, first_event, *before_ + kept_));
    overwritten_ = first_event - *before_ - kept_;
}

} // namespace trapline
