// SPDX-License-Identifier: GPL-2.0
// The words of expressions and conditions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trapline {

struct Token {
    enum class Kind : std::uint8_t {
        end,
        name,     // with its '$', if it has one
        reg,      // with its '%'
        number,   // with its unit, not looked at
        text,     // with its quotes
        relation, // == != < <= > >=
        all,      // &&
        any,      // ||
        negation, // !
        arrow,    // ->
        shift,    // << >>
        open,
        close,
        other, // one character that is none of these; + - * / % & | ^ ~ . , : = [ ] among them
    };

    Kind kind = Kind::end;
    std::size_t position = 0; // in the PROBE's text
    std::string_view text;

    bool is(char c) const { return kind == Kind::other && text[0] == c; }
    std::size_t end() const { return position + text.size(); }
};

// The token at `from` or behind the blanks there, in [from, end) of `text`.
Token next_token(std::string_view text, std::size_t from, std::size_t end);

bool is_digit(char c);

// A PROBE's text, token after token.
class TokenReader {
public:
    TokenReader(std::string_view text, std::size_t begin, std::size_t end)
        : text_(text), end_(end), token_(next_token(text, begin, end)) {}

    const Token& token() const { return token_; }
    std::string_view text() const { return text_; }
    std::size_t end() const { return end_; }

    Token next() const { return behind(token_); }
    Token behind(const Token& token) const { return next_token(text_, token.end(), end_); }

    Token take();
    bool take(Token::Kind kind);
    bool take(char c); // a Kind::other

    // Throws UsageError with a caret under the token.
    [[noreturn]] void fail(std::string_view why, std::string_view hint) const;
    [[noreturn]] void fail(std::size_t position, std::string_view why, std::string_view hint) const;

private:
    std::string_view text_;
    std::size_t end_;
    Token token_;
};

} // namespace trapline
