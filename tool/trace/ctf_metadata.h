// SPDX-License-Identifier: GPL-2.0
// The CTF 1.8 description (TSDL) of what the rings hold, for babeltrace2 and its like; and
// in it, for ourselves, all the rest that is known of the trace.
#pragma once

#include <string>
#include <string_view>

#include "trace/description.h"

namespace trapline {

std::string ctf_metadata(const TraceDescription& description);

// Whether the text is ctf_metadata()'s, of whatever version.
bool is_our_metadata(std::string_view text);

// The description in such a text. Error if it has none, or one that can't be used.
TraceDescription description_in_metadata(std::string_view text);

} // namespace trapline
