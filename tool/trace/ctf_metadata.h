// SPDX-License-Identifier: GPL-2.0
// The CTF 1.8 description (TSDL) of what the rings hold, for babeltrace2 and its like; and
// in it, for ourselves, all the rest that is known of the trace.
#pragma once

#include <string>

#include "trace/description.h"

namespace trapline {

std::string ctf_metadata(const TraceDescription& description);

} // namespace trapline
