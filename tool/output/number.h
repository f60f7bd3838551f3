// SPDX-License-Identifier: GPL-2.0
// Numbers as their types have them shown.
#pragma once

#include <cstdint>
#include <string>

#include "trace/event.h"

namespace trapline {

// 0x1, -2, true, HRTIMER_RESTART, O_WRONLY|O_CREAT|0x4. `number`: with its sign extended, if it
// has one.
void append_number(std::string& out, std::uint64_t number, const Field& field);

// The same in hexadecimal.
void append_hex(std::string& out, std::uint64_t number);

// Of an enumeration: the value's name; or, if its values are bits, the names of those that are
// set, and the rest in hexadecimal. Empty: it has no name.
std::string enum_text(std::uint64_t number, const Enumeration& enumeration);

} // namespace trapline
