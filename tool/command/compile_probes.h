// SPDX-License-Identifier: GPL-2.0
// `trapline compile`: makes a file of probes for a kernel that has no debug information.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "compile". Returns the exit status; throws Error.
int compile_command(const std::vector<std::string>& arguments);

} // namespace trapline
