// SPDX-License-Identifier: GPL-2.0
// The CTF 1.8 description (TSDL) of what the rings hold, for babeltrace2 and its like.
#pragma once

#include <span>
#include <string>

#include "trace/clock.h"
#include "trace/event.h"

namespace trapline {

std::string ctf_metadata(std::span<const EventLayout> layouts, const ClockDescription& clock);

} // namespace trapline
