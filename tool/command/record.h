// SPDX-License-Identifier: GPL-2.0
// `trapline record`: plants probes, runs COMMAND, writes what the rings hold to disk.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "record". Returns the exit status; throws Error.
int record_command(const std::vector<std::string>& arguments);

} // namespace trapline
