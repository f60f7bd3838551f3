// SPDX-License-Identifier: GPL-2.0
// The module's file where there is no modprobe to find and load it: an initramfs.
#pragma once

#include <optional>
#include <string>

namespace trapline {

// Beside the tool, or installed for kernel `release`; of several the first. Whoever could put a
// file there could replace the tool itself.
std::optional<std::string> find_module_file(const std::string& release);

// 0, or an errno: finit_module's.
int insert_module_file(const std::string& path);

} // namespace trapline
