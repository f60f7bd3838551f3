// SPDX-License-Identifier: GPL-2.0
// The words of expressions and conditions.
#include "spec/tokens.h"

#include <array>
#include <utility>

#include "spec/caret.h"

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
    {"<<", Token::Kind::shift},
    {">>", Token::Kind::shift},
    {"&&", Token::Kind::all},
    {"||", Token::Kind::any},
    {"->", Token::Kind::arrow},
    {"<", Token::Kind::relation},
    {">", Token::Kind::relation},
    {"!", Token::Kind::negation},
    {"(", Token::Kind::open},
    {")", Token::Kind::close},
});

bool is_letter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_word_character(char c) {
    return is_digit(c) || is_letter(c);
}

// Bytes of the text in quotes that `rest` begins with; 0: it doesn't end.
std::size_t quoted_size(std::string_view rest) {
    for (std::size_t i = 1; i < rest.size(); i++) {
        if (rest[i] == '\\')
            i++;
        else if (rest[i] == '"')
            return i + 1;
    }
    return 0;
}

Token::Kind word_kind(char first) {
    if (first == '%')
        return Token::Kind::reg;
    return is_digit(first) ? Token::Kind::number : Token::Kind::name;
}

} // namespace

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

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
    if (rest[0] == '"') {
        if (const std::size_t size = quoted_size(rest); size != 0)
            return {.kind = Token::Kind::text, .position = from, .text = rest.substr(0, size)};
    }
    // A '%' alone divides.
    const bool marked = rest[0] == '$' || (rest[0] == '%' && rest.size() > 1 && is_letter(rest[1]));
    std::size_t size = marked ? 1 : 0;
    while (size < rest.size() && is_word_character(rest[size]))
        size++;
    if (size == 0)
        return {.kind = Token::Kind::other, .position = from, .text = rest.substr(0, 1)};
    return {.kind = word_kind(rest[0]), .position = from, .text = rest.substr(0, size)};
}

Token TokenReader::take() {
    return std::exchange(token_, next());
}

bool TokenReader::take(Token::Kind kind) {
    if (token_.kind != kind)
        return false;
    take();
    return true;
}

bool TokenReader::take(char c) {
    if (!token_.is(c))
        return false;
    take();
    return true;
}

void TokenReader::fail(std::string_view why, std::string_view hint) const {
    fail(token_.position, why, hint);
}

void TokenReader::fail(std::size_t position, std::string_view why, std::string_view hint) const {
    throw bad_probe(text_, position, why, std::string(hint));
}

} // namespace trapline
