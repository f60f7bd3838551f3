// SPDX-License-Identifier: GPL-2.0
// Where events are missing in a recorded stream, in words.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "recording/stream_reader.h"

namespace trapline {

// Ticks as the lines show their times.
using ShownTime = std::function<std::string(std::uint64_t ticks)>;

// Each gap of a CPU's stream, a line each.
std::string gaps_text(std::uint32_t cpu, std::span<const Gap> gaps, const ShownTime& time);

// What they come to, a line for what was dropped and one for what was overwritten; nothing
// where there are no gaps.
std::string losses_text(std::uint32_t cpu, std::span<const Gap> gaps, const ShownTime& time);

} // namespace trapline
