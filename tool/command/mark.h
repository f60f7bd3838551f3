// SPDX-License-Identifier: GPL-2.0
// `trapline mark`: puts a text into the streams that are being recorded.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "mark". Returns the exit status; throws Error.
int mark_command(const std::vector<std::string>& arguments);

} // namespace trapline
