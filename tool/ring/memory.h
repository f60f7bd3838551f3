// SPDX-License-Identifier: GPL-2.0
// Where one CPU's ring lies in our memory, however it came there.
#pragma once

#include <cstdint>

#include "shared/ring.h"

namespace trapline {

struct RingMemory {
    const tl_ring_control* control = nullptr;
    tl_ring_consumer* consumer = nullptr;
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0; // bytes of data that are mapped
};

} // namespace trapline
