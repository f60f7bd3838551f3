// SPDX-License-Identifier: GPL-2.0
// Makes the programs that record a probe's raw arguments, registers or return value, and the
// layout of the records that they write.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "shared/program.h"
#include "spec/probe_spec.h"
#include "trace/event.h"

namespace trapline {

constexpr unsigned default_arguments = 6;

// Words in struct pt_regs, for tl_verify(). x86-64's: of other machines the place of a register
// isn't known here.
constexpr std::uint32_t pt_regs_words = 21;

struct CompiledProbe {
    std::vector<tl_insn> entry; // empty for TRAPLINE_RETURN
    std::vector<tl_insn> ret;   // empty for TRAPLINE_ENTRY
    EventLayout layout;
};

// `arguments`: how many a function's entry records; more than the ABI passes in registers come
// from the stack. Throws UsageError if there are more than TL_ARGS_MAX.
CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id,
                            unsigned arguments = default_arguments);

} // namespace trapline
