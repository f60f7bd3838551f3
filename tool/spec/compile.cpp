// SPDX-License-Identifier: GPL-2.0
// Makes the programs that record a probe's raw arguments, registers or return value.
#include "spec/compile.h"

#include <array>
#include <fmt/format.h>

#include "util/error.h"

namespace trapline {

namespace {

struct Register {
    std::string_view name;
    std::uint32_t word; // of struct pt_regs
};

// x86-64: those that carry arguments at a function's entry, in their order.
constexpr std::array<Register, 6> shown_registers{{
    {"di", 14},
    {"si", 13},
    {"dx", 12},
    {"cx", 11},
    {"r8", 9},
    {"r9", 8},
}};

// The fewest registers that any of our machines passes arguments in.
constexpr unsigned register_arguments = 6;

constexpr std::uint8_t word_size = 8;

// A program that loads values one after the other and stores each at once.
class Builder {
public:
    void load_and_put(tl_op op, std::uint64_t which, std::string name) {
        const auto slot = static_cast<std::uint8_t>(fields_.size() % TL_SLOTS);
        tl_insn& load = append(op);
        load.dst = slot;
        load.imm = which;
        tl_insn& put = append(TL_OP_PUT);
        put.a = slot;
        put.size = word_size;
        fields_.push_back({.name = std::move(name), .type = FieldType::raw, .size = word_size});
    }

    void put_faults() {
        append(TL_OP_PUT_FAULTS);
        fields_.push_back({.name = "faults", .type = FieldType::faults, .size = 4});
    }

    void finish(std::vector<tl_insn>& program, std::vector<Field>& fields) {
        append(TL_OP_ACCEPT);
        program = std::move(program_);
        fields = std::move(fields_);
    }

private:
    tl_insn& append(tl_op op) {
        tl_insn& insn = program_.emplace_back();
        insn.op = static_cast<std::uint8_t>(op);
        return insn;
    }

    std::vector<tl_insn> program_;
    std::vector<Field> fields_;
};

void compile_entry(CompiledProbe& probe, unsigned arguments) {
    Builder builder;
    for (unsigned i = 0; i < arguments; i++)
        builder.load_and_put(TL_OP_ARG, i, fmt::format("arg{}", i));
    // The stack may not be readable.
    if (arguments > register_arguments)
        builder.put_faults();
    builder.finish(probe.entry, probe.layout.entry_fields);
}

void compile_offset(CompiledProbe& probe) {
    Builder builder;
    for (const Register& reg : shown_registers)
        builder.load_and_put(TL_OP_REG, reg.word, std::string(reg.name));
    builder.finish(probe.entry, probe.layout.entry_fields);
}

void compile_return(CompiledProbe& probe) {
    Builder builder;
    builder.load_and_put(TL_OP_RETVAL, 0, "return");
    builder.finish(probe.ret, probe.layout.return_fields);
}

} // namespace

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, unsigned arguments) {
    if (arguments > TL_ARGS_MAX)
        throw UsageError(fmt::format("{} arguments cannot be recorded", arguments),
                         fmt::format("{} are the most", TL_ARGS_MAX));

    CompiledProbe probe;
    probe.layout.id = event_id;
    probe.layout.name = event_name(spec);
    probe.layout.kind = spec.kind;
    probe.layout.at_entry = spec.offset == 0;
    if (!probe.layout.at_entry)
        compile_offset(probe);
    else if (spec.kind != TRAPLINE_RETURN)
        compile_entry(probe, arguments);
    if (spec.kind != TRAPLINE_ENTRY)
        compile_return(probe);
    return probe;
}

} // namespace trapline
