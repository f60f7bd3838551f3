// SPDX-License-Identifier: GPL-2.0
// The words of a condition.
#pragma once

#include <cstdint>
#include <string_view>

namespace trapline {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        name,     // with its '$', if it has one
        reg,      // with its '%'
        number,   // with its unit, not looked at
        relation, // == != < <= > >=
        all,      // &&
        any,      // ||
        negation, // !
        minus,
        open,
        close,
        other, // one character that is none of these
    };

    Kind kind = Kind::end;
    std::size_t position = 0; // in the PROBE's text
    std::string_view text;
};

// The token at `from` or behind the blanks there, in [from, end) of `text`.
Token next_token(std::string_view text, std::size_t from, std::size_t end);

} // namespace trapline
