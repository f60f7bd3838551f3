// SPDX-License-Identifier: GPL-2.0
// Makes instructions that test a condition.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/program.h"
#include "spec/condition.h"

namespace trapline {

// What is known of an argument, of those that the ABI counts.
struct KnownArgument {
    std::uint8_t size = 8; // bytes of it that count
    bool is_signed = false;
    std::optional<std::uint32_t> kept; // where in the entry's fields, for TL_AT_CALL_RETURN
};

// Appends to a program for `site` what rejects the hit unless `expression` holds. `hz`: of the
// session's clock. `arguments`: the first ones; nothing is known of more. Throws UsageError for
// what gets too long or needs an argument not kept.
void append_test(std::vector<tl_insn>& program, const Expression& expression, tl_site site,
                 std::uint64_t hz, std::span<const KnownArgument> arguments);

// Says that a program has become too long.
[[noreturn]] void throw_too_long();

// The least count of ticks that lasts `ns` nanoseconds or longer.
std::uint64_t ticks_from(std::uint64_t ns, std::uint64_t hz);

} // namespace trapline
