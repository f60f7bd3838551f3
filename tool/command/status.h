// SPDX-License-Identifier: GPL-2.0
// `trapline status`: who traces now, with which probes, and what became of their hits.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "status". Returns the exit status; throws Error.
int status_command(const std::vector<std::string>& arguments);

} // namespace trapline
