// SPDX-License-Identifier: GPL-2.0
// The condition of a PROBE, taken apart. What it means is found later: see spec/bound_condition.h.
//
//   EXPR     AND { "||" AND }
//   AND      NOT { "&&" NOT }
//   NOT      "!" NOT | "(" EXPR ")" | OPERAND RELATION OPERAND
//   OPERAND  VALUE, as in spec/expression.h; with & | ^ in parentheses only
//
// "!" is not kept: it turns each comparison under it into its opposite. So a comparison of
// something that can't be read is false, and so is its opposite: a hit is recorded when the
// condition holds for sure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "spec/expression.h"

namespace trapline {

enum class Relation : std::uint8_t { equal, unequal, less, at_most, greater, at_least };

Relation opposite(Relation relation); // holds when the other doesn't
Relation mirrored(Relation relation); // for the operands in the other order
bool orders(Relation relation);       // all but equal and unequal

struct Condition {
    enum class Kind : std::uint8_t { comparison, all, any };

    Kind kind = Kind::comparison;
    std::vector<Condition> parts; // two or more, none of the same kind; of all, any
    Expression left;              // of a comparison, as the next two
    Relation relation = Relation::equal;
    Expression right;
};

// `text`: the whole PROBE; the condition is in [begin, end) of it. Throws UsageError that shows
// the text with a caret under what is wrong in it.
Condition parse_condition(std::string_view text, std::size_t begin, std::size_t end);

// For errors.
extern const std::string_view condition_hint;

} // namespace trapline
