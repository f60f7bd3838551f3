// SPDX-License-Identifier: GPL-2.0
// Where one CPU's ring lies in our memory, however it came there, and what both readers of it
// have in common.
#pragma once

#include <cstdint>
#include <string>

#include "shared/ring.h"
#include "util/error.h"

namespace trapline {

struct RingMemory {
    const tl_ring_control* control = nullptr;
    tl_ring_consumer* consumer = nullptr;
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0; // bytes of data that are mapped
};

struct RingOfCpu {
    std::uint32_t cpu = 0;
    RingMemory memory; // somebody else's
};

// Error unless the control page describes `memory` and is CPU `cpu`'s.
void check_ring(const RingMemory& memory, std::uint32_t cpu);
[[noreturn]] void refuse_ring(std::uint32_t cpu, const std::string& why);

// For words of a ring that can't be true together.
Error ring_contradiction(std::uint32_t cpu, const std::string& why);
std::string positions(const tl_ring_reader& reader); // as the why

// As a ring's writer counts, now.
class RingCounters {
public:
    explicit RingCounters(const RingMemory& memory) : control_(memory.control) {}

    std::uint64_t written() const { return tl_load(&control_->written); }
    std::uint64_t lost_full() const { return tl_load(&control_->lost_full); }
    std::uint64_t lost_nested() const { return tl_load(&control_->lost_nested); }
    std::uint64_t lost_too_big() const { return tl_load(&control_->lost_too_big); }
    std::uint64_t lost() const { return lost_full() + lost_nested() + lost_too_big(); }

private:
    const tl_ring_control* control_;
};

} // namespace trapline
