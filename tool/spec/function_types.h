// SPDX-License-Identifier: GPL-2.0
// The types of a function that runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spec/scope.h"
#include "types/type.h"

namespace trapline {

// Of the kernel or the module, and of the function in it. `only`: no other one there has the name;
// else `file_address` tells which it is, where that is known.
KnownTypes function_types(TypeSource& types, const std::string& module, const std::string& function,
                          bool only, std::optional<std::uint64_t> file_address);

} // namespace trapline
