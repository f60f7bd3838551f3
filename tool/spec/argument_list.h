// SPDX-License-Identifier: GPL-2.0
// What a PROBE says is to be recorded, taken apart.
//
//   LIST    "(" [ ITEM { "," ITEM } ] ")" [ "=" ITEM ]
//   ITEM    VALUE [ ":" FORMAT ]                        VALUE: see spec/expression.h
//   FORMAT  x | d | u | c | str[n] | ustr[n] | hex[n] | be16 | be32 | ip4 | ip6 | mac | errno |
//           sym | depth[n]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/expression.h"

namespace trapline {

enum class Format : std::uint8_t {
    none, // as the type is shown
    hex,
    signed_,
    unsigned_,
    character,
    text,      // what a pointer leads to, in either half of the addresses
    user_text, // in the task's memory
    bytes,     // in hexadecimal
    be16,
    be32,
    ip4,
    ip6,
    mac,
    error,  // an errno, if it is negative
    symbol, // the kernel's, that an address is in
    depth,  // of a structure, with those inside of it
};

struct ListItem {
    Expression value;
    Format format = Format::none;
    std::uint64_t size = 0;          // of text or bytes, or the depth; 0: not given
    std::size_t format_position = 0; // in the PROBE's text
    std::string format_text;         // as typed: "hex[4]"
};

struct ArgumentList {
    std::vector<ListItem> items;
    std::optional<ListItem> result; // behind '='
};

// Takes the list that `tokens` begins with. Throws UsageError with a caret.
ArgumentList parse_argument_list(TokenReader& tokens);

} // namespace trapline
