// SPDX-License-Identifier: GPL-2.0
// The condition of a PROBE, taken apart.
#include "spec/condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "shared/program.h"
#include "spec/caret.h"
#include "spec/condition_tokens.h"
#include "spec/registers.h"
#include "util/edit_distance.h"
#include "util/errno_name.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::string_view forms =
    "a condition compares, as in '$retval < 0 && $duration >= 10us', $retval, $duration, $arg1 to\n"
    "$arg32, registers (%rdi) and numbers (10, 0xa, 64KiB, -ENOENT, 10us); &&, ||, ! and (...) "
    "join";

constexpr std::string_view quotes_hint =
    "inside double quotes the shell puts a variable of its own in $retval's place: write the "
    "probe in single quotes";

constexpr unsigned depth_max = 64;

using Kind = Operand::Kind;
using Unit = Operand::Unit;

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

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

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

bool orders(Relation relation) {
    return relation != Relation::equal && relation != Relation::unequal;
}

std::string name_of(const Operand& operand) {
    switch (operand.kind) {
    case Kind::retval:
        return "$retval";
    case Kind::duration:
        return "$duration";
    case Kind::argument:
        return fmt::format("$arg{}", operand.which + 1);
    case Kind::reg:
        for (const Register& known : registers) {
            if (known.word == operand.which)
                return fmt::format("%{}", known.name);
        }
        break;
    case Kind::number:
        break;
    }
    return "this number";
}

