// SPDX-License-Identifier: GPL-2.0
// What is to be recorded or compared, in C's syntax, taken apart.
#include "spec/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "shared/program.h"
#include "spec/caret.h"
#include "spec/integer_name.h"
#include "spec/registers.h"
#include "util/edit_distance.h"
#include "util/errno_name.h"
#include "util/escape.h"

namespace trapline {

const std::string_view quotes_hint =
    "inside double quotes the shell puts a variable of its own in $retval's place: write the "
    "probe in single quotes";

namespace {

using Kind = Expression::Kind;
using Unit = Number::Unit;

__extension__ using Wide = __int128;

constexpr unsigned depth_max = 64;
constexpr unsigned stack_max = 64; // words

constexpr std::string_view value_hint =
    "a value is a parameter or what it leads to, as in file->f_inode->i_ino, $retval, $duration, "
    "$arg1\nto $arg32, $pid, $tid, $comm, $uid, $cpu, $caller, a register (%" TRAPLINE_A_REGISTER
    ") or a number (10, "
    "0xa, 64KiB,\n-ENOENT, 10us)";

struct UnitName {
    std::string_view text;
    Unit unit;
    std::uint64_t factor;
};

constexpr std::array unit_names = std::to_array<UnitName>({
    {"", Unit::none, 1},
    {"KiB", Unit::bytes, std::uint64_t{1} << 10},
    {"MiB", Unit::bytes, std::uint64_t{1} << 20},
    {"GiB", Unit::bytes, std::uint64_t{1} << 30},
    {"ns", Unit::time, 1},
    {"us", Unit::time, 1'000},
    {"ms", Unit::time, 1'000'000},
    {"s", Unit::time, 1'000'000'000},
});

struct BuiltinName {
    std::string_view name;
    Builtin builtin;
};

constexpr std::array builtin_names = std::to_array<BuiltinName>({
    {"retval", Builtin::retval},
    {"ret", Builtin::retval},
    {"duration", Builtin::duration},
    {"pid", Builtin::pid},
    {"tid", Builtin::tid},
    {"comm", Builtin::comm},
    {"uid", Builtin::uid},
    {"cpu", Builtin::cpu},
    {"caller", Builtin::caller},
});

// The tighter ones bind, the larger.
int precedence(const Token& token) {
    if (token.kind == Token::Kind::shift)
        return 4;
    if (token.kind == Token::Kind::name)
        return token.text == "div" ? 6 : 0;
    if (token.kind != Token::Kind::other)
        return 0;
    switch (token.text[0]) {
    case '|':
        return 1;
    case '^':
        return 2;
    case '&':
        return 3;
    case '+':
    case '-':
        return 5;
    case '*':
    case '/':
    case '%':
        return 6;
    default:
        return 0;
    }
}

constexpr int shift_precedence = 4;
constexpr int least_precedence = 1;

bool begins_primary(const Token& token) {
    return token.kind == Token::Kind::name || token.kind == Token::Kind::reg ||
           token.kind == Token::Kind::number || token.kind == Token::Kind::open ||
           token.kind == Token::Kind::text || token.is('*');
}

Wide wide(const Number& number) {
    return number.negative ? Wide{static_cast<std::int64_t>(number.bits)} : Wide{number.bits};
}

// The number behind "arg" or "stack".
std::optional<unsigned> numbered(std::string_view name, std::string_view word) {
    if (name.size() <= word.size() || !name.starts_with(word) ||
        !std::all_of(name.begin() + static_cast<std::ptrdiff_t>(word.size()), name.end(), is_digit))
        return std::nullopt;
    unsigned number = 0;
    const auto read = std::from_chars(name.data() + word.size(), name.data() + name.size(), number);
    return read.ec == std::errc{} ? number : std::numeric_limits<unsigned>::max();
}

class Parser {
public:
    explicit Parser(TokenReader& tokens) : tokens_(tokens) {}

    Expression parse(bool bits) {
        return parse_binary(bits ? least_precedence : shift_precedence, 0);
    }

private:
    [[noreturn]] void fail(std::string_view why, std::string_view hint = value_hint) const {
        tokens_.fail(why, hint);
    }

    Expression parse_binary(int least, unsigned depth) {
        Expression left = parse_unary(depth);
        for (;;) {
            const Token operation = tokens_.token();
            const int binds = precedence(operation);
            if (binds == 0 || binds < least)
                return left;
            tokens_.take();
            Expression right = parse_binary(binds + 1, depth);
            left = combine(operation, std::move(left), std::move(right));
        }
    }

    Expression combine(const Token& operation, Expression left, Expression right) {
        if (left.kind == Kind::number && right.kind == Kind::number)
            return calculate(operation, left, right);
        const char sign = operation.text[0];
        if (left.kind == Kind::number && (sign == '+' || sign == '&'))
            std::swap(left, right);
        if (right.kind != Kind::number)
            tokens_.fail(operation.position,
                         fmt::format("behind '{}' a number is expected", operation.text),
                         value_hint);
        Kind kind = Kind::add;
        switch (sign) {
        case '+':
        case '-':
            break;
        case '&':
            kind = Kind::bits;
            break;
        case '<':
        case '>':
            kind = sign == '<' ? Kind::shift_left : Kind::shift_right;
            if (right.number.negative || right.number.bits >= 64)
                tokens_.fail(right.position, "a shift is by 0 to 63 bits", value_hint);
            break;
        default:
            tokens_.fail(operation.position,
                         fmt::format("'{}' works on numbers only", operation.text),
                         "with what varies + - & << and >> work");
        }
        const std::size_t position = std::min(left.position, right.position);
        const std::size_t end = std::max(left.end, right.end);
        Expression made = wrap(kind, position, operation.position, std::move(left));
        made.end = end;
        made.number = right.number;
        if (sign == '-') {
            made.number.bits = -right.number.bits;
            made.number.negative = !right.number.negative && right.number.bits != 0;
        }
        return made;
    }

    Expression calculate(const Token& operation, const Expression& left,
                         const Expression& right) const {
        const Wide a = wide(left.number);
        const Wide b = wide(right.number);
        const char sign = operation.text[0] == 'd' ? '/' : operation.text[0];
        if ((sign == '/' || sign == '%') && b == 0)
            tokens_.fail(right.position, "nothing can be divided by 0", value_hint);
        if ((sign == '<' || sign == '>') && (b < 0 || b > 63))
            tokens_.fail(right.position, "a shift is by 0 to 63 bits", value_hint);
        Expression made = number(result(sign, a, b), left.position);
        made.end = right.end;
        made.number.unit = left.number.unit == Unit::none ? right.number.unit : left.number.unit;
        return made;
    }

    static Wide result(char sign, Wide a, Wide b) {
        switch (sign) {
        case '+':
            return a + b;
        case '-':
            return a - b;
        case '*':
            return multiply(a, b);
        case '/':
            return a / b;
        case '%':
            return a % b;
        case '<':
            return multiply(a, Wide{1} << static_cast<int>(b));
        case '>':
            return a >> static_cast<int>(b);
        case '&':
            return a & b;
        case '|':
            return a | b;
        default:
            return a ^ b;
        }
    }

    // Both are of 65 bits: too large a product is too large a number, and nothing worse.
    static Wide multiply(Wide a, Wide b) {
        Wide product = 0;
        if (__builtin_mul_overflow(a, b, &product))
            return Wide{1} << 100;
        return product;
    }

    Expression number(Wide value, std::size_t position) const {
        if (value < -(Wide{1} << 63) || value >= Wide{1} << 64)
            tokens_.fail(position, "the number is too large", value_hint);
        Expression made;
        made.position = made.mark = position;
        made.number.bits = static_cast<std::uint64_t>(value);
        made.number.negative = value < 0;
        return made;
    }

    Expression parse_unary(unsigned depth) {
        if (depth > depth_max)
            fail("too much inside one another");
        const Token token = tokens_.token();
        if (token.is('*') || token.is('&')) {
            tokens_.take();
            Expression of = parse_unary(depth + 1);
            if (of.kind == Kind::number) // $x & 3 without its $x
                fail_empty(token);
            return wrap(token.is('*') ? Kind::dereference : Kind::address, token.position,
                        token.position, std::move(of));
        }
        if (token.is('-') || token.is('~'))
            return parse_negative(depth);
        if (token.kind == Token::Kind::open && begins_cast(tokens_))
            return parse_cast(depth);
        return parse_postfix(depth);
    }

    Expression wrap(Kind kind, std::size_t position, std::size_t mark, Expression operand) {
        if (++nodes_ > depth_max)
            tokens_.fail(mark, "too much inside one another", value_hint);
        Expression made;
        made.kind = kind;
        made.position = position;
        made.mark = mark;
        made.end = operand.end;
        made.operand.push_back(std::move(operand));
        return made;
    }

    Expression parse_negative(unsigned depth) {
        const Token sign = tokens_.take();
        const Token token = tokens_.token();
        const bool known = token.kind == Token::Kind::number || token.kind == Token::Kind::open ||
                           errno_number(token.text);
        const std::string meant = token.text.starts_with('E') ? similar_builtin(token.text) : "";
        if (!known)
            fail(fmt::format("a number or an error's name is expected behind '{}'", sign.text),
                 meant.starts_with("-E") ? fmt::format("did you mean {}?\n{}", meant, value_hint)
                                         : std::string(value_hint));
        const Expression operand = parse_postfix(depth + 1);
        if (operand.kind != Kind::number)
            tokens_.fail(
                token.position,
                fmt::format("a number or an error's name is expected behind '{}'", sign.text),
                value_hint);
        const Wide value = wide(operand.number);
        if (sign.is('-') && -value < -(Wide{1} << 63))
            tokens_.fail(token.position, "the number is too large", value_hint);
        Expression made = number(sign.is('-') ? -value : Wide{~operand.number.bits}, sign.position);
        made.number.unit = operand.number.unit;
        made.end = operand.end;
        return made;
    }

    Expression parse_cast(unsigned depth) {
        const Token open = tokens_.take();
        TypeName type = parse_type();
        if (!tokens_.take(Token::Kind::close))
            fail("')' is expected behind the type");
        Expression made = wrap(Kind::cast, open.position, open.position, parse_unary(depth + 1));
        made.type = std::move(type);
        return made;
    }

    TypeName parse_type() {
        TypeName type;
        std::vector<std::string_view> words;
        type.position = tokens_.token().position;
        while (tokens_.token().kind == Token::Kind::name) {
            const std::string_view word = tokens_.token().text;
            if (word == "struct")
                type.tag = TypeName::Tag::structure;
            else if (word == "union")
                type.tag = TypeName::Tag::union_;
            else if (word == "enum")
                type.tag = TypeName::Tag::enumeration;
            else if (word != "const" && word != "volatile") {
                if (words.empty())
                    type.position = tokens_.token().position;
                words.push_back(word);
            }
            tokens_.take();
        }
        if (words.empty())
            fail("a type's name is expected here");
        type.name = integer_name(words);
        if (type.name.empty())
            tokens_.fail(type.position, fmt::format("'{}' is no type", fmt::join(words, " ")),
                         "as in (struct file *)$arg1, (u32)x, (unsigned long)x");
        while (tokens_.take('*'))
            type.pointers++;
        return type;
    }

    Expression parse_postfix(unsigned depth) {
        Expression value = parse_primary(depth);
        for (;;) {
            const Token token = tokens_.token();
            if (token.kind == Token::Kind::arrow || token.is('.'))
                value = parse_member(std::move(value));
            else if (token.is('['))
                value = parse_index(std::move(value), depth);
            else
                return value;
        }
    }

    Expression parse_member(Expression of) {
        const Token sign = tokens_.take();
        const Token token = tokens_.token();
        if (token.kind != Token::Kind::name || token.text[0] == '$')
            fail(fmt::format("a member's name is expected behind '{}'", sign.text),
                 token.kind == Token::Kind::name ? value_hint : quotes_hint);
        tokens_.take();
        const std::size_t begin = of.position;
        Expression made = wrap(Kind::member, begin, token.position, std::move(of));
        made.arrow = sign.kind == Token::Kind::arrow;
        made.name = token.text;
        made.end = token.end();
        return made;
    }

    Expression parse_index(Expression of, unsigned depth) {
        const Token bracket = tokens_.take();
        const std::size_t begin = of.position;
        Expression made = wrap(Kind::index, begin, bracket.position, std::move(of));
        made.number = parse_constant(depth).number;
        if (tokens_.take(':')) {
            made.kind = Kind::slice;
            const Expression last = parse_constant(depth);
            made.slice_end = last.number.bits;
            if (made.number.negative || last.number.negative || made.slice_end <= made.number.bits)
                tokens_.fail(last.position, "a slice [a:b] has the elements a to b - 1",
                             "as in [0:4], which are four");
        }
        made.end = tokens_.token().end();
        if (!tokens_.take(']'))
            fail("']' is expected here");
        return made;
    }

    Expression parse_constant(unsigned depth) {
        Expression constant = parse_binary(least_precedence, depth + 1);
        if (constant.kind != Kind::number || constant.number.unit == Unit::time)
            tokens_.fail(constant.position, "in brackets a number is expected", value_hint);
        return constant;
    }

    Expression parse_primary(unsigned depth) {
        switch (tokens_.token().kind) {
        case Token::Kind::name:
            return parse_name();
        case Token::Kind::reg:
            return parse_register();
        case Token::Kind::number:
            return parse_number();
        case Token::Kind::text:
            return parse_text();
        case Token::Kind::open:
            return parse_inner(depth);
        case Token::Kind::negation:
            fail("a value is expected here");
        case Token::Kind::other:
            if (!tokens_.token().is(',') && !tokens_.token().is('='))
                fail_empty(tokens_.token());
            [[fallthrough]];
        default:
            fail("a value is expected here", quotes_hint);
        }
    }

    // What may stand behind a value, or what stands nowhere.
    [[noreturn]] void fail_empty(const Token& token) const {
        constexpr std::string_view behind = "+*/%&|^.:[]";
        tokens_.fail(token.position, fmt::format("'{}' is not expected here", shown(token.text)),
                     behind.find(token.text) != behind.npos ? quotes_hint : value_hint);
    }

    Expression parse_inner(unsigned depth) {
        const Token open = tokens_.take();
        if (tokens_.token().kind == Token::Kind::close)
            fail("a value is expected here", quotes_hint);
        Expression inner = parse_binary(least_precedence, depth + 1);
        inner.position = open.position;
        inner.end = tokens_.token().end();
        if (!tokens_.take(Token::Kind::close))
            fail("')' is expected here");
        return inner;
    }

    Expression parse_name() {
        const Token token = tokens_.token();
        if (token.text[0] == '$')
            return parse_builtin();
        Expression made;
        if (const auto error = errno_number(token.text)) {
            made.number.bits = *error;
        } else {
            made.kind = Kind::name;
            made.name = token.text;
        }
        return placed(std::move(made));
    }

    Expression placed(Expression made) {
        const Token token = tokens_.take();
        made.position = made.mark = token.position;
        made.end = token.end();
        return made;
    }

    Expression parse_builtin() {
        const Token token = tokens_.token();
        const std::string_view name = token.text.substr(1);
        if (name.empty())
            fail("a name is expected behind '$'", quotes_hint);
        auto found = find_builtin(tokens_, name);
        if (!found)
            fail_unknown(name);
        return placed(std::move(*found));
    }

    [[noreturn]] void fail_unknown(std::string_view name) const {
        const std::string meant = similar_builtin(name);
        fail(fmt::format("there is no {}", escaped(tokens_.token().text)),
             meant.empty() ? std::string(value_hint)
                           : fmt::format("did you mean {}?\n{}", meant, value_hint));
    }

    Expression parse_register() {
        const std::string_view name = tokens_.token().text.substr(1);
        if (name == place_register)
            fail(fmt::format("%{} is the probe's own place, always the same", name));
        for (const Register& known : registers) {
            if (known.name != name)
                continue;
            Expression made;
            made.kind = Kind::builtin;
            made.builtin = Builtin::reg;
            made.which = known.word;
            return placed(std::move(made));
        }
        fail_unknown(name);
    }

    Expression parse_number() {
        const Token token = tokens_.token();
        std::string_view rest = token.text;
        const bool hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        if (hexadecimal)
            rest.remove_prefix(2);
        else if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1]))
            fail("a number doesn't begin with 0: decimal or 0x and hexadecimal");
        std::uint64_t value = 0;
        const auto [end, error] =
            std::from_chars(rest.data(), rest.data() + rest.size(), value, hexadecimal ? 16 : 10);
        if (error == std::errc::invalid_argument)
            fail("a hexadecimal digit is expected behind 0x");
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        const auto unit = std::find_if(unit_names.begin(), unit_names.end(),
                                       [&](const UnitName& known) { return known.text == rest; });
        if (unit == unit_names.end())
            tokens_.fail(token.end() - rest.size(),
                         fmt::format("'{}' is no unit: KiB, MiB, GiB, ns, us, ms and s are", rest),
                         value_hint);
        if (error == std::errc::result_out_of_range ||
            value > std::numeric_limits<std::uint64_t>::max() / unit->factor)
            fail("the number is too large");
        if (token.end() < tokens_.end() && tokens_.text()[token.end()] == '.')
            tokens_.fail(token.end(), "numbers are whole",
                         "choose a smaller unit: 1500us instead of 1.5ms");
        Expression made;
        made.number.bits = value * unit->factor;
        made.number.unit = unit->unit;
        return placed(std::move(made));
    }

