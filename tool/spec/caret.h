// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#pragma once

#include <string>
#include <string_view>

#include "util/error.h"

namespace trapline {

// Shows the argument, made safe to print, with a caret under the character at `position`.
UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint);

} // namespace trapline
