// SPDX-License-Identifier: GPL-2.0
// Makes the programs that test a probe's condition and record arguments, registers or return
// value.
#include "spec/compile.h"

#include <fmt/format.h>

#include "spec/condition_program.h"
#include "spec/registers.h"
#include "types/abi.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::uint8_t word_size = 8;
constexpr std::size_t name_max = 128; // of a field
constexpr unsigned texts_max = 16;    // of an event: a record has room for that many

// RDX has the second word of what is returned in registers.
constexpr std::uint32_t second_result = 12;

// A program that tests a condition, then loads values one after the other and stores each at
// once.
class Builder {
public:
    void test(const std::optional<Expression>& condition, tl_site site, std::uint64_t hz,
              std::span<const KnownArgument> arguments = {}) {
        if (condition)
            append_test(program_, *condition, site, hz, arguments);
    }

    void put_number(tl_op op, std::uint64_t which, Field field) {
        const std::uint8_t slot = load(op, which);
        tl_insn& put = append(TL_OP_PUT);
        put.a = slot;
        put.size = field.size;
        fields_.push_back(std::move(field));
    }

    void put_word(tl_op op, std::uint64_t which, std::string name) {
        put_number(op, which, {.name = std::move(name)});
    }

    // Text of the kernel or of the task.
    void put_text(tl_op op, std::uint64_t which, std::string name) {
        string(TL_OP_STR, load(op, which));
        fields_.push_back({.name = std::move(name), .type = FieldType::string});
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

    std::uint8_t load(tl_op op, std::uint64_t which) {
        const auto slot = static_cast<std::uint8_t>(fields_.size() % TL_SLOTS);
        tl_insn& insn = append(op);
        insn.dst = slot;
        insn.imm = which;
        return slot;
    }

    void string(tl_op op, std::uint8_t slot) {
        tl_insn& insn = append(op);
        insn.a = slot;
        insn.imm = text_size;
    }

    std::vector<tl_insn> program_;
    std::vector<Field> fields_;
};

// What an entry stores of the arguments.
struct RecordedArgument {
    Field field;
    unsigned which = 0; // by the ABI
};

struct RecordedArguments {
    std::vector<RecordedArgument> all;
    std::vector<KnownArgument> known; // by the ABI
};

RecordedArguments raw_arguments(unsigned count) {
    RecordedArguments arguments;
    for (unsigned i = 0; i < count; i++) {
        arguments.all.push_back({{.name = fmt::format("arg{}", i)}, i});
        arguments.known.push_back({.kept = i * std::uint32_t{word_size}});
    }
    return arguments;
}

// A number or text per parameter, in order. A value in two words is shown as those.
class ParameterReader {
public:
    ParameterReader(const Signature& signature, TypedFields& fields,
                    std::vector<std::string>& left_out)
        : types_(*signature.types), function_(types_.at(signature.function)), fields_(fields),
          left_out_(left_out) {}

    RecordedArguments read() {
        const CallPlaces places = call_places(types_, function_);
        arguments_.known.resize(TL_ARGS_MAX);
        for (std::size_t i = 0; i < function_.parameters.size(); i++) {
            const Parameter& parameter = function_.parameters[i];
            add(parameter.name.empty() ? fmt::format("arg{}", i)
                                       : parameter.name.substr(0, name_max - 2),
                parameter.type, places.arguments[i]);
        }
        return std::move(arguments_);
    }

private:
    void add(const std::string& name, TypeId type, const ArgumentPlace& place) {
        constexpr unsigned words_max = 2;
        if (place.words == 0 || place.words > words_max || place.first + place.words > TL_ARGS_MAX)
            return left_out_.push_back(name);
        const bool text = points_to_text(types_, type) &&
                          is_constant(types_, plain(types_, type).target) && texts_ < texts_max;
        if (text) {
            texts_++;
            kept_ = std::nullopt; // it is as long as it is, and so are the places behind it
            return add({.name = name, .type = FieldType::string}, place.first);
        }
        const auto number =
            place.words == 1 ? fields_.number(types_, type, name) : std::optional<Field>();
        if (number)
            return add(*number, place.first);
        for (unsigned i = 0; i < place.words; i++)
            add({.name = i == 0 ? name : fmt::format("{}+{}", name, i * word_size),
                 .form = NumberForm::hex},
                place.first + i);
    }

    void add(Field field, unsigned which) {
        if (field.type == FieldType::raw) {
            arguments_.known[which] = {field.size, is_signed(field), kept_};
            if (kept_)
                *kept_ += field.size == word_size ? word_size : 4;
        }
        arguments_.all.push_back({std::move(field), which});
    }

