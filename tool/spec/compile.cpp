// SPDX-License-Identifier: GPL-2.0
// Makes the programs that test a probe's condition and record what its list asks for, or else
// arguments, registers and the return value.
#include "spec/compile.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <span>

#include "spec/condition_program.h"
#include "spec/program_builder.h"
#include "spec/registers.h"
#include "types/abi.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::uint8_t word_size = 8;
constexpr std::size_t name_max = 128; // of a parameter's field
constexpr unsigned texts_max = 16;    // of an event: a record has room for that many

Recorded word(tl_op op, std::uint64_t which, std::string name, NumberForm form = NumberForm::raw) {
    return recorded_number({.name = std::move(name), .form = form}, Chain(op, which));
}

std::vector<Recorded> raw_arguments(unsigned count) {
    std::vector<Recorded> arguments;
    for (unsigned i = 0; i < count; i++)
        arguments.push_back(word(TL_OP_ARG, i, fmt::format("arg{}", i)));
    return arguments;
}

// Those that carry arguments at the entry; shown without the r.
std::vector<Recorded> argument_registers() {
    std::vector<Recorded> all;
    for (unsigned i = 0; i < register_arguments; i++) {
        const Register& reg = registers[i];
        const bool numbered = reg.name.back() <= '9';
        all.push_back(word(TL_OP_REG, reg.word, std::string(reg.name.substr(numbered ? 0 : 1))));
    }
    return all;
}

// A number or text per parameter, in order. A value in two words is shown as those.
class ParameterReader {
public:
    ParameterReader(const KnownTypes& known, TypedFields& fields,
                    std::vector<std::string>& left_out)
        : types_(*known.types), function_(types_.at(*known.function)), fields_(fields),
          left_out_(left_out) {}

    std::vector<Recorded> read() {
        const CallPlaces places = call_places(types_, function_);
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
            arguments_.push_back(recorded_text(name, Chain(TL_OP_ARG, place.first)));
            return;
        }
        auto number = place.words == 1 ? fields_.number(types_, type, name) : std::nullopt;
        if (number) {
            Chain chain(TL_OP_ARG, place.first);
            chain.narrow(number->size, is_signed(*number));
            arguments_.push_back(recorded_number(std::move(*number), std::move(chain)));
            return;
        }
        for (unsigned i = 0; i < place.words; i++)
            arguments_.push_back(word(TL_OP_ARG, place.first + i,
                                      i == 0 ? name : fmt::format("{}+{}", name, i * word_size),
                                      NumberForm::hex));
    }

    const Types& types_;
    const Type& function_;
    TypedFields& fields_;
    std::vector<std::string>& left_out_;
    std::vector<Recorded> arguments_;
    unsigned texts_ = 0;
};

// None for void.
std::vector<Recorded> results(const KnownTypes& known, TypedFields& fields,
                              std::vector<std::string>& left_out) {
    if (!known.function)
        return {word(TL_OP_RETVAL, 0, "return")};
    const Types& types = *known.types;
    const Type& function = types.at(*known.function);
    const CallPlaces places = call_places(types, function);
    if (places.result_in_memory)
        return {word(TL_OP_RETVAL, 0, "return", NumberForm::pointer)};
    if (places.words == 0) {
        if (plain(types, function.target).kind != TypeKind::none)
            left_out.emplace_back("the result");
        return {};
    }
    auto number = places.words == 1 ? fields.number(types, function.target, "return")
                                    : std::optional<Field>();
    if (number)
        return {recorded_number(std::move(*number), Chain(TL_OP_RETVAL))};
    std::vector<Recorded> words{word(TL_OP_RETVAL, 0, "return", NumberForm::hex)};
    if (places.words > 1)
        words.push_back(word(TL_OP_REG, second_result_register.word,
                             fmt::format("return+{}", word_size), NumberForm::hex));
    return words;
}

