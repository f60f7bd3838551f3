// SPDX-License-Identifier: GPL-2.0
// One CPU's ring, read.
#include "ring/reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <string>

#include "util/error.h"

namespace trapline {

namespace {

[[noreturn]] void refuse(std::uint32_t cpu, const std::string& why) {
    throw Error(fmt::format("cannot read the ring of CPU {}: {}", cpu, why),
                "the module and this tool don't fit together: install both from the same sources");
}

void check(const RingMemory& memory, std::uint32_t cpu) {
    const tl_ring_control& control = *memory.control;
    if (control.page.magic != TL_RING_MAGIC)
        refuse(cpu, fmt::format("its control page begins with {:#x} instead of {:#x}",
                                control.page.magic, TL_RING_MAGIC));
    if (control.page.version != TL_LAYOUT_VERSION)
        refuse(cpu, fmt::format("its layout is version {}, known is {}", control.page.version,
                                TL_LAYOUT_VERSION));
    if (control.page.kind != TL_PAGE_RING)
        refuse(cpu, fmt::format("its control page is of kind {} instead of {}", control.page.kind,
                                static_cast<unsigned>(TL_PAGE_RING)));
    if (control.cpu != cpu)
        refuse(cpu, fmt::format("its control page is CPU {}'s", control.cpu));
    if (control.size != memory.size || !std::has_single_bit(control.size))
        refuse(cpu, fmt::format("it claims to have {} bytes, and {} are mapped", control.size,
                                memory.size));
    if (!std::has_single_bit(control.chunk_size) || control.chunk_size <= TL_PACKET_SIZE ||
        control.chunk_size > control.size)
        refuse(cpu, fmt::format("chunks of {} bytes in a ring of {} are impossible",
                                control.chunk_size, control.size));
}

} // namespace

RingReader::RingReader(const RingMemory& memory, std::uint32_t cpu) : cpu_(cpu) {
    check(memory, cpu);
    tl_ring_reader_init(&reader_, memory.control, memory.consumer, memory.data);
}

void RingReader::contradiction() const {
    throw Error(fmt::format("the ring of CPU {} contradicts itself: read up to {}, published "
                            "up to {}, in {} bytes of chunks of {}",
                            cpu_, reader_.pos, tl_load_acquire(&reader_.control->head),
                            reader_.size, reader_.chunk_size),
                "either something else wrote to its consumer page, or this is a bug in the "
                "trapline module: please report it with the kernel's log");
}

bool RingReader::peek(tl_ring_span& span) const {
    const int found = tl_ring_peek(&reader_, &span);
    if (found < 0)
        contradiction();
    return found > 0;
}

void RingReader::release(const tl_ring_span& span) {
    tl_ring_release(&reader_, &span);
}

std::span<const std::byte> RingReader::finished() const {
    const std::uint64_t chunk_mask = reader_.chunk_size - std::uint64_t{1};
    const std::uint64_t head = tl_load_acquire(&reader_.control->head);
    if ((reader_.pos & chunk_mask) != 0 || head - reader_.pos > reader_.size)
        contradiction();
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

std::uint64_t RingReader::written() const {
    return tl_load(&reader_.control->written);
}

std::uint64_t RingReader::lost_full() const {
    return tl_load(&reader_.control->lost_full);
}

std::uint64_t RingReader::lost_nested() const {
    return tl_load(&reader_.control->lost_nested);
}

std::uint64_t RingReader::lost_too_big() const {
    return tl_load(&reader_.control->lost_too_big);
}

std::uint64_t RingReader::unread() const {
    return tl_load_acquire(&reader_.control->head) - reader_.pos;
}

} // namespace trapline
