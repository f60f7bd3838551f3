// SPDX-License-Identifier: GPL-2.0
// `trapline explain`: sets a trap and lifts it, and shows what that does to the kernel's text.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "explain". Returns the exit status; throws Error.
int explain_command(const std::vector<std::string>& arguments);

} // namespace trapline