bool is_retval(const Expression& expression) {
    return expression.kind == Expression::Kind::builtin && expression.builtin == Builtin::retval;
}

// What is recorded, by the PROBE's list.
class ListReader {
public:
    ListReader(const ProbeSpec& spec, const Scope& scope, TypedFields& fields,
               std::vector<std::string>& left_out)
        : spec_(spec), scope_(scope), fields_(fields), left_out_(left_out) {}

    std::vector<Recorded> arguments() {
        std::vector<Recorded> all;
        for (const ListItem& item : spec_.arguments->items) {
            const ListItem bound = bind(item);
            const Expression& root = bound.value.root();
            check_known(root);
            const bool again = is_again(item);
            for (Recorded& one : recorded_item(scope_, bound, fields_, left_out_))
                all.push_back(named(item, std::move(one), again));
        }
        return all;
    }

    std::vector<Recorded> result() const {
        const ListItem bound = bind(*spec_.arguments->result);
        if (!is_retval(bound.value.root()))
            scope_.fail(bound.value.position, "behind '=' $retval is expected",
                        "as in '= $retval->f_mode'; what is known at the entry stands in the list");
        std::vector<Recorded> all = recorded_item(scope_, bound, fields_, left_out_);
        if (is_retval(bound.value) && all.size() == 1)
            all.front().field.name = "return";
        return all;
    }

private:
    ListItem bind(const ListItem& item) const {
        ListItem bound = item;
        bound.value = scope_.bound(item.value);
        if (bound.value.root().kind == Expression::Kind::number)
            scope_.fail(item.value.position, "a number is always the same",
                        fmt::format("name what is to be recorded: a parameter, $pid, ...\n{}",
                                    quotes_hint));
        return bound;
    }

    void check_known(const Expression& root) const {
        if (is_retval(root))
            scope_.fail(root.position,
                        spec_.kind == TRAPLINE_RETURN
                            ? "the list is of what is known besides the return value"
                            : "the list is of what is known at the entry",
                        spec_.kind == TRAPLINE_RETURN
                            ? "that stands behind it: 'kretprobe:FUNC($tid) = $retval'"
                            : "the return value stands behind it: 'FUNC(...) = $retval'");
        if (root.kind == Expression::Kind::builtin && root.builtin == Builtin::duration)
            scope_.fail(root.position, "the duration isn't known at the entry",
                        "it is shown of each call, without being listed");
    }

    std::string_view typed(const ListItem& item) const {
        return scope_.text().substr(item.value.position, item.value.end - item.value.position);
    }

    // Whether the list has the same value with another format too.
    bool is_again(const ListItem& item) const {
        const auto& items = spec_.arguments->items;
        return std::count_if(items.begin(), items.end(), [&](const ListItem& other) {
                   return typed(other) == typed(item);
               }) > 1;
    }

    // Names differ, for whoever looks for a field by its own.
    Recorded named(const ListItem& item, Recorded recorded, bool again) {
        std::string& name = recorded.field.name;
        if (item.format != Format::none && (again || of_items_.count(name) != 0))
            name += ":" + item.format_text;
        const auto [known, added] = of_items_.emplace(name, typed(item));
        if (added)
            return recorded;
        const std::string_view here = typed(item);
        const std::string_view there = known->second;
        if (here == there)
            scope_.fail(item.value.position,
                        fmt::format("{} is in the list already",
                                    name.starts_with(here) ? std::string_view(name) : here),
                        "with another format, as in :x, it can be there again");
        const bool alone = name.starts_with(here) || name.starts_with(there);
        scope_.fail(item.value.position, fmt::format("{} is in the list already", name),
                    alone ? fmt::format("leave it out where it stands by itself: it comes with {}",
                                        name.starts_with(here) ? there : here)
                          : fmt::format("both {} and {} have it", there, here));
    }

    const ProbeSpec& spec_;
    const Scope& scope_;
    TypedFields& fields_;
    std::vector<std::string>& left_out_;
    std::map<std::string, std::string_view> of_items_; // by fields' names, what was typed
};

