// SPDX-License-Identifier: GPL-2.0
// Types and lines from files with DWARF. In a build without libdw there is nothing but the error.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "types/type_files.h"

namespace trapline {

// As for open_types().
std::unique_ptr<FileTypes> open_dwarf(const std::vector<std::string>& paths,
                                      const std::string& sys);

} // namespace trapline
