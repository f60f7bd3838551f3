// SPDX-License-Identifier: GPL-2.0
// Makes the programs that test a probe's condition and record its raw arguments, registers or
// return value.
#include "spec/compile.h"

#include <fmt/format.h>

#include "spec/condition_program.h"
#include "spec/registers.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::uint8_t word_size = 8;

// A program that tests a condition, then loads values one after the other and stores each at
// once.
class Builder {
public:
    void test(const std::optional<Expression>& condition, tl_site site, std::uint64_t hz,
              unsigned kept = 0) {
        if (condition)
            append_test(program_, *condition, site, hz, kept);
    }

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
        if (program_.size() > TL_INSNS_MAX)
            throw_too_long();
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

void compile_entry(CompiledProbe& probe, const Condition& condition, std::uint64_t hz,
                   unsigned arguments) {
    Builder builder;
    builder.test(condition.entry, TL_AT_ENTRY, hz);
    for (unsigned i = 0; i < arguments; i++)
        builder.load_and_put(TL_OP_ARG, i, fmt::format("arg{}", i));
    // The stack may not be readable.
    if (arguments > register_arguments)
        builder.put_faults();
    builder.finish(probe.entry, probe.layout.entry_fields);
}

void compile_offset(CompiledProbe& probe, const Condition& condition, std::uint64_t hz) {
    Builder builder;
    builder.test(condition.entry, TL_AT_OFFSET, hz);
    // Those that carry arguments at the entry; shown without the r.
    for (unsigned i = 0; i < register_arguments; i++) {
        const Register& reg = registers[i];
        const bool numbered = reg.name.back() <= '9';
        builder.load_and_put(TL_OP_REG, reg.word, std::string(reg.name.substr(numbered ? 0 : 1)));
    }
    builder.finish(probe.entry, probe.layout.entry_fields);
}

void compile_return(CompiledProbe& probe, const Condition& condition, std::uint64_t hz,
                    unsigned arguments) {
    Builder builder;
    const bool of_call = probe.layout.kind == TRAPLINE_CALL;
    builder.test(condition.ret, of_call ? TL_AT_CALL_RETURN : TL_AT_RETURN, hz, arguments);
    builder.load_and_put(TL_OP_RETVAL, 0, "return");
    builder.finish(probe.ret, probe.layout.return_fields);
}

} // namespace

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            unsigned arguments) {
    if (arguments > TL_ARGS_MAX)
        throw UsageError(fmt::format("{} arguments cannot be recorded", arguments),
                         fmt::format("{} are the most", TL_ARGS_MAX));

    CompiledProbe probe;
    probe.layout.id = event_id;
    probe.layout.name = event_name(spec);
    probe.layout.kind = spec.kind;
    probe.layout.at_entry = spec.offset == 0;
    if (!probe.layout.at_entry)
        compile_offset(probe, spec.condition, hz);
    else if (spec.kind != TRAPLINE_RETURN)
        compile_entry(probe, spec.condition, hz, arguments);
    if (spec.kind != TRAPLINE_ENTRY)
        compile_return(probe, spec.condition, hz, arguments);
    return probe;
}

} // namespace trapline
