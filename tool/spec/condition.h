// SPDX-License-Identifier: GPL-2.0
// The condition of a PROBE, taken apart.
//
//   EXPR     AND { "||" AND }
//   AND      NOT { "&&" NOT }
//   NOT      "!" NOT | "(" EXPR ")" | OPERAND RELATION OPERAND
//   OPERAND  $retval | $ret | $duration | $argN | %REGISTER | [-]NUMBER[UNIT] | [-]ERRNO
//
// The '$' may be left out. A comparison is
//   - signed if $retval or a negative number is in it, else unsigned; of 64 bits always;
//   - for $retval, of the number that is shown for it: what errno_of() takes for an error is
//     the negative number. Constants are read the same way. Two operands that vary are equal
//     when their 64 bits are, and such an error is less than whatever isn't negative.
//   - for $duration, of whole nanoseconds, rounded down as they are shown.
//
// "!" is not kept: it turns each comparison under it into its opposite. So a comparison of
// something that can't be read is false, and so is its opposite: a hit is recorded when the
// condition holds for sure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

enum class Relation : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

Relation opposite(Relation relation); // holds when the other doesn't
Relation mirrored(Relation relation); // for the operands in the other order

struct Operand {
    enum class Kind : std::uint8_t { number, retval, duration, argument, reg };
    enum class Unit : std::uint8_t { none, bytes, time };

    Kind kind = Kind::number;
    std::uint64_t number = 0; // two's complement; nanoseconds with Unit::time
    bool negative = false;    // the number is
    Unit unit = Unit::none;
    unsigned which = 0;       // argument, from 0; a register's word in struct pt_regs
    std::size_t position = 0; // in the PROBE's text
};

struct Expression {
    enum class Kind : std::uint8_t { comparison, all, any };

    Kind kind = Kind::comparison;
    std::vector<Expression> parts; // two or more, none of the same kind; of all, any
    // Of a comparison. A number is on the right, and $retval on the left of another variable.
    Operand left;
    Relation relation = Relation::equal;
    Operand right;
};

// What a hit must fulfil where. A call that must fulfil both can be given up at its entry.
struct Condition {
    std::optional<Expression> entry; // or at the instruction
    std::optional<Expression> ret;
};

// What a probe sees of the function.
enum class View : std::uint8_t { call, entry, instruction, ret };

// `text`: the whole PROBE; the condition is in [begin, end) of it. Throws UsageError that shows
// the text with a caret under what is wrong in it, also where the view lacks what is asked for.
Condition parse_condition(std::string_view text, std::size_t begin, std::size_t end, View view);

} // namespace trapline
