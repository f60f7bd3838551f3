// SPDX-License-Identifier: GPL-2.0
// What a condition compares, at the place where its names have a meaning.
//
// A comparison is
//   - of values as their types have them, with their sign extended: of 64 bits always; signed if a
//     value of a signed type, a $retval of unknown type or a negative number is in it, else
//     unsigned;
//   - for a pointer that is returned, unsigned, but for what IS_ERR() takes for an error: that is
//     the negative number, and so is what it is compared with;
//   - for $retval of unknown type, of the number that is shown for it: what errno_of() takes for
//     an error is the negative number. Constants are read the same way. Two operands that vary are
//     equal when their 64 bits are, and such an error is less than whatever isn't negative;
//   - for $duration, of whole nanoseconds, rounded down as they are shown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/condition.h"
#include "spec/scope.h"

namespace trapline {

struct Operand {
    enum class Kind : std::uint8_t {
        number,
        retval, // of unknown type
        duration,
        value,
        text,
    };

    Kind kind = Kind::number;
    Number number;
    Chain chain; // value: to the number, or to the text's address if the other side is a text
    bool is_signed = false;    // value
    bool may_be_error = false; // a value: a pointer that is returned
    unsigned bits = 64;        // of a value
    std::string text;
    std::uint64_t room = 0;   // of a value whose text ends there, with a NUL or without; 0: none
    std::size_t position = 0; // in the PROBE's text
    std::string name;         // as it is called in errors
};

struct BoundCondition {
    Condition::Kind kind = Condition::Kind::comparison;
    std::vector<BoundCondition> parts; // of all, any
    // Of a comparison. A number or text is on the right, and Kind::retval on the left of a value.
    Operand left;
    Relation relation = Relation::equal;
    Operand right;
};

// What a hit must fulfil where. A call that must fulfil both can be given up at its entry.
struct BoundConditions {
    std::optional<BoundCondition> entry; // or at the instruction
    std::optional<BoundCondition> ret;
};

// A number among the entry's fields.
struct Kept {
    Chain chain;                        // that it was made by
    std::uint8_t size = 8;              // bytes of it
    std::optional<std::uint32_t> place; // bytes from the fields' beginning; none: not known
};

// `kept`: by the entry of a call. `listed`: the PROBE says what is recorded. Throws as Scope does.
BoundConditions bind_condition(const Condition& condition, const Scope& scope,
                               std::span<const Kept> kept, bool listed);

} // namespace trapline
