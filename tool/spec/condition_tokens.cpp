// SPDX-License-Identifier: GPL-2.0
// The words of a condition.
#include "spec/condition_tokens.h"

#include <array>

namespace trapline {

namespace {

struct Fixed {
    std::string_view text;
    Token::Kind kind;
};

// The longer ones first.
constexpr std::array fixed = std::to_array<Fixed>({
    {"==", Token::Kind::relation},
    {"!=", Token::Kind::relation},
    {"<=", Token::Kind::relation},
    {">=", Token::Kind::relation},
    {"&&", Token::Kind::all},
    {"||", Token::Kind::any},
    {"<", Token::Kind::relation},
    {">", Token::Kind::relation},
    {"!", Token::Kind::negation},
    {"-", Token::Kind::minus},
    {"(", Token::Kind::open},
    {")", Token::Kind::close},
});

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_word_character(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

} // namespace

Token next_token(std::string_view text, std::size_t from, std::size_t end) {
    while (from < end && (text[from] == ' ' || text[from] == '\t'))
        from++;
    const std::string_view rest = text.substr(from, end - from);
    if (rest.empty())
        return {.kind = Token::Kind::end, .position = from, .text = rest};
    for (const Fixed& token : fixed) {
        if (rest.starts_with(token.text))
            return {.kind = token.kind, .position = from, .text = token.text};
    }
    const bool marked = rest[0] == '$' || rest[0] == '%';
    std::size_t size = marked ? 1 : 0;
    while (size < rest.size() && is_word_character(rest[size]))
        size++;
    if (size == 0)
        return {.kind = Token::Kind::other, .position = from, .text = rest.substr(0, 1)};
    const Token::Kind kind = rest[0] == '%'      ? Token::Kind::reg
                             : is_digit(rest[0]) ? Token::Kind::number
                                                 : Token::Kind::name;
    return {.kind = kind, .position = from, .text = rest.substr(0, size)};
}

} // namespace trapline
