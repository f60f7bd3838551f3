// SPDX-License-Identifier: GPL-2.0
// `trapline report`: shows what was recorded.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "report". Returns the exit status; throws Error.
int report_command(const std::vector<std::string>& arguments);

} // namespace trapline