// What was meant by a name that isn't known, as it is to be written; or empty.
std::string similar(std::string_view name) {
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
    for (const std::string_view known : {"retval", "duration", "arg1"})
        consider("$", known);
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

// Several parts as one expression; what is joined in the same way comes into one list.
Expression join(Expression::Kind kind, std::vector<Expression> parts) {
    if (parts.size() == 1)
        return std::move(parts.front());
    Expression whole;
    whole.kind = kind;
    for (Expression& part : parts) {
        if (part.kind == kind)
            std::move(part.parts.begin(), part.parts.end(), std::back_inserter(whole.parts));
        else
            whole.parts.push_back(std::move(part));
    }
    return whole;
}

bool is_of_return(const Operand& operand) {
    return operand.kind == Kind::retval || operand.kind == Kind::duration;
}

bool needs_return(const Expression& expression) {
    if (expression.kind == Expression::Kind::comparison)
        return is_of_return(expression.left) || is_of_return(expression.right);
    return std::any_of(expression.parts.begin(), expression.parts.end(), needs_return);
}

class Parser {
public:
    Parser(std::string_view text, std::size_t begin, std::size_t end, View view)
        : text_(text), end_(end), view_(view), token_(next_token(text, begin, end)) {}

    Condition parse() {
        Expression whole = parse_any(false, 0);
        if (token_.kind != Token::Kind::end)
            fail("'&&', '||' or the end of the condition is expected here");
        return split(std::move(whole));
    }

private:
    [[noreturn]] void fail(std::size_t position, std::string_view why,
                           std::string_view hint = forms) const {
        throw bad_probe(text_, position, why, std::string(hint));
    }

    [[noreturn]] void fail(std::string_view why, std::string_view hint = forms) const {
        fail(token_.position, why, hint);
    }

    Token take() {
        return std::exchange(token_, next_token(text_, token_.position + token_.text.size(), end_));
    }

    bool take(Token::Kind kind) {
        if (token_.kind != kind)
            return false;
        take();
        return true;
    }

    Expression parse_any(bool negated, unsigned depth) {
        std::vector<Expression> parts;
        do
            parts.push_back(parse_all(negated, depth));
        while (take(Token::Kind::any));
        return join(negated ? Expression::Kind::all : Expression::Kind::any, std::move(parts));
    }

    Expression parse_all(bool negated, unsigned depth) {
        std::vector<Expression> parts;
        do
            parts.push_back(parse_not(negated, depth));
        while (take(Token::Kind::all));
        return join(negated ? Expression::Kind::any : Expression::Kind::all, std::move(parts));
    }

    Expression parse_not(bool negated, unsigned depth) {
        if (depth > depth_max)
            fail("too many '!' and parentheses inside one another");
        if (take(Token::Kind::negation))
            return parse_not(!negated, depth + 1);
        if (!take(Token::Kind::open))
            return parse_comparison(negated);
        Expression inner = parse_any(negated, depth + 1);
        if (!take(Token::Kind::close))
            fail("'&&', '||' or ')' is expected here");
        return inner;
    }

    Expression parse_comparison(bool negated) {
        Expression comparison;
        comparison.left = parse_operand();
        if (token_.kind != Token::Kind::relation)
            fail(token_.text == "=" ? "'==' compares"
                                    : "a comparison is expected here: == != < <= > or >=");
        comparison.relation = relation_of(take().text);
        comparison.right = parse_operand();
        arrange(comparison);
        check(comparison);
        if (negated)
            comparison.relation = opposite(comparison.relation);
        return comparison;
    }

    static void arrange(Expression& comparison) {
        if (comparison.left.kind == Kind::retval || comparison.right.kind == Kind::number)
            return;
        if (comparison.left.kind != Kind::number && comparison.right.kind != Kind::retval)
            return;
        std::swap(comparison.left, comparison.right);
        comparison.relation = mirrored(comparison.relation);
    }

    void check(Expression& comparison) const {
        Operand& left = comparison.left;
        Operand& right = comparison.right;
        if (left.kind == Kind::number)
            fail(std::min(left.position, right.position),
                 "a number is compared with a number: nothing varies");
        if (left.kind == Kind::duration || right.kind == Kind::duration)
            check_duration(left, right);
        else if (right.unit == Unit::time)
            fail(right.position, "only $duration is compared with a time");
        if (right.kind != Kind::number)
            return;
        if (left.kind == Kind::retval)
            check_signed(comparison.relation, right);
        else
            check_unsigned(comparison.relation, left, right);
    }

    void check_duration(const Operand& left, const Operand& right) const {
        if (right.kind != Kind::number)
            fail(right.kind == Kind::duration ? left.position : right.position,
                 "$duration is compared with a time, as in 100us");
        if (right.unit != Unit::time)
            fail(right.position, "$duration is compared with a time: a number and ns, us, ms or s");
        if (right.negative)
            fail(right.position, "a duration is never negative");
    }

    // Nobody who writes 0xfffffff4, or -12 as 64 bits, wants it to be a large number.
    void check_signed(Relation relation, Operand& right) const {
        const auto error = errno_of(right.number);
        const std::uint64_t number = error ? -std::uint64_t{*error} : right.number;
        if (orders(relation) && !right.negative && static_cast<std::int64_t>(number) < 0)
            fail(right.position,
                 fmt::format("$retval is signed, and this would be {}",
                             static_cast<std::int64_t>(number)),
                 "write it as a negative number if that is meant");
        right.number = number;
    }

    void check_unsigned(Relation relation, const Operand& left, const Operand& right) const {
        if (right.negative || right.number != 0 ||
            (relation != Relation::less && relation != Relation::at_least))
            return;
        fail(right.position,
             fmt::format("{} is unsigned, so it is never less than 0", name_of(left)),
             left.kind == Kind::duration
                 ? std::string(forms)
                 : fmt::format("{} is signed when it is compared with a negative number: "
                               "{} {} -1",
                               name_of(left), name_of(left),
                               relation == Relation::less ? "<=" : ">"));
    }

    Operand parse_operand() {
        switch (token_.kind) {
        case Token::Kind::name:
            return token_.text[0] == '$' ? parse_variable() : parse_word();
        case Token::Kind::reg:
            return parse_register();
        case Token::Kind::number:
            return parse_number(false);
        case Token::Kind::minus:
            return parse_negative();
        case Token::Kind::other:
            fail(fmt::format("'{}' is not expected here", escaped(token_.text)));
        case Token::Kind::open:
        case Token::Kind::negation:
            fail("a value is expected here");
        default:
            fail("a value is expected here", quotes_hint);
        }
    }

    Operand parse_negative() {
        const std::size_t position = take().position;
        Operand number;
        if (token_.kind == Token::Kind::number)
            number = parse_number(true);
        else if (const auto error = errno_number(token_.text))
            number = negative(*error, Unit::none);
        else
            fail("a number or an error's name is expected behind '-'");
        number.position = position;
        return number;
    }

    Operand negative(std::uint64_t magnitude, Unit unit) {
        if (magnitude > std::uint64_t{1} << 63)
            fail("the number is too large");
        take();
        return {.number = -magnitude, .negative = magnitude != 0, .unit = unit};
    }

    // retval as well as $retval; or an error's name.
    Operand parse_word() {
        if (const auto error = errno_number(token_.text))
            return {.number = *error, .position = take().position};
        return parse_variable();
    }

    Operand parse_variable() {
        const bool marked = token_.text[0] == '$';
        const std::string_view name = token_.text.substr(marked ? 1 : 0);
        Operand operand;
        if (name.empty())
            fail("a name is expected behind '$'", quotes_hint);
        if (name == "retval" || name == "ret")
            operand.kind = Kind::retval;
        else if (name == "duration")
            operand.kind = Kind::duration;
        else if (name.size() > 3 && name.starts_with("arg") &&
                 std::all_of(name.begin() + 3, name.end(), is_digit))
            operand = argument(name.substr(3));
        else
            fail_unknown(name);
        operand.position = token_.position;
        check_view(operand);
        take();
        return operand;
    }

    Operand argument(std::string_view digits) const {
        unsigned number = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (error == std::errc{} && number == 0)
            fail("arguments are counted from 1", "$arg1 is the first");
        if (error != std::errc{} || number > TL_ARGS_MAX)
            fail(fmt::format("there are $arg1 to $arg{}", TL_ARGS_MAX));
        return {.kind = Kind::argument, .which = number - 1};
    }

    Operand parse_register() {
        const std::string_view name = token_.text.substr(1);
        for (const Register& known : registers) {
            if (known.name != name)
                continue;
            const Operand operand{
                .kind = Kind::reg, .which = known.word, .position = token_.position};
            check_view(operand);
            take();
            return operand;
        }
        if (name == "rip")
            fail("%rip is the probe's own place, always the same");
        fail_unknown(name);
    }

    [[noreturn]] void fail_unknown(std::string_view name) const {
        const std::string meant = similar(name);
        fail(fmt::format("there is no {} to compare", escaped(token_.text)),
             meant.empty() ? std::string(forms)
                           : fmt::format("did you mean {}?\n{}", meant, forms));
    }

    Operand parse_number(bool is_negative) {
        std::string_view rest = token_.text;
        const bool hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
        if (hexadecimal)
            rest.remove_prefix(2);
        else if (rest.size() > 1 && rest[0] == '0' && is_digit(rest[1]))
            fail("a number doesn't begin with 0: decimal or 0x and hexadecimal");
        std::uint64_t number = 0;
        const auto [end, error] =
            std::from_chars(rest.data(), rest.data() + rest.size(), number, hexadecimal ? 16 : 10);
        if (error == std::errc::invalid_argument)
            fail("a hexadecimal digit is expected behind 0x");
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        const auto unit = std::find_if(unit_names.begin(), unit_names.end(),
                                       [&](const UnitName& known) { return known.text == rest; });
        if (unit == unit_names.end())
            fail(token_.position + token_.text.size() - rest.size(),
                 fmt::format("'{}' is no unit: KiB, MiB, GiB, ns, us, ms and s are", rest));
        if (error == std::errc::result_out_of_range ||
            number > std::numeric_limits<std::uint64_t>::max() / unit->factor)
            fail("the number is too large");
        if (const std::size_t behind = token_.position + token_.text.size();
            behind < end_ && text_[behind] == '.')
            fail(behind, "numbers are whole", "choose a smaller unit: 1500us instead of 1.5ms");
        number *= unit->factor;
        if (is_negative)
            return negative(number, unit->unit);
        return {.number = number, .unit = unit->unit, .position = take().position};
    }

    void check_view(const Operand& operand) const {
        const std::string name = name_of(operand);
        switch (view_) {
        case View::call:
            return;
        case View::entry:
            if (is_of_return(operand))
                fail(fmt::format("at the entry there is no {} yet", name),
                     "trace the call: FUNC if CONDITION, without kprobe:, +OFFSET and --entry");
            return;
        case View::instruction:
            if (is_of_return(operand))
                fail(fmt::format("at an instruction there is no {} yet", name),
                     "trace the call: FUNC if CONDITION, without kprobe: and +OFFSET");
            if (operand.kind == Kind::argument)
                fail(fmt::format("inside a function {} may be anywhere", name),
                     "name the register that it is in there, such as %rdi; or probe the entry, "
                     "without +OFFSET");
            return;
        case View::ret:
            if (operand.kind != Kind::retval)
                fail(fmt::format("a return probe sees no entry, so there is no {}", name),
                     "trace the call: FUNC if CONDITION, without kretprobe: and --return");
            return;
        }
    }

    // What can be tested at the entry needn't wait for the return.
    Condition split(Expression whole) const {
        std::vector<Expression> parts;
        if (whole.kind == Expression::Kind::all)
            parts = std::move(whole.parts);
        else
            parts.push_back(std::move(whole));
        std::vector<Expression> at_entry;
        std::vector<Expression> at_return;
        for (Expression& part : parts) {
            const bool late = needs_return(part);
            if (late)
                check_kept(part);
            (late ? at_return : at_entry).push_back(std::move(part));
        }
        Condition condition;
        if (!at_entry.empty())
            condition.entry = join(Expression::Kind::all, std::move(at_entry));
        if (!at_return.empty())
            condition.ret = join(Expression::Kind::all, std::move(at_return));
        return condition;
    }

    // Whether what is tested at the return is still known there.
    void check_kept(const Expression& expression) const {
        for (const Expression& part : expression.parts)
            check_kept(part);
        if (expression.kind != Expression::Kind::comparison)
            return;
        for (const Operand& operand : {expression.left, expression.right}) {
            if (operand.kind != Kind::reg &&
                (operand.kind != Kind::argument || operand.which < register_arguments))
                continue;
            fail(
                operand.position,
                fmt::format("{} isn't kept until the return, where this is tested",
                            name_of(operand)),
                fmt::format("only $arg1 to $arg{} are; what && joins to the rest and needs neither "
                            "$retval nor $duration is tested at the entry",
                            register_arguments));
        }
    }

    std::string_view text_;
    std::size_t end_;
    View view_;
    Token token_;
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

Condition parse_condition(std::string_view text, std::size_t begin, std::size_t end, View view) {
    return Parser(text, begin, end, view).parse();
}

} // namespace trapline
