// SPDX-License-Identifier: GPL-2.0
// `trapline doctor`: what stands in the way of tracing here, and what removes it.
#pragma once

#include <string>
#include <vector>

namespace trapline {

// `arguments`: those behind the word "doctor". Returns the exit status; throws Error.
int doctor_command(const std::vector<std::string>& arguments);

} // namespace trapline
