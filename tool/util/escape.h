// SPDX-License-Identifier: GPL-2.0
// Makes bytes from anywhere safe to show on a terminal, and unambiguous.
#pragma once

#include <string>
#include <string_view>

namespace trapline {

// Appends `bytes` as printable ASCII with C escapes; everything else becomes \n, \t and the like
// or \ooo, three octal digits so that a digit that follows is never taken for one of them. A
// backslash is doubled; `quote`, if not 0, gets a backslash before it.
void append_escaped(std::string& out, std::string_view bytes, char quote = '\0');

std::string escaped(std::string_view bytes, char quote = '\0');

// For whole messages, in which there may be names from anywhere: control characters are escaped
// but for newlines, and nothing else is touched.
std::string without_controls(std::string_view text);

} // namespace trapline
