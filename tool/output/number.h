// SPDX-License-Identifier: GPL-2.0
// Numbers as their types have them shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/event.h"

namespace trapline {

// 0x1, -2, true, HRTIMER_RESTART, O_WRONLY|O_CREAT|0x4. `number`: with its sign extended, if it
// has one.
void append_number(std::string& out, std::uint64_t number, const Field& field);

// The same in hexadecimal.
void append_hex(std::string& out, std::uint64_t number);

// 0a1b2c; 01:02:03:04:05:06; fe80::1. By the form of the field, if there are as many as it takes.
void append_bytes(std::string& out, std::string_view bytes, const Field& field);

// A character as C writes it, without quotes: a, \n, \000.
std::string character_text(std::uint64_t number);

// Of a field that has an enumeration: the value's name; or, if its values are bits, the names of
// those that are set, and the rest in hexadecimal. Empty: it has no name, and is no set of bits.
std::string enum_text(std::uint64_t number, const Field& field);

} // namespace trapline
