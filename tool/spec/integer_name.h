// SPDX-License-Identifier: GPL-2.0
// The many ways to write C's integer types.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trapline {

// The name by which compilers describe the type: "long unsigned int" for unsigned long. A single
// word that is no integer's is returned as it is. Empty: those words are no type.
std::string integer_name(std::span<const std::string_view> words);

// What clang calls the same type: "unsigned long". Others are returned as they are.
std::string_view clang_integer_name(std::string_view name);

} // namespace trapline
