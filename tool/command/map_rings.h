// SPDX-License-Identifier: GPL-2.0
// All rings of a session, mapped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/session.h"

namespace trapline {

// Those of the possible CPUs below `cpus`, of a configured session.
std::vector<RingMapping> map_rings(const Session& session, std::uint32_t cpus);

// Where they lie.
std::vector<RingOfCpu> memory_of(std::span<const RingMapping> rings);

} // namespace trapline
