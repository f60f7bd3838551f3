// SPDX-License-Identifier: GPL-2.0
// `trapline trace`: plants probes, runs COMMAND, shows events, accounts for every hit.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "trace". Returns the exit status; throws Error.
int trace_command(const std::vector<std::string>& arguments);

} // namespace trapline
