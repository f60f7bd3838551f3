// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#pragma once

#include <string>
#include <string_view>

#include "util/error.h"

namespace trapline {

// As it was typed, but for what a terminal would obey: so nobody has to tell whose backslash it is.
std::string shown(std::string_view text);

// A PROBE, or the beginning of one that is very long, to be named in a message.
std::string brief(std::string_view text);

// Shows the argument, made safe to print, with a caret under the character at `position`; of a very
// long one what is around that.
UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint);

} // namespace trapline
