// SPDX-License-Identifier: GPL-2.0
// Makes instructions that test a condition.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/program.h"
#include "spec/condition.h"

namespace trapline {

// Appends to a program for `site` what rejects the hit unless `expression` holds. `hz`: of the
// session's clock. `kept`: arguments that the entry stores as its first fields, 8 bytes each, for
// TL_AT_CALL_RETURN. Throws UsageError for what gets too long or needs an argument not kept.
void append_test(std::vector<tl_insn>& program, const Expression& expression, tl_site site,
                 std::uint64_t hz, unsigned kept);

// Says that a program has become too long.
[[noreturn]] void throw_too_long();

// The least count of ticks that lasts `ns` nanoseconds or longer.
std::uint64_t ticks_from(std::uint64_t ns, std::uint64_t hz);

} // namespace trapline
