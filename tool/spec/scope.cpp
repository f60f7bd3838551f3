// SPDX-License-Identifier: GPL-2.0
// What the names of expressions mean at a probe's place.
#include "spec/scope.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "spec/caret.h"
#include "spec/integer_name.h"
#include "spec/member.h"
#include "spec/registers.h"
#include "spec/typed_field.h"

namespace trapline {

namespace {

using Kind = Expression::Kind;
using Place = Value::Place;

constexpr std::uint64_t word_size = 8;
constexpr unsigned words_max = 2; // of a value in registers

tl_insn source(tl_op op, std::uint64_t imm) {
    return Chain(op, imm).insns().front();
}

bool is_load_size(std::uint64_t size) {
    return size == 1 || size == 2 || size == 4 || size == 8;
}

// How many bytes are read for bits that end where `end` says.
std::uint64_t bytes_for(std::uint64_t end) {
    return end <= 8 ? 1 : end <= 16 ? 2 : end <= 32 ? 4 : 8;
}

// The byte from which on a member is read whose type has that many. Of a bitfield that is where the
// smallest word that contains it begins, no larger than its type, so that nothing behind the
// structure is read. A packed one may be in no such word: what is read ends with it then, unless
// the structure has too few bytes before.
std::uint64_t first_byte(const Member& member, std::uint64_t type_size) {
    for (std::uint64_t size = 1; member.bits != 0 && size <= type_size; size *= 2)
        if (member.bit_offset % (8 * size) + member.bits <= 8 * size)
            return member.bit_offset / (8 * size) * size;
    const std::uint64_t begin = member.bit_offset / 8;
    if (member.bits == 0)
        return begin;
    const std::uint64_t end = (member.bit_offset + member.bits + 7) / 8;
    const std::uint64_t bytes = bytes_for(8 * (end - begin));
    return end - begin > 8 ? begin : end - std::min(end, bytes);
}

// Whether a mask takes only some of what the sign's bit of the type is extended to.
bool makes_sign(const Types& types, CType type, std::uint64_t mask) {
    const std::uint64_t bits = 8 * size_of(types, type);
    if (!is_signed_number(types, type) || bits >= 64)
        return false;
    const std::uint64_t extended = ~std::uint64_t{0} << (bits - 1);
    return (mask & extended) != 0 && (mask & extended) != extended;
}

} // namespace

Scope::Scope(std::string_view text, View view, const KnownTypes& known)
    : text_(text), view_(view), known_(known) {
    if (known.function)
        places_ = call_places(*known.types, known.types->at(*known.function));
}

void Scope::fail(std::size_t position, std::string_view why, std::string_view hint) const {
    throw bad_probe(text_, position, why, std::string(hint));
}

const Type* Scope::function() const {
    return known_.function ? &known_.types->at(*known_.function) : nullptr;
}

std::optional<std::size_t> Scope::parameter(std::string_view name) const {
    const Type* type = function();
    if (type == nullptr)
        return std::nullopt;
    const auto found =
        std::find_if(type->parameters.begin(), type->parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
    if (found == type->parameters.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - type->parameters.begin());
}

// ---- names

Expression Scope::bound(Expression expression, std::string_view call) const {
    Expression* root = &expression;
    while (!root->operand.empty())
        root = &root->operand.front();
    if (root->kind == Kind::name && !parameter(root->name)) {
        auto builtin = find_builtin(root->name);
        if (!builtin)
            fail_unknown(*root);
        builtin->position = root->position;
        builtin->mark = root->mark;
        builtin->end = root->end;
        *root = std::move(*builtin);
    }
    check_view(*root, call);
    return expression;
}

bool Scope::is_constant(const Expression& expression) const {
    return expression.kind == Kind::name && !parameter(expression.name) &&
           !find_builtin(expression.name);
}

bool Scope::is_literal(std::string_view name) {
    return name == "true" || name == "false" || name == "NULL";
}

Number Scope::named_constant(const Expression& name, const Expression& other) const {
    if (is_literal(name.name))
        return {.bits = name.name == "true" ? 1U : 0U};
    const Value value = other.kind == Kind::text ? Value() : number(other);
    if (!value.type || value.type->pointers != 0)
        fail_unknown(name);
    const Type& type = plain(*value.types, value.type->id);
    if (type.kind != TypeKind::enumeration)
        fail_unknown(name);
    std::vector<std::string> names;
    for (const Enumerator& enumerator : type.enumerators) {
        names.push_back(enumerator.name);
        if (enumerator.name == name.name)
            return {.bits = enumerator.value,
                    .negative = type.is_signed && static_cast<std::int64_t>(enumerator.value) < 0};
    }
    fail(name.position,
         fmt::format("{} has no value {}", type_text(*value.types, *value.type), name.name),
         fmt::format("it has {}", nearest(std::move(names), name.name)));
}

void Scope::fail_unknown(const Expression& name) const {
    find_builtin(TokenReader(text_, name.position, name.end),
                 name.name); // $arg33 has its own words
    const Type* type = function();
    const std::string meant = similar_builtin(name.name);
    const auto or_meant = [&](const std::string& hint) {
        return meant.empty() ? hint : fmt::format("did you mean {}?\n{}", meant, hint);
    };
    if (type == nullptr || view_ == View::instruction || view_ == View::ret)
        fail(name.position, fmt::format("there is no {} to be had", name.name),
             or_meant(no_parameters_hint()));
    std::vector<std::string> names;
    for (const Parameter& parameter : type->parameters)
        if (!parameter.name.empty())
            names.push_back(parameter.name);
    fail(name.position, fmt::format("there is no parameter {}", name.name),
         or_meant(names.empty() ? "the function takes none that have a name"
                                : fmt::format("the parameters are {}", nearest(names, name.name))));
}

// Where none is known by its name: what there is instead.
std::string Scope::no_parameters_hint() const {
    if (view_ == View::instruction)
        return "inside a function parameters may be anywhere: name a register, such as "
               "%" TRAPLINE_A_REGISTER "; or probe the entry, without +OFFSET";
    if (view_ == View::ret)
        return "a return probe sees no parameters: trace the call, without kretprobe: and --return";
    return fmt::format("of this function no parameters are known{}: $arg1 is the first",
                       known_.why_none.empty() ? "" : fmt::format(" ({})", known_.why_none));
}

void Scope::check_view(const Expression& root, std::string_view call) const {
    if (root.kind != Kind::builtin && root.kind != Kind::name)
        return;
    const std::string name = name_of(root, text_);
    const bool of_return = root.kind == Kind::builtin &&
                           (root.builtin == Builtin::retval || root.builtin == Builtin::duration);
    const bool of_task =
        root.kind == Kind::builtin && root.builtin >= Builtin::pid && root.builtin <= Builtin::cpu;
    switch (view_) {
    case View::call:
        return;
    case View::entry:
        if (of_return)
            fail(root.position, fmt::format("at the entry there is no {} yet", name),
                 fmt::format("trace the call: {}, without kprobe:, +OFFSET and --entry", call));
        return;
    case View::instruction:
        if (of_return)
            fail(root.position, fmt::format("at an instruction there is no {} yet", name),
                 fmt::format("trace the call: {}, without kprobe: and +OFFSET", call));
        if (!of_task && root.builtin != Builtin::reg && root.builtin != Builtin::stack)
            fail(root.position, fmt::format("inside a function {} may be anywhere", name),
                 "name the register that it is in there, such as %" TRAPLINE_A_REGISTER
                 "; or probe the entry, "
                 "without +OFFSET");
        return;
    case View::ret:
        if (!of_task && (root.kind == Kind::name || root.builtin != Builtin::retval))
            fail(root.position,
                 fmt::format("a return probe sees no entry, so there is no {}", name),
                 fmt::format("trace the call: {}, without kretprobe: and --return", call));
        return;
    }
}

Value Scope::root_value(const Expression& root) const {
    Value value;
    value.types = known_.types;
    switch (root.kind) {
    case Kind::number:
        value.chain = Chain(TL_OP_IMM, root.number.bits);
        return value;
    case Kind::text:
        fail(root.position, "a text can only be compared with", "as in 'FUNC if comm == \"dd\"'");
    case Kind::builtin:
        return builtin_value(root);
    default:
        return parameter_value(*parameter(root.name), root);
    }
}

// By the ABI: a number in a word, a structure in one or two, or in memory on the stack.
Value Scope::parameter_value(std::size_t index, const Expression& root) const {
    const Parameter& parameter = function()->parameters[index];
    const ArgumentPlace place = places_.arguments[index];
    const CType type{parameter.type, 0};
    Value value;
    value.types = known_.types;
    value.type = type;
    if (place.by_address) {
        value.place = Place::memory;
        value.chain = Chain(TL_OP_ARG, place.first);
        return value;
    }
    if (place.words == 0)
        fail(root.position, fmt::format("{} is in no register that is saved", root.name),
             "floating point numbers and empty structures can't be recorded");
    if (place.words == 1 && is_number(*value.types, type)) {
        if (place.first >= TL_ARGS_MAX)
            fail(root.position, fmt::format("there are $arg1 to $arg{}", TL_ARGS_MAX),
                 "this one lies further on the stack");
        value.chain = Chain(TL_OP_ARG, place.first);
        value.chain.narrow(size_of(*value.types, type), is_signed_number(*value.types, type));
        return value;
    }
    if (place.first >= register_arguments || place.words > words_max) {
        value.place = Place::memory;
        value.chain = Chain(TL_OP_REG, stack_register.word);
        value.chain.add((place.first - register_arguments + stack_skipped) * word_size);
        return value;
    }
    value.place = Place::words;
    for (unsigned i = 0; i < place.words; i++)
        value.words.push_back(source(TL_OP_ARG, place.first + i));
    return value;
}

// $argN is the parameter that is there, if it is all of it.
Value Scope::argument_value(unsigned which) const {
    Value value;
    value.types = known_.types;
    value.chain = Chain(TL_OP_ARG, which);
    for (std::size_t i = 0; i < places_.arguments.size(); i++) {
        const ArgumentPlace place = places_.arguments[i];
        const CType type{function()->parameters[i].type, 0};
        if (place.words != 1 || place.first != which || !is_number(*value.types, type))
            continue;
        value.type = type;
        value.chain.narrow(size_of(*value.types, type), is_signed_number(*value.types, type));
    }
    return value;
}

Value Scope::result_value() const {
    Value value;
    value.types = known_.types;
    value.chain = Chain(TL_OP_RETVAL);
    if (!known_.function || places_.result_in_memory)
        return value;
    const CType type{function()->target, 0};
    if (places_.words == 1 && is_number(*value.types, type)) {
        value.type = type;
        value.chain.narrow(size_of(*value.types, type), is_signed_number(*value.types, type));
    } else if (places_.words != 0) {
        value.type = type;
        value.place = Place::words;
        value.words.push_back(source(TL_OP_RETVAL, 0));
        if (places_.words > 1)
            value.words.push_back(source(TL_OP_REG, second_result_register.word));
    }
    return value;
}

Value Scope::builtin_value(const Expression& root) const {
    Value value;
    value.types = known_.types;
    switch (root.builtin) {
    case Builtin::argument:
        return argument_value(root.which);
    case Builtin::stack:
        value.chain = Chain(TL_OP_REG, stack_register.word);
        value.chain.add(root.which * word_size);
        value.chain.load(word_size, false);
        return value;
    case Builtin::caller:
        value.chain = Chain(TL_OP_REG, caller_register.word);
        if (caller_register.word == stack_register.word)
            value.chain.load(word_size, false);
        return value;
    case Builtin::reg:
        value.chain = Chain(TL_OP_REG, root.which);
        return value;
    case Builtin::retval:
        if (known_.function && plain(*known_.types, function()->target).kind == TypeKind::none)
            fail(root.position, "the function is void: it returns nothing",
                 "leave that out; arguments and $duration can be asked for");
        return result_value();
    case Builtin::duration:
        value.chain = Chain(TL_OP_DURATION);
        return value;
    case Builtin::pid:
        value.chain = Chain(TL_OP_TASK, TL_TASK_TGID);
        return value;
    case Builtin::tid:
        value.chain = Chain(TL_OP_TASK, TL_TASK_TID);
        return value;
    case Builtin::comm:
        value.chain = Chain(TL_OP_TASK, TL_TASK_COMM);
        value.place = Place::memory;
        value.elements = TL_COMM_SIZE;
        return value;
    case Builtin::uid:
        value.chain = Chain(TL_OP_TASK, TL_TASK_UID);
        return value;
    case Builtin::cpu:
        value.chain = Chain(TL_OP_TASK, TL_TASK_CPU);
        return value;
    }
    return value;
}

// ---- what is behind names

Value Scope::value(const Expression& expression) const {
    switch (expression.kind) {
    case Kind::member:
        return member_value(expression);
    case Kind::index:
    case Kind::slice:
        return element_value(expression);
    case Kind::dereference:
        return dereferenced(expression);
    case Kind::address:
        return address_value(expression);
    case Kind::cast:
        return cast_value(expression);
    case Kind::add:
    case Kind::bits:
    case Kind::shift_left:
    case Kind::shift_right:
        return calculated(expression);
    default:
        return root_value(expression);
    }
}

// An array as a pointer to its first element.
Value Scope::decayed(Value value) const {
    if (value.place != Place::memory || !value.type || value.elements != 0 ||
        !is_array(*value.types, *value.type))
        return value;
    value.type = CType{plain(*value.types, value.type->id).target, 1};
    value.place = Place::number;
    return value;
}

// The place that a pointer, as a number, leads to.
Value Scope::pointed(const Expression& at, const Value& pointer) const {
    const std::string name = name_of(at, text_);
    if (!pointer.type)
        fail(at.position, fmt::format("what {} points to isn't known", name),
             fmt::format("say it: (struct file *){}", name));
    if (!is_pointer(*pointer.types, *pointer.type))
        fail(
            at.position,
            fmt::format("{} is no pointer, but {}", name, type_text(*pointer.types, *pointer.type)),
            fmt::format("if it is an address, say of what: (struct file *){}", name));
    Value place;
    place.types = pointer.types;
    place.type = target_of(*pointer.types, *pointer.type);
    place.place = Place::memory;
    place.chain = pointer.chain;
    if (place.type->pointers == 0 && plain(*place.types, place.type->id).kind == TypeKind::none)
        fail(at.position, fmt::format("{} is a void *: what it points to isn't known", name),
             fmt::format("say it: (struct file *){}", name));
    return place;
}

Value Scope::member_value(const Expression& expression) const {
    const Expression& of = expression.operand.front();
    Value outer = value(of);
    const std::string name = name_of(of, text_);
    if (expression.arrow) {
        if (outer.type && outer.place != Place::number && is_structure(*outer.types, *outer.type))
            fail(expression.mark, fmt::format("{} is a structure, no pointer to one", name),
                 fmt::format("{}.{}", name, expression.name));
        outer = pointed(of, number(of, std::move(outer)));
    } else if (outer.type && is_pointer(*outer.types, *outer.type)) {
        fail(expression.mark, fmt::format("{} is a pointer", name),
             fmt::format("{}->{}", name, expression.name));
    }
    if (!outer.type)
        fail(of.position, fmt::format("the type of {} isn't known", name),
             fmt::format("say what it points to: ((struct file *){})->{}", name, expression.name));
    if (outer.elements != 0)
        fail(expression.mark, fmt::format("{} is a slice, whose elements aren't picked from", name),
             "name an element: [0], not [0:2]");
    if (!is_structure(*outer.types, *outer.type))
        fail(expression.mark,
             fmt::format("{} has no members: it is {}{}", name,
                         expression.arrow ? "a pointer to " : "",
                         type_text(*outer.types, *outer.type)),
             "members are those of structures and unions");

    const TypeId structure = defined(*outer.types, outer.type->id);
    const auto member = find_member(*outer.types, structure, expression.name);
    if (!member) {
        std::vector<std::string> names;
        for (const Member& known : named_members(*outer.types, structure))
            names.push_back(known.name);
        fail(expression.mark,
             fmt::format("{} has no member {}", type_text(*outer.types, *outer.type),
                         expression.name),
             names.empty() ? "its members aren't known"
                           : fmt::format("it has {}", nearest(names, expression.name)));
    }
    if (member->bits != 0 && outer.place == Place::words)
        fail(expression.mark, fmt::format("{} is passed in registers", name),
             "bits of a structure in registers can't be recorded");
    return inside(std::move(outer), *member);
}

Value Scope::inside(Value outer, const Member& member) {
    outer.type = CType{member.type, 0};
    if (outer.place == Place::words) {
        outer.offset += member.bit_offset / 8;
        return outer;
    }
    const std::uint64_t begin = first_byte(member, size_of(*outer.types, member.type));
    outer.chain.add(begin);
    outer.bits = member.bits;
    outer.bit_offset = static_cast<std::uint32_t>(member.bit_offset - 8 * begin);
    return outer;
}

Value Scope::element_value(const Expression& expression) const {
    const Expression& of = expression.operand.front();
    Value array = value(of);
    const bool is_list = array.type && array.place == Place::memory && array.elements == 0 &&
                         is_array(*array.types, *array.type);
    if (is_list) {
        const std::uint64_t count = plain(*array.types, array.type->id).count;
        const std::uint64_t last =
            expression.kind == Kind::slice ? expression.slice_end - 1 : expression.number.bits;
        if (count != 0 && (last >= count || expression.number.negative))
            fail(expression.mark, fmt::format("{} has {} elements", name_of(of, text_), count),
                 fmt::format("they are counted from 0: [{}] is the last", count - 1));
    }
    const Value first = is_list ? decayed(std::move(array)) : number(of, std::move(array));
    Value element = pointed(of, first);
    element.chain.add(expression.number.bits * size_of(*element.types, *element.type));
    if (expression.kind == Kind::slice)
        element.elements = expression.slice_end - expression.number.bits;
    return element;
}

Value Scope::dereferenced(const Expression& expression) const {
    const Expression& of = expression.operand.front();
    return pointed(of, number(of));
}

Value Scope::address_value(const Expression& expression) const {
    const Expression& of = expression.operand.front();
    Value place = value(of);
    if (place.place != Place::memory || place.bits != 0)
        fail(expression.mark,
             fmt::format("{} has no address: it {}", name_of(of, text_),
                         place.bits != 0 ? "is a bitfield" : "lies in no memory"),
             "members that -> leads to have one");
    place.place = Place::number;
    if (place.type)
        place.type->pointers++;
    // A pointer's type is known as such, and one more to it.
    place.elements = 0;
    return place;
}

CType Scope::find_type(const TypeName& name) const {
    if (name.name == "void" && name.pointers != 0)
        return {void_type, name.pointers};
    const auto kinds = [&]() -> std::vector<TypeKind> {
        switch (name.tag) {
        case TypeName::Tag::structure:
            return {TypeKind::structure};
        case TypeName::Tag::union_:
            return {TypeKind::union_};
        case TypeName::Tag::enumeration:
            return {TypeKind::enumeration};
        default:
            return {TypeKind::alias, TypeKind::integer};
        }
    }();
    if (known_.types == nullptr)
        fail(name.position, "no types are known",
             known_.why_none.empty() ? "this kernel has no BTF" : known_.why_none);
    const TypeId near = known_.function.value_or(void_type);
    for (const TypeKind kind : kinds)
        for (const std::string_view one :
             {std::string_view(name.name), clang_integer_name(name.name)})
            if (const auto found = known_.types->find(kind, one, near))
                return {*found, name.pointers};
    fail(name.position, fmt::format("there is no type {}", name.name),
         similar_types(name.name, kinds, near));
}

// What else it may be: a type of another kind, or one with another name.
std::string Scope::similar_types(const std::string& name, std::span<const TypeKind> wanted,
                                 TypeId near) const {
    struct Tag {
        TypeKind kind;
        std::string_view word;
    };
    constexpr std::array tags = std::to_array<Tag>({{TypeKind::structure, "struct "},
                                                    {TypeKind::union_, "union "},
                                                    {TypeKind::enumeration, "enum "},
                                                    {TypeKind::alias, ""},
                                                    {TypeKind::integer, ""}});
    for (const Tag& tag : tags)
        if (known_.types->find(tag.kind, name, near))
            return fmt::format("did you mean {}{}?", tag.word, name);
    std::vector<std::string> similar;
    for (const Tag& tag : tags)
        if (std::find(wanted.begin(), wanted.end(), tag.kind) != wanted.end())
            for (const std::string& one : known_.types->similar(tag.kind, name))
                similar.push_back(fmt::format("{}{}", tag.word, one));
    return similar.empty() ? "types are the kernel's: struct file, u32, size_t"
                           : fmt::format("did you mean {}?", fmt::join(similar, ", "));
}

Value Scope::cast_value(const Expression& expression) const {
    const CType type = find_type(expression.type);
    const Expression& of = expression.operand.front();
    Value made = number(of);
    if (!is_number(*known_.types, type))
        fail(expression.type.position,
             fmt::format("nothing can be made {}", type_text(*known_.types, type)),
             fmt::format("a pointer to it can: ({} *){}", type_text(*known_.types, {type.id, 0}),
                         name_of(of, text_)));
    const std::uint64_t size = size_of(*known_.types, type);
    if (!is_load_size(size))
        fail(expression.type.position, "a number has 1, 2, 4 or 8 bytes", "cast to one that has");
    if (type.pointers == 0 && plain(*known_.types, type.id).kind == TypeKind::boolean &&
        made.type && size_of(*made.types, *made.type) > 1)
        fail(expression.type.position, "only a byte can be made a bool", "compare it with 0");
    const bool same_size =
        made.type && size_of(*made.types, *made.type) == size &&
        is_signed_number(*made.types, *made.type) == is_signed_number(*known_.types, type);
    if (!same_size)
        made.chain.narrow(size, is_signed_number(*known_.types, type));
    made.type = type;
    made.types = known_.types;
    return made;
}

// With pointers as C does: in steps of what they point to.
Value Scope::calculated(const Expression& expression) const {
    const Expression& of = expression.operand.front();
    Value made = number(of);
    const std::uint64_t number = expression.number.bits;
    switch (expression.kind) {
    case Kind::add:
        if (made.type && is_pointer(*made.types, *made.type)) {
            const CType target = target_of(*made.types, *made.type);
            const std::uint64_t step = size_of(*made.types, target);
            made.chain.append(TL_OP_ADD, number * (step == 0 ? 1 : step));
            return made;
        }
        made.chain.append(TL_OP_ADD, number);
        break;
    case Kind::bits:
        made.chain.append(TL_OP_AND, number);
        if (!made.type || !makes_sign(*made.types, *made.type, number))
            return made;
        break;
    case Kind::shift_left:
        made.chain.append(TL_OP_SHL, number);
        break;
    default:
        made.chain.append(
            made.type && is_signed_number(*made.types, *made.type) ? TL_OP_SAR : TL_OP_SHR, number);
        return made;
    }
    // As wide as the type is, and no wider.
    if (made.type)
        made.chain.narrow(size_of(*made.types, *made.type),
                          is_signed_number(*made.types, *made.type));
    return made;
}

// ---- numbers

Value Scope::number(const Expression& expression) const {
    return number(expression, value(expression));
}

Value Scope::number(const Expression& expression, Value value) const {
    if (value.elements != 0)
        fail(expression.position, fmt::format("{} is no number", name_of(expression, text_)),
             value.type ? "a slice is several: name one, as in [0]"
                        : "it is a text, and can be compared with one");
    value = decayed(std::move(value));
    if (value.place == Place::number)
        return value;
    const Types& types = *value.types;
    const std::uint64_t size = size_of(types, *value.type);
    if (!is_number(types, *value.type) || !is_load_size(size)) {
        std::vector<std::string> names;
        const std::string name = name_of(expression, text_);
        if (is_structure(types, *value.type))
            for (const Member& known : named_members(types, defined(types, value.type->id)))
                names.push_back(known.name);
        fail(expression.mark,
             fmt::format("{} is no number, but {}", name, type_text(types, *value.type)),
             names.empty() ? "name what it consists of"
                           : fmt::format("name a member: {}", nearest(names, "")));
    }
    const bool is_signed = is_signed_number(types, *value.type);
    if (value.place == Place::words) {
        value.chain = Chain();
        const std::uint64_t shift = value.offset % word_size * 8;
        const tl_insn& word = value.words.at(value.offset / word_size);
        value.chain = Chain(static_cast<tl_op>(word.op), word.imm);
        if (shift != 0)
            value.chain.append(TL_OP_SHR, shift);
        value.chain.narrow(size, is_signed);
    } else if (value.bits == 0) {
        value.chain.load(size, is_signed);
    } else {
        // As many bytes as it takes, from the one where it begins.
        const std::uint32_t all = value.bit_offset + value.bits;
        const std::uint64_t bytes = bytes_for(all);
        if (all > 64)
            fail(expression.mark, "this bitfield spans nine bytes", "it can't be recorded");
        value.chain.load(bytes, false);
        value.chain.append(TL_OP_SHL, 64 - all);
        value.chain.append(is_signed ? TL_OP_SAR : TL_OP_SHR, 64 - value.bits);
    }
    value.bits = 0;
    value.place = Place::number;
    return value;
}

std::optional<Value> Scope::memory(const Expression& expression, Value value) const {
    if (value.place == Place::memory &&
        (value.elements != 0 || !value.type || !is_number(*value.types, *value.type)))
        return value;
    if (value.place == Place::words)
        return std::nullopt;
    value = number(expression, std::move(value));
    if (value.type && !is_pointer(*value.types, *value.type) &&
        size_of(*value.types, *value.type) != word_size)
        return std::nullopt;
    value.place = Place::memory;
    if (value.type && is_pointer(*value.types, *value.type))
        value.type = target_of(*value.types, *value.type);
    else
        value.type = std::nullopt;
    return value;
}

} // namespace trapline
