// SPDX-License-Identifier: GPL-2.0
// The module's file where there is no modprobe to find and load it: an initramfs.
#pragma once

#include <optional>
#include <string>

#include "util/fd.h"

namespace trapline {

struct ModuleFile {
    std::string path;
    UniqueFd file; // open for reading
};

// Beside the tool, or installed for kernel `release`; of several the first. A file that others
// than root could have put there, or written to, is none.
std::optional<ModuleFile> find_module_file(const std::string& release);

// 0, or an errno: finit_module's.
int insert_module_file(const ModuleFile& module);

} // namespace trapline
