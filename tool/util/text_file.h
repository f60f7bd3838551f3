// SPDX-License-Identifier: GPL-2.0
// Small files of text, such as /proc has.
#pragma once

#include <string>

namespace trapline {

// All of it; empty also where it can't be read.
std::string read_text(const std::string& path);

} // namespace trapline
