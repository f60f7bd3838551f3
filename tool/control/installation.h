// SPDX-License-Identifier: GPL-2.0
// Where the module is installed for the running kernel, and by whom.
#pragma once

#include <string>
#include <string_view>

#include "util/remedy.h"

namespace trapline {

// The path of our module in the text of modules.dep, which lies in `folder` ("/lib/modules/6.1/");
// empty: it isn't named there.
std::string listed_module(std::string_view dependencies, std::string_view folder);

// Where kbuild looks for the kernel's headers.
std::string headers_folder(const std::string& release);

// For kernel `release`, where `root` comes before every path. The file is modprobe's.
Installation find_installation(const std::string& release, const std::string& root = {});

} // namespace trapline
