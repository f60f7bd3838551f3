// SPDX-License-Identifier: GPL-2.0
// Planting many probes with few messages: which to send, and which to send again.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "control/codec.h"

namespace trapline {

// Told after every message how many probes have a verdict, of how many; false stops there.
using PlantProgress = std::function<bool(std::size_t done, std::size_t total)>;

// Sends some of the probes offered, the first at least, and returns the verdicts.
using PlantMessage =
    std::function<std::vector<Verdict>(std::span<const ProbeRequest* const> offered)>;

// Offers at most TRAPLINE_BATCH_MAX probes at a time until each has its verdict. Verdicts
// come back in the order of the probes.
std::vector<Verdict> plant(std::span<const ProbeRequest> probes, const PlantMessage& message,
                           const PlantProgress& progress);

} // namespace trapline