// Who called. At a return it is whom the function returns to: the same, as the stack is above it.
Recorded recorded_stack(const ProbeSpec& spec) {
    Recorded recorded;
    recorded.field = {.name = "stack", .type = FieldType::stack};
    recorded.store.op = TL_OP_STACK;
    recorded.store.imm = spec.stack;
    recorded.store.flags = tl_stack_flags(spec.kind != TRAPLINE_ENTRY ? TL_AT_RETURN
                                          : spec.offset != 0          ? TL_AT_OFFSET
                                                                      : TL_AT_ENTRY);
    return recorded;
}

View view_of(const ProbeSpec& spec) {
    if (spec.offset != 0)
        return View::instruction;
    if (spec.kind == TRAPLINE_CALL || spec.begins_call)
        return View::call;
    return spec.kind == TRAPLINE_RETURN ? View::ret : View::entry;
}

class Compiler {
public:
    Compiler(const ProbeSpec& spec, std::uint64_t hz, const KnownTypes& known, TypedFields& fields,
             unsigned arguments)
        : spec_(spec), hz_(hz), known_(known), fields_(fields), arguments_(arguments),
          scope_(spec.text, view_of(spec), known) {}

    CompiledProbe compile(std::uint16_t event_id) {
        probe_.layout.id = event_id;
        probe_.layout.name = event_name(spec_);
        probe_.layout.kind = spec_.kind;
        probe_.layout.at_entry = spec_.offset == 0;
        probe_.layout.named = spec_.arguments || (known_.function && spec_.offset == 0);
        std::vector<Recorded> entry;
        if (spec_.kind != TRAPLINE_RETURN || has_items())
            entry = entry_fields();
        std::vector<Recorded> ret = return_fields();
        if (spec_.stack != 0) // of a call that its condition's end rejects none is taken
            (spec_.kind == TRAPLINE_ENTRY ? entry : ret).push_back(recorded_stack(spec_));

        ProgramBuilder stored;
        if (spec_.kind != TRAPLINE_RETURN)
            for (const Recorded& recorded : entry)
                stored.put(recorded);
        const std::vector<Kept> kept = stored.take_kept();
        BoundConditions checks;
        if (spec_.condition)
            checks = bind_condition(*spec_.condition, scope_, kept, spec_.arguments.has_value());
        if (spec_.kind != TRAPLINE_RETURN)
            build(checks.entry, entry, probe_.entry, probe_.layout.entry_fields);
        if (spec_.kind == TRAPLINE_RETURN)
            build_return(checks.ret, std::move(entry), std::move(ret));
        else if (spec_.kind == TRAPLINE_CALL)
            build(checks.ret, ret, probe_.ret, probe_.layout.return_fields);
        check_size();
        probe_.tested = {checks.entry.has_value(), checks.ret.has_value()};
        return std::move(probe_);
    }

private:
    ListReader list_reader() { return {spec_, scope_, fields_, probe_.members_left_out}; }

    bool has_items() const { return spec_.arguments && !spec_.arguments->items.empty(); }

    std::vector<Recorded> entry_fields() {
        if (spec_.arguments)
            return list_reader().arguments();
        if (spec_.offset != 0)
            return argument_registers();
        if (known_.function)
            return ParameterReader(known_, fields_, probe_.left_out).read();
        return raw_arguments(arguments_);
    }

    std::vector<Recorded> return_fields() {
        const bool listed = spec_.arguments && spec_.arguments->result && !spec_.begins_call;
        if (listed && spec_.kind == TRAPLINE_ENTRY)
            scope_.fail(spec_.arguments->result->value.position, "an entry probe sees no return",
                        "trace the call: without kprobe:, +OFFSET and --entry");
        if (spec_.kind == TRAPLINE_ENTRY)
            return {};
        if (listed)
            return list_reader().result();
        return results(known_, fields_, probe_.left_out);
    }

