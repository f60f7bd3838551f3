// SPDX-License-Identifier: GPL-2.0
// The file systems that a kernel has.
#pragma once

#include <string_view>

namespace trapline {

inline constexpr const char* filesystems_path = "/proc/filesystems";

// Whether a kernel has no such file system, one that is never a module. `filesystems`: the text
// of its /proc/filesystems; empty: it isn't known, and false.
bool lacks_filesystem(std::string_view filesystems, std::string_view type);

} // namespace trapline
