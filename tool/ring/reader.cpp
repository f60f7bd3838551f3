// SPDX-License-Identifier: GPL-2.0
// One CPU's ring, read.
#include "ring/reader.h"

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

std::uint64_t RingReader::unread() const {
    return tl_load_acquire(&reader_.control->head) - reader_.pos;
}

} // namespace trapline
