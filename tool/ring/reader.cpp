// SPDX-License-Identifier: GPL-2.0
// One CPU's ring, read.
#include "ring/reader.h"

#include <algorithm>
#include <cstring>

namespace trapline {

RingReader::RingReader(const RingMemory& memory, std::uint32_t cpu)
    : RingCounters(memory), cpu_(cpu) {
    check_ring(memory, cpu);
    tl_ring_reader_init(&reader_, memory.control, memory.consumer, memory.data);
}

bool RingReader::peek(tl_ring_span& span) const {
    const int found = tl_ring_peek(&reader_, &span);
    if (found < 0)
        throw ring_contradiction(cpu_, positions(reader_));
    return found > 0;
}

void RingReader::release(const tl_ring_span& span) {
    tl_ring_release(&reader_, &span);
}

std::span<const std::byte> RingReader::finished() const {
    const std::uint64_t chunk_mask = reader_.chunk_size - std::uint64_t{1};
    const std::uint64_t head = tl_load_acquire(&reader_.control->head);
    if ((reader_.pos & chunk_mask) != 0 || head - reader_.pos > reader_.size)
        throw ring_contradiction(cpu_, positions(reader_));
    const std::uint64_t start = reader_.pos & (reader_.size - 1);
    const std::uint64_t bytes = std::min((head & ~chunk_mask) - reader_.pos, reader_.size - start);
    return {reinterpret_cast<const std::byte*>(reader_.data) + start, bytes};
}

void RingReader::release_chunks(std::size_t bytes) {
    tl_ring_span span{};
    span.next = reader_.pos + bytes;
    tl_ring_release(&reader_, &span);
}

std::uint64_t RingReader::released_records() const {
    if (unread() == 0)
        return written();
    tl_packet packet{};
    std::memcpy(&packet, reader_.data + (reader_.pos & (reader_.size - 1)), sizeof(packet));
    return packet.first_event;
}

std::uint64_t RingReader::unread() const {
    return tl_load_acquire(&reader_.control->head) - reader_.pos;
}

} // namespace trapline
