// SPDX-License-Identifier: GPL-2.0
// Makes the programs that test a probe's condition and record arguments, registers or return
// value, and the layout of the records that they write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/program.h"
#include "spec/probe_spec.h"
#include "spec/typed_field.h"
#include "trace/event.h"
#include "types/type.h"

namespace trapline {

constexpr unsigned default_arguments = 6;

// Of text that a pointer leads to, what is recorded.
constexpr unsigned text_size = 128;

struct CompiledProbe {
    std::vector<tl_insn> entry; // empty for TRAPLINE_RETURN
    std::vector<tl_insn> ret;   // empty for TRAPLINE_ENTRY
    EventLayout layout;
    std::vector<std::string> left_out; // parameters, or "the result", that can't be recorded
};

// `hz`: of the session's clock. `arguments`: how many a function's entry records; more than the
// ABI passes in registers come from the stack. Throws UsageError if there are more than
// TL_ARGS_MAX, or the condition is too long for a program. Of a call's condition, an entry probe
// tests what can be tested at the entry.
CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            unsigned arguments = default_arguments);

// The same for a function whose types are known: its parameters by name. `fields` may be used for
// many. Error if the types are damaged.
CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            const Signature& signature, TypedFields& fields);

} // namespace trapline