    const Types& types_;
    const Type& function_;
    TypedFields& fields_;
    std::vector<std::string>& left_out_;
    RecordedArguments arguments_;
    std::optional<std::uint32_t> kept_ = 0; // where the next number is stored
    unsigned texts_ = 0;
};

class Compiler {
public:
    Compiler(const ProbeSpec& spec, std::uint64_t hz, CompiledProbe& probe)
        : spec_(spec), hz_(hz), probe_(probe) {}

    void compile_entry(const RecordedArguments& arguments) {
        Builder builder;
        bool on_stack = false;
        builder.test(spec_.condition.entry, TL_AT_ENTRY, hz_, arguments.known);
        for (const RecordedArgument& argument : arguments.all) {
            if (argument.field.type == FieldType::string)
                builder.put_text(TL_OP_ARG, argument.which, argument.field.name);
            else
                builder.put_number(TL_OP_ARG, argument.which, argument.field);
            on_stack = on_stack || argument.which >= register_arguments;
        }
        // The stack may not be readable.
        if (on_stack)
            builder.put_faults();
        builder.finish(probe_.entry, probe_.layout.entry_fields);
    }

    void compile_offset() {
        Builder builder;
        builder.test(spec_.condition.entry, TL_AT_OFFSET, hz_);
        // Those that carry arguments at the entry; shown without the r.
        for (unsigned i = 0; i < register_arguments; i++) {
            const Register& reg = registers[i];
            const bool numbered = reg.name.back() <= '9';
            builder.put_word(TL_OP_REG, reg.word, std::string(reg.name.substr(numbered ? 0 : 1)));
        }
        builder.finish(probe_.entry, probe_.layout.entry_fields);
    }

    void compile_return(const RecordedArguments& arguments, const std::vector<Field>& results) {
        Builder builder;
        const bool of_call = spec_.kind == TRAPLINE_CALL;
        builder.test(spec_.condition.ret, of_call ? TL_AT_CALL_RETURN : TL_AT_RETURN, hz_,
                     arguments.known);
        for (std::size_t i = 0; i < results.size(); i++)
            builder.put_number(i == 0 ? TL_OP_RETVAL : TL_OP_REG, i == 0 ? 0 : second_result,
                               results[i]);
        builder.finish(probe_.ret, probe_.layout.return_fields);
    }

private:
    const ProbeSpec& spec_;
    std::uint64_t hz_;
    CompiledProbe& probe_;
};

CompiledProbe begin_probe(const ProbeSpec& spec, std::uint16_t event_id) {
    CompiledProbe probe;
    probe.layout.id = event_id;
    probe.layout.name = event_name(spec);
    probe.layout.kind = spec.kind;
    probe.layout.at_entry = spec.offset == 0;
    return probe;
}

// None for void.
std::vector<Field> result_fields(const Signature& signature, TypedFields& fields,
                                 std::vector<std::string>& left_out) {
    const Types& types = *signature.types;
    const Type& function = types.at(signature.function);
    const CallPlaces places = call_places(types, function);
    if (places.result_in_memory)
        return {{.name = "return", .form = NumberForm::pointer}};
    if (places.words == 0) {
        if (plain(types, function.target).kind != TypeKind::none)
            left_out.emplace_back("the result");
        return {};
    }
    const auto number = places.words == 1 ? fields.number(types, function.target, "return")
                                          : std::optional<Field>();
    if (number)
        return {*number};
    std::vector<Field> words{{.name = "return", .form = NumberForm::hex}};
    if (places.words > 1)
        words.push_back({.name = fmt::format("return+{}", word_size), .form = NumberForm::hex});
    return words;
}

} // namespace

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            unsigned arguments) {
    if (arguments > TL_ARGS_MAX)
        throw UsageError(fmt::format("{} arguments cannot be recorded", arguments),
                         fmt::format("{} are the most", TL_ARGS_MAX));

    CompiledProbe probe = begin_probe(spec, event_id);
    Compiler compiler(spec, hz, probe);
    const RecordedArguments recorded = raw_arguments(arguments);
    if (!probe.layout.at_entry)
        compiler.compile_offset();
    else if (spec.kind != TRAPLINE_RETURN)
        compiler.compile_entry(recorded);
    if (spec.kind != TRAPLINE_ENTRY)
        compiler.compile_return(recorded, {{.name = "return"}});
    return probe;
}

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            const Signature& signature, TypedFields& fields) {
    if (spec.offset != 0)
        return compile_probe(spec, event_id, hz);

    CompiledProbe probe = begin_probe(spec, event_id);
    Compiler compiler(spec, hz, probe);
    probe.layout.named = true;
    RecordedArguments arguments;
    if (spec.kind != TRAPLINE_RETURN) {
        arguments = ParameterReader(signature, fields, probe.left_out).read();
        compiler.compile_entry(arguments);
    }
    if (spec.kind != TRAPLINE_ENTRY)
        compiler.compile_return(arguments, result_fields(signature, fields, probe.left_out));
    return probe;
}

} // namespace trapline