    char unescaped(char c, std::size_t position) const {
        constexpr std::string_view known = "\"\\nt";
        constexpr std::string_view meant = "\"\\\n\t";
        const std::size_t which = known.find(c);
        if (which == std::string_view::npos)
            tokens_.fail(position,
                         fmt::format("'\\{}' is not known: \\\", \\\\, \\n and \\t are", c),
                         value_hint);
        return meant[which];
    }

    Expression parse_text() {
        const std::string_view quoted = tokens_.token().text;
        Expression made;
        made.kind = Kind::text;
        for (std::size_t i = 1; i + 1 < quoted.size(); i++) {
            const std::size_t position = tokens_.token().position + i;
            made.name += quoted[i] == '\\' ? unescaped(quoted[++i], position) : quoted[i];
        }
        if (made.name.size() > TL_MATCH_MAX)
            fail(fmt::format("a text to compare with has {} bytes at most", TL_MATCH_MAX));
        return placed(std::move(made));
    }

    TokenReader& tokens_;
    unsigned nodes_ = 0;
};

} // namespace

const Expression& Expression::root() const {
    const Expression* first = this;
    while (!first->operand.empty())
        first = &first->operand.front();
    return *first;
}

std::optional<Expression> find_builtin(const TokenReader& tokens, std::string_view name) {
    if (const auto number = numbered(name, "arg"); number && *number == 0)
        tokens.fail("arguments are counted from 1", "$arg1 is the first");
    else if (number && *number > TL_ARGS_MAX)
        tokens.fail(fmt::format("there are $arg1 to $arg{}", TL_ARGS_MAX), value_hint);
    if (const auto number = numbered(name, "stack"); number && *number >= stack_max)
        tokens.fail(fmt::format("there are $stack0 to $stack{}", stack_max - 1), value_hint);
    return find_builtin(name);
}

