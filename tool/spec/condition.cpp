// SPDX-License-Identifier: GPL-2.0
// The condition of a PROBE, taken apart.
#include "spec/condition.h"

#include <utility>

#include "spec/registers.h"

namespace trapline {

const std::string_view condition_hint =
    "a condition compares, as in '$retval < 0 && $duration >= 10us', parameters or what they lead\n"
    "to, $retval, $duration, $arg1 to $arg32, registers (%" TRAPLINE_A_REGISTER
    "), numbers (10, 0xa, 64KiB, -ENOENT, "
    "10us)\nand texts; &&, ||, ! and (...) join";

namespace {

constexpr unsigned depth_max = 64;

Relation relation_of(std::string_view text) {
    if (text == "==")
        return Relation::equal;
    if (text == "!=")
        return Relation::unequal;
    if (text == "<")
        return Relation::less;
    if (text == "<=")
        return Relation::at_most;
    return text == ">" ? Relation::greater : Relation::at_least;
}

// Several parts as one; what is joined in the same way comes into one list.
Condition join(Condition::Kind kind, std::vector<Condition> parts) {
    if (parts.size() == 1)
        return std::move(parts.front());
    Condition whole;
    whole.kind = kind;
    for (Condition& part : parts) {
        if (part.kind == kind)
            std::move(part.parts.begin(), part.parts.end(), std::back_inserter(whole.parts));
        else
            whole.parts.push_back(std::move(part));
    }
    return whole;
}

class Parser {
public:
    explicit Parser(TokenReader& tokens) : tokens_(tokens) {}

    Condition parse() {
        Condition whole = parse_any(false, 0);
        if (tokens_.token().kind != Token::Kind::end)
            fail_behind("the end of the condition");
        return whole;
    }

private:
    [[noreturn]] void fail(std::string_view why) const { tokens_.fail(why, condition_hint); }

    // What C's programmers expect to bind tighter than comparisons, and doesn't.
    [[noreturn]] void fail_behind(const std::string& end) const {
        const Token& token = tokens_.token();
        if (token.is('&') || token.is('|') || token.is('^'))
            tokens_.fail("'&&', '||' or " + end + " is expected here",
                         "to compare bits put them into parentheses: ($arg1 & 0x3) != 0");
        fail("'&&', '||' or " + end + " is expected here");
    }

    Condition parse_any(bool negated, unsigned depth) {
        std::vector<Condition> parts;
        do
            parts.push_back(parse_all(negated, depth));
        while (tokens_.take(Token::Kind::any));
        return join(negated ? Condition::Kind::all : Condition::Kind::any, std::move(parts));
    }

    Condition parse_all(bool negated, unsigned depth) {
        std::vector<Condition> parts;
        do
            parts.push_back(parse_not(negated, depth));
        while (tokens_.take(Token::Kind::all));
        return join(negated ? Condition::Kind::any : Condition::Kind::all, std::move(parts));
    }

    Condition parse_not(bool negated, unsigned depth) {
        if (depth > depth_max)
            fail("too many '!' and parentheses inside one another");
        if (tokens_.take(Token::Kind::negation))
            return parse_not(!negated, depth + 1);
        if (tokens_.token().kind != Token::Kind::open || begins_value())
            return parse_comparison(negated);
        tokens_.take();
        Condition inner = parse_any(negated, depth + 1);
        if (!tokens_.take(Token::Kind::close))
            fail_behind("')'");
        return inner;
    }

    // Whether what "(" begins is compared, or is a condition of its own: what follows tells.
    bool begins_value() const {
        if (begins_cast(tokens_))
            return true;
        std::size_t depth = 1;
        Token token = tokens_.next();
        for (; depth != 0 && token.kind != Token::Kind::end; token = tokens_.behind(token)) {
            if (token.kind == Token::Kind::open)
                depth++;
            else if (token.kind == Token::Kind::close)
                depth--;
            else if (token.kind == Token::Kind::relation || token.kind == Token::Kind::negation ||
                     token.kind == Token::Kind::all || token.kind == Token::Kind::any)
                return false;
        }
        return depth == 0;
    }

    // What joins conditions, or ends one.
    static bool ends_condition(const Token& token) {
        return token.kind == Token::Kind::all || token.kind == Token::Kind::any ||
               token.kind == Token::Kind::close || token.kind == Token::Kind::end;
    }

    // A value by itself is to be anything but 0.
    static Expression zero(const Expression& beside) {
        Expression made;
        made.position = made.mark = beside.position;
        made.end = beside.end;
        return made;
    }

    Condition parse_comparison(bool negated) {
        Condition comparison;
        comparison.left = parse_expression(tokens_, false);
        const Token& token = tokens_.token();
        if (token.is('&') || token.is('|') || token.is('^'))
            tokens_.fail("a comparison is expected here: == != < <= > or >=",
                         "to compare bits put them into parentheses: ($arg1 & 0x3) != 0");
        if (ends_condition(token)) {
            comparison.relation = Relation::unequal;
            comparison.right = zero(comparison.left);
        } else if (token.kind == Token::Kind::relation) {
            comparison.relation = relation_of(tokens_.take().text);
            comparison.right = parse_expression(tokens_, false);
        } else {
            fail(token.is('=') ? "'==' compares"
                               : "a comparison is expected here: == != < <= > or >=");
        }
        if (negated)
            comparison.relation = opposite(comparison.relation);
        return comparison;
    }

    TokenReader& tokens_;
};

} // namespace

Relation opposite(Relation relation) {
    switch (relation) {
    case Relation::equal:
        return Relation::unequal;
    case Relation::unequal:
        return Relation::equal;
    case Relation::less:
        return Relation::at_least;
    case Relation::at_most:
        return Relation::greater;
    case Relation::greater:
        return Relation::at_most;
    case Relation::at_least:
        break;
    }
    return Relation::less;
}

Relation mirrored(Relation relation) {
    switch (relation) {
    case Relation::less:
        return Relation::greater;
    case Relation::at_most:
        return Relation::at_least;
    case Relation::greater:
        return Relation::less;
    case Relation::at_least:
        return Relation::at_most;
    default:
        return relation;
    }
}

bool orders(Relation relation) {
    return relation != Relation::equal && relation != Relation::unequal;
}

Condition parse_condition(std::string_view text, std::size_t begin, std::size_t end) {
    TokenReader tokens(text, begin, end);
    return Parser(tokens).parse();
}

} // namespace trapline
