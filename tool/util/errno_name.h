// SPDX-License-Identifier: GPL-2.0
// Names of error numbers, those that only the kernel's own functions return included.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trapline {

constexpr unsigned errno_max = 4095; // the kernel's MAX_ERRNO

// "ENOENT" for 2; empty if the number has no name.
std::string_view errno_name(unsigned number);

// 2 for "ENOENT".
std::optional<unsigned> errno_number(std::string_view name);

// The rule for return values of unknown type: in [-4095, -1] as 64 bits, or as 32 bits with the
// upper half zero, it is taken for a negative error number. Gives the positive number.
std::optional<unsigned> errno_of(std::uint64_t value);

} // namespace trapline