std::optional<Expression> find_builtin(std::string_view name) {
    Expression made;
    made.kind = Kind::builtin;
    if (const auto number = numbered(name, "arg")) {
        if (*number == 0 || *number > TL_ARGS_MAX)
            return std::nullopt;
        made.builtin = Builtin::argument;
        made.which = *number - 1;
        return made;
    }
    if (const auto number = numbered(name, "stack")) {
        if (*number >= stack_max)
            return std::nullopt;
        made.builtin = Builtin::stack;
        made.which = *number;
        return made;
    }
    for (const BuiltinName& known : builtin_names) {
        if (known.name == name) {
            made.builtin = known.builtin;
            return made;
        }
    }
    return std::nullopt;
}

std::string name_of(const Expression& expression, std::string_view text) {
    if (expression.kind != Kind::builtin)
        return std::string(text.substr(expression.position, expression.end - expression.position));
    switch (expression.builtin) {
    case Builtin::argument:
        return fmt::format("$arg{}", expression.which + 1);
    case Builtin::stack:
        return fmt::format("$stack{}", expression.which);
    case Builtin::reg:
        for (const Register& known : registers)
            if (known.word == expression.which)
                return fmt::format("%{}", known.name);
        break;
    default:
        for (const BuiltinName& known : builtin_names)
            if (known.builtin == expression.builtin)
                return fmt::format("${}", known.name);
    }
    return {};
}

