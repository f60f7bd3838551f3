// SPDX-License-Identifier: GPL-2.0
// What a ring's memory has to look like.
#include "ring/memory.h"

#include <bit>
#include <fmt/format.h>

namespace trapline {

void refuse_ring(std::uint32_t cpu, const std::string& why) {
    throw Error(fmt::format("cannot read the ring of CPU {}: {}", cpu, why),
                "the module and this tool don't fit together: install both from the same sources");
}

void check_ring(const RingMemory& memory, std::uint32_t cpu) {
    const tl_ring_control& control = *memory.control;
    if (control.page.magic != TL_RING_MAGIC)
        refuse_ring(cpu, fmt::format("its control page begins with {:#x} instead of {:#x}",
                                     control.page.magic, TL_RING_MAGIC));
    if (control.page.version != TL_LAYOUT_VERSION)
        refuse_ring(cpu, fmt::format("its layout is version {}, known is {}", control.page.version,
                                     TL_LAYOUT_VERSION));
    if (control.page.kind != TL_PAGE_RING)
        refuse_ring(cpu, fmt::format("its control page is of kind {} instead of {}",
                                     control.page.kind, static_cast<unsigned>(TL_PAGE_RING)));
    if (control.cpu != cpu)
        refuse_ring(cpu, fmt::format("its control page is CPU {}'s", control.cpu));
    if (control.size != memory.size || !std::has_single_bit(control.size))
        refuse_ring(cpu, fmt::format("it claims to have {} bytes, and {} are mapped", control.size,
                                     memory.size));
    if (!std::has_single_bit(control.chunk_size) || control.chunk_size <= TL_PACKET_SIZE ||
        control.chunk_size > control.size)
        refuse_ring(cpu, fmt::format("chunks of {} bytes in a ring of {} are impossible",
                                     control.chunk_size, control.size));
}

Error ring_contradiction(std::uint32_t cpu, const std::string& why) {
    return Error(fmt::format("the ring of CPU {} contradicts itself: {}", cpu, why),
                 "either something else wrote to its consumer page, or this is a bug in the "
                 "trapline module: please report it with the kernel's log");
}

std::string positions(const tl_ring_reader& reader) {
    return fmt::format("read up to {}, published up to {}, in {} bytes of chunks of {}", reader.pos,
                       tl_load_acquire(&reader.control->head), reader.size, reader.chunk_size);
}

} // namespace trapline
