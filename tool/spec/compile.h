// SPDX-License-Identifier: GPL-2.0
// Makes the programs that test a probe's condition and record what its list asks for, or else
// arguments, registers and the return value; and the layout of the records that they write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/program.h"
#include "spec/probe_spec.h"
#include "spec/scope.h"
#include "spec/typed_field.h"
#include "trace/event.h"
#include "types/type.h"

namespace trapline {

constexpr unsigned default_arguments = 6;

// Of text that a pointer leads to, what is recorded.
constexpr unsigned text_size = 128;

// Characters of a field's name that an expression gives.
constexpr std::size_t item_name_max = 256;

// Where a condition is tested.
struct Tested {
    bool at_entry = false; // or at the instruction
    bool at_return = false;
};

struct CompiledProbe {
    std::vector<tl_insn> entry; // empty for TRAPLINE_RETURN
    std::vector<tl_insn> ret;   // empty for TRAPLINE_ENTRY
    EventLayout layout;
    Tested tested;
    std::vector<std::string> left_out; // parameters, or "the result", that can't be recorded
    std::vector<std::string> members_left_out; // of whole structures
};

// Where no types are known. `hz`: of the session's clock. `arguments`: how many a function's entry
// records, if there is no list; more than the ABI passes in registers come from the stack. Throws
// UsageError if there are more than TL_ARGS_MAX, if list or condition ask for what isn't there, or
// are too long for a program.
CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            unsigned arguments = default_arguments);

// The same where some are, of a function its parameters by name. `fields` may be used for many.
// Error if the types are damaged.
CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            const KnownTypes& known, TypedFields& fields);

} // namespace trapline
