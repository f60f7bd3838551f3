// SPDX-License-Identifier: GPL-2.0
// Makes instructions that test a condition.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/program.h"
#include "spec/bound_condition.h"

namespace trapline {

// Appends what rejects the hit unless the check holds. `hz`: of the session's clock. Throws
// UsageError for what gets too long.
void append_test(std::vector<tl_insn>& program, const BoundCondition& check, std::uint64_t hz);

// Says that a program has become too long.
[[noreturn]] void throw_too_long();

// The least count of ticks that lasts `ns` nanoseconds or longer.
std::uint64_t ticks_from(std::uint64_t ns, std::uint64_t hz);

} // namespace trapline