Expression parse_expression(TokenReader& tokens, bool bits) {
    return Parser(tokens).parse(bits);
}

namespace {

// A typedef's name, by the kernel's habits: u32, __be16, size_t.
bool is_type_like(std::string_view name) {
    if (name.starts_with("__"))
        name.remove_prefix(2);
    if (name.ends_with("_t"))
        return true;
    for (const std::string_view kind : {"be", "le", "u", "s"})
        if (name.starts_with(kind) && name.size() > kind.size())
            return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(kind.size()), name.end(),
                               is_digit);
    return false;
}

} // namespace

bool begins_cast(const TokenReader& tokens) {
    constexpr std::array keywords = std::to_array<std::string_view>(
        {"struct", "union", "enum", "const", "volatile", "unsigned", "signed", "void", "char",
         "short", "int", "long", "bool", "_Bool"});
    Token token = tokens.next();
    if (token.kind != Token::Kind::name || token.text[0] == '$')
        return false;
    if (std::find(keywords.begin(), keywords.end(), token.text) != keywords.end())
        return true;
    const std::string_view name = token.text;
    bool pointer = false;
    for (token = tokens.behind(token); token.is('*'); token = tokens.behind(token))
        pointer = true;
    if (token.kind != Token::Kind::close)
        return false;
    const Token behind = tokens.behind(token);
    // (count) & 3 and (u32)*p look alike.
    const bool either = behind.is('*') || behind.is('&');
    return pointer || (begins_primary(behind) && (!either || is_type_like(name)));
}

std::string similar_builtin(std::string_view name) {
    constexpr std::size_t telling = 3; // letters at the beginning
    std::string best;
    unsigned least = std::numeric_limits<unsigned>::max();
    const auto consider = [&](std::string_view mark, std::string_view known) {
        const auto limit = static_cast<unsigned>(std::max<std::size_t>(1, known.size() / 3));
        const auto distance = edit_distance(name, known, limit);
        if (distance && *distance < least) {
            least = *distance;
            best = fmt::format("{}{}", mark, known);
        }
    };
    for (const BuiltinName& known : builtin_names)
        if (known.name != "ret")
            consider("$", known.name);
    consider("$", "arg1");
    for (const Register& known : registers)
        consider("%", known.name);
    if (name.starts_with('E')) {
        for (unsigned number = 1; number <= errno_max; number++)
            consider("-", errno_name(number));
    }
    for (const std::string_view known : {"retval", "duration", "arg1"}) {
        if (best.empty() && name.starts_with(known.substr(0, telling)))
            best = fmt::format("${}", known);
    }
    return best;
}

} // namespace trapline
