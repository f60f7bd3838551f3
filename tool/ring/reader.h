// SPDX-License-Identifier: GPL-2.0
// One CPU's ring, read: what was published, in pieces that lie in one packet each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ring/memory.h"
#include "shared/ring.h"

namespace trapline {

class RingReader : public RingCounters {
public:
    // Error unless the control page describes `memory` and is CPU `cpu`'s.
    RingReader(const RingMemory& memory, std::uint32_t cpu);

    std::uint32_t cpu() const { return cpu_; }

    // The next piece; false: all was read. A length of 0 is a packet without (more)
    // records. Error when the ring contradicts itself.
    bool peek(tl_ring_span& span) const;

    // Gives the piece back to the writer: it must not be looked at any more.
    void release(const tl_ring_span& span);

    // For who reads by whole chunks and nothing else: the finished ones that were not given
    // back, as many as lie in a row; then gives the first `bytes` of them back. Error when the
    // ring contradicts itself.
    std::span<const std::byte> finished() const;
    void release_chunks(std::size_t bytes);

    // Records before the first chunk that was not given back. Nobody may be writing.
    std::uint64_t released_records() const;

    std::uint64_t unread() const; // bytes published and not released

private:
    tl_ring_reader reader_{};
    std::uint32_t cpu_;
};

} // namespace trapline