    void build(const std::optional<BoundCondition>& check, const std::vector<Recorded>& all,
               std::vector<tl_insn>& program, std::vector<Field>& fields) const {
        ProgramBuilder builder;
        if (check)
            builder.test(*check, hz_);
        for (std::size_t i = 0; i < all.size() && !builder.is_too_long(); i++) {
            builder.put(all[i]);
            if (builder.is_too_long() && spec_.arguments)
                fail_too_long(all, i, check.has_value());
        }
        if (builder.is_too_long())
            throw_too_long();
        program = builder.finish();
        fields = builder.take_fields();
    }

    // The first that doesn't fit is `all[which]`.
    [[noreturn]] void fail_too_long(std::span<const Recorded> all, std::size_t which,
                                    bool tests) const {
        const auto same = [&](const Recorded& one) { return one.position == all[which].position; };
        const auto values = std::count_if(all.begin(), all.end(), same);
        const auto fitting =
            std::count_if(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(which), same);
        const std::string_view room = tests ? "a probe with this condition" : "a probe";
        if (values > 1)
            scope_.fail(all[which].position,
                        fmt::format("this is {} values, and {} has room for {} of them", values,
                                    room, fitting),
                        "name those that are wanted; or plant several probes on the function, "
                        "each with a part");
        scope_.fail(all[which].position,
                    fmt::format("the list is too long from here on: {} has room for what is "
                                "before it",
                                room),
                    "plant several probes on the function, each with a part of the list");
    }

    // A return's list and its result are stored by one program.
    void build_return(const std::optional<BoundCondition>& check, std::vector<Recorded> listed,
                      std::vector<Recorded> result) {
        const auto count = static_cast<std::ptrdiff_t>(listed.size());
        std::move(result.begin(), result.end(), std::back_inserter(listed));
        std::vector<Field>& fields = probe_.layout.return_fields;
        build(check, listed, probe_.ret, fields);
        probe_.layout.entry_fields.assign(fields.begin(), fields.begin() + count);
        fields.erase(fields.begin(), fields.begin() + count);
    }

    // Both ends of a call are one record; each by itself was checked as it was built.
    void check_size() const {
        if (spec_.kind != TRAPLINE_CALL)
            return;
        const std::uint32_t kept = stored_bytes(probe_.entry);
        const std::uint32_t size = kept + word_size + stored_bytes(probe_.ret); // its duration
        if (kept > TL_KEPT_MAX)
            throw UsageError(fmt::format("a call keeps up to {} bytes until its return, and {} are "
                                         "the most",
                                         kept, TL_KEPT_MAX),
                             "record less, as by :str[32]; or the entry alone, by kprobe: or "
                             "--entry");
        if (size > TL_FIELDS_MAX)
            throw UsageError(fmt::format("list, duration and result take up to {} bytes, and {} "
                                         "are the most",
                                         size, TL_FIELDS_MAX),
                             "a text is up to 128 bytes: :str[32] makes it shorter");
    }

    const ProbeSpec& spec_;
    std::uint64_t hz_;
    const KnownTypes& known_;
    TypedFields& fields_;
    unsigned arguments_;
    Scope scope_;
    CompiledProbe probe_;
};

} // namespace

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            unsigned arguments) {
    if (arguments > TL_ARGS_MAX)
        throw UsageError(fmt::format("{} arguments cannot be recorded", arguments),
                         fmt::format("{} are the most", TL_ARGS_MAX));
    TypedFields fields;
    const KnownTypes none;
    return Compiler(spec, hz, none, fields, arguments).compile(event_id);
}

CompiledProbe compile_probe(const ProbeSpec& spec, std::uint16_t event_id, std::uint64_t hz,
                            const KnownTypes& known, TypedFields& fields) {
    return Compiler(spec, hz, known, fields, default_arguments).compile(event_id);
}

} // namespace trapline
