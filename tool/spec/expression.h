// SPDX-License-Identifier: GPL-2.0
// What is to be recorded or compared, in C's syntax, taken apart. What its names mean is found
// later: see spec/scope.h.
//
//   VALUE     UNARY { OPERATOR UNARY }
//   UNARY     "*" UNARY | "&" UNARY | "-" NUMBER | "~" NUMBER | "(" TYPE ")" UNARY | POSTFIX
//   POSTFIX   PRIMARY { "->" MEMBER | "." MEMBER | "[" NUMBER "]" | "[" NUMBER ":" NUMBER "]" }
//   PRIMARY   PARAMETER | BUILTIN | %REGISTER | NUMBER[UNIT] | ERRNO | TEXT | "(" VALUE ")"
//   TYPE      [struct|union|enum] NAME { "*" }
//   BUILTIN   $argN | $stackN | $retval | $ret | $duration | $pid | $tid | $comm | $uid | $cpu |
//             $caller
//
// Operators are C's, with its precedence: + - * / (also: div) % << >> & | ^. One side of each is
// a number, unless both are: then they are calculated here. With what varies only + - & << >>
// work. A slice [a:b] has the elements a to b - 1. A builtin's '$' may be left out where no
// parameter has that name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/tokens.h"

namespace trapline {

enum class Builtin : std::uint8_t {
    argument,
    stack,
    reg,
    retval,
    duration,
    pid,
    tid,
    comm,
    uid,
    cpu,
    caller,
};

struct Number {
    enum class Unit : std::uint8_t { none, bytes, time };

    std::uint64_t bits = 0; // two's complement; nanoseconds with Unit::time
    bool negative = false;
    Unit unit = Unit::none;
};

// A type as C writes it.
struct TypeName {
    enum class Tag : std::uint8_t { none, structure, union_, enumeration };

    Tag tag = Tag::none;
    std::string name; // "void" for none; BTF's name of an integer: "long unsigned int"
    unsigned pointers = 0;
    std::size_t position = 0; // of the name in the PROBE's text
};

struct Expression {
    enum class Kind : std::uint8_t {
        number,
        text,
        name, // a parameter, a builtin, or an enum's value
        builtin,
        member,
        index,
        slice,
        dereference,
        address,
        cast,
        add, // also what is subtracted
        bits,
        shift_left,
        shift_right,
    };

    Kind kind = Kind::number;
    std::size_t position = 0; // in the PROBE's text: [position, end)
    std::size_t end = 0;
    std::size_t mark = 0;            // what an error about it points to
    std::vector<Expression> operand; // one, but of the first four kinds
    Number number;                   // also an index, a slice's first, and what is added, ...
    std::uint64_t slice_end = 0;
    std::string name; // or text, or member
    bool arrow = false;
    Builtin builtin = Builtin::retval;
    unsigned which = 0; // $argN, from 0; $stackN; a register's word in struct pt_regs
    TypeName type;

    // What it is about: what stands first in it.
    const Expression& root() const;
};

// The builtin of a name without its '$'. Throws UsageError for a number that there isn't.
std::optional<Expression> find_builtin(const TokenReader& tokens, std::string_view name);
std::optional<Expression> find_builtin(std::string_view name);

// "$retval", "$arg1", "%rdi"; of others the text as typed.
std::string name_of(const Expression& expression, std::string_view text);

// Takes one from `tokens`. `bits`: with & | ^ outside of parentheses, which bind less than
// comparisons. Throws UsageError with a caret.
Expression parse_expression(TokenReader& tokens, bool bits);

// Whether "(" begins a type that what follows is cast to.
bool begins_cast(const TokenReader& tokens);

// What was meant by the name of a builtin or register that there isn't, as it is to be written;
// or empty.
std::string similar_builtin(std::string_view name);

// For errors.
extern const std::string_view quotes_hint;

} // namespace trapline
