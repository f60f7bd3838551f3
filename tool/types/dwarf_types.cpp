// SPDX-License-Identifier: GPL-2.0
// Types from DWARF. libdw holds what it reads inside of the sections; what that says is checked
// here.
#include "types/dwarf_types.h"

#include <dwarf.h>
#include <fmt/format.h>
#include <limits>

#include "util/error.h"

namespace trapline {

namespace {

// A name from anywhere is printed, and written into metadata.
std::string name_of(Dwarf_Die& die) {
    const char* text = dwarf_diename(&die);
    std::string name = text == nullptr ? "" : text;
    for (char& c : name)
        if (c < ' ' || c > '~')
            c = '?';
    return name;
}

std::optional<std::uint64_t> number(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute at{};
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(&die, attribute, &at) == nullptr || dwarf_formudata(&at, &value) != 0)
        return std::nullopt;
    return value;
}

bool flag(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute at{};
    bool set = false;
    return dwarf_attr_integrate(&die, attribute, &at) != nullptr &&
           dwarf_formflag(&at, &set) == 0 && set;
}

// Of one element; none: it isn't said, as of the last member of a structure.
std::uint64_t elements(Dwarf_Die& subrange) {
    if (const auto count = number(subrange, DW_AT_count))
        return *count;
    const auto last = number(subrange, DW_AT_upper_bound);
    constexpr std::uint64_t none = std::numeric_limits<std::uint32_t>::max(); // "-1"
    return last && *last < none ? *last + 1 : 0;
}

// Two's complement. Compilers write those that are negative in a form for such.
std::uint64_t enumerator_value(Dwarf_Die& die, bool& negative) {
    Dwarf_Attribute at{};
    if (dwarf_attr(&die, DW_AT_const_value, &at) == nullptr)
        return 0;
    const unsigned form = dwarf_whatform(&at);
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        Dwarf_Sword value = 0;
        dwarf_formsdata(&at, &value);
        negative = negative || value < 0;
        return static_cast<std::uint64_t>(value);
    }
    Dwarf_Word value = 0;
    dwarf_formudata(&at, &value);
    return value;
}

std::optional<TypeKind> named_kind(int tag) {
    switch (tag) {
    case DW_TAG_structure_type:
        return TypeKind::structure;
    case DW_TAG_union_type:
        return TypeKind::union_;
    case DW_TAG_enumeration_type:
        return TypeKind::enumeration;
    case DW_TAG_typedef:
        return TypeKind::alias;
    case DW_TAG_base_type:
        return TypeKind::integer;
    default:
        return std::nullopt;
    }
}

} // namespace

TypeId DwarfTypes::id_of(Dwarf_Die& die) const {
    const DieOffset offset = dwarf_dieoffset(&die);
    if (offset == 0 || offset > std::numeric_limits<TypeId>::max())
        file_.fail(offset, "lies beyond what is understood");
    return static_cast<TypeId>(offset);
}

// void is what isn't there.
TypeId DwarfTypes::target(Dwarf_Die& die) const {
    Dwarf_Attribute at{};
    Dwarf_Die referred{};
    if (dwarf_attr_integrate(&die, DW_AT_type, &at) == nullptr)
        return void_type;
    if (dwarf_whatform(&at) == DW_FORM_GNU_ref_alt || dwarf_whatform(&at) == DW_FORM_ref_sup4 ||
        dwarf_whatform(&at) == DW_FORM_ref_sup8 || dwarf_whatform(&at) == DW_FORM_ref_sig8)
        file_.fail(dwarf_dieoffset(&die), "has a type in another file or section, which isn't "
                                          "understood");
    if (dwarf_formref_die(&at, &referred) == nullptr)
        file_.fail(dwarf_dieoffset(&die), "has a type that is not there");
    return id_of(referred);
}

const Type& DwarfTypes::at(TypeId id) const {
    const auto known = decoded_.find(id);
    if (known != decoded_.end())
        return known->second;
    Type type = decode(id);
    return decoded_.emplace(id, std::move(type)).first->second;
}

void DwarfTypes::decode_base(Type& type, Dwarf_Die& die) const {
    switch (number(die, DW_AT_encoding).value_or(0)) {
    case DW_ATE_boolean:
        type.kind = TypeKind::boolean;
        break;
    case DW_ATE_float:
    case DW_ATE_complex_float:
    case DW_ATE_decimal_float:
        type.kind = TypeKind::floating;
        break;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        type.is_signed = true;
        [[fallthrough]];
    default:
        type.kind = TypeKind::integer;
        break;
    }
}

// Dimensions behind the first are arrays of their own here: known by the DIE of their range.
void DwarfTypes::decode_array(Type& type, Dwarf_Die& die) const {
    std::vector<std::pair<TypeId, std::uint64_t>> dimensions;
    file_.each_child(die, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) == DW_TAG_subrange_type)
            dimensions.emplace_back(id_of(child), elements(child));
        return true;
    });
    TypeId inner = target(die);
    for (std::size_t i = dimensions.size(); i-- > 0;) {
        const auto [id, count] = dimensions[i];
        if (count > std::numeric_limits<std::uint32_t>::max())
            file_.fail(id, "has more elements than memory");
        Type array;
        array.kind = TypeKind::array;
        array.target = inner;
        array.count = static_cast<std::uint32_t>(count);
        if (i == 0) {
            type = std::move(array);
            return;
        }
        decoded_.emplace(id, std::move(array));
        inner = id;
    }
    type.kind = TypeKind::array;
    type.target = inner;
}

// Before DWARF 4 those of bitfields were counted from the other end of where they lie.
std::uint64_t DwarfTypes::bit_offset(Dwarf_Die& die, std::uint64_t bits, TypeId type) const {
    constexpr std::uint64_t far = std::numeric_limits<std::uint32_t>::max();
    if (const auto offset = number(die, DW_AT_data_bit_offset))
        return *offset;
    const std::uint64_t bytes = number(die, DW_AT_data_member_location).value_or(0);
    const auto from_above = number(die, DW_AT_bit_offset);
    if (bytes > far)
        return far * 8;
    if (!from_above)
        return bytes * 8;
    const std::uint64_t unit = number(die, DW_AT_byte_size).value_or(0);
    const std::uint64_t size = (unit != 0 ? unit : size_of(*this, type)) * 8;
    if (*from_above + bits > size)
        file_.fail(dwarf_dieoffset(&die), "has bits outside of itself");
    return bytes * 8 + size - *from_above - bits;
}

Member DwarfTypes::decode_member(Dwarf_Die& die) const {
    Member member;
    member.name = name_of(die);
    member.type = target(die);
    const std::uint64_t bits = number(die, DW_AT_bit_size).value_or(0);
    if (bits > 64)
        file_.fail(dwarf_dieoffset(&die), "is a bitfield of more than 64 bits");
    member.bits = static_cast<std::uint32_t>(bits);
    member.bit_offset = bit_offset(die, bits, member.type);
    return member;
}

void DwarfTypes::decode_members(Type& type, Dwarf_Die& die) const {
    file_.each_child(die, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) != DW_TAG_member)
            return true;
        type.members.push_back(decode_member(child));
        const Member& added = type.members.back();
        if (added.bit_offset / 8 > type.size || added.bit_offset + added.bits > type.size * 8)
            file_.fail(dwarf_dieoffset(&child), "is a member outside of its structure");
        return true;
    });
}

void DwarfTypes::decode_enumerators(Type& type, Dwarf_Die& die) const {
    file_.each_child(die, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) == DW_TAG_enumerator)
            type.enumerators.push_back({name_of(child), enumerator_value(child, type.is_signed)});
        return true;
    });
}

// Of an inlined function's own copy, the parameters are told where it was written.
void DwarfTypes::decode_function(Type& type, Dwarf_Die& die) const {
    type.kind = TypeKind::function;
    type.target = target(die);
    type.name.clear();
    Dwarf_Attribute at{};
    Dwarf_Die origin = die;
    if (dwarf_attr(&die, DW_AT_abstract_origin, &at) != nullptr &&
        dwarf_formref_die(&at, &origin) == nullptr)
        file_.fail(dwarf_dieoffset(&die), "has an origin that is not there");
    file_.each_child(origin, [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) == DW_TAG_formal_parameter)
            type.parameters.push_back({name_of(child), target(child)});
        else if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
            type.variadic = true;
        return true;
    });
}

Type DwarfTypes::decode(TypeId id) const {
    Type type;
    if (id == void_type)
        return type;
    Dwarf_Die die = file_.die(id);
    type.name = name_of(die);
    type.size = number(die, DW_AT_byte_size).value_or(0);
    if (type.size > std::numeric_limits<std::uint32_t>::max())
        file_.fail(id, "is larger than memory");
    const int tag = dwarf_tag(&die);
    switch (tag) {
    case DW_TAG_base_type:
        decode_base(type, die);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
        type.kind = TypeKind::pointer;
        type.size = 8;
        type.target = target(die);
        break;
    case DW_TAG_array_type:
        decode_array(type, die);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
        if (flag(die, DW_AT_declaration)) {
            type.kind = TypeKind::forward;
        } else if (tag == DW_TAG_enumeration_type) {
            type.kind = TypeKind::enumeration;
            decode_enumerators(type, die);
        } else {
            type.kind = tag == DW_TAG_union_type ? TypeKind::union_ : TypeKind::structure;
            decode_members(type, die);
        }
        break;
    case DW_TAG_typedef:
        type.kind = TypeKind::alias;
        type.target = target(die);
        break;
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        type.kind = TypeKind::qualifier;
        type.qualifier = tag == DW_TAG_const_type ? Qualifier::constant : Qualifier::other;
        type.target = target(die);
        break;
    case DW_TAG_subroutine_type:
    case DW_TAG_subprogram:
        decode_function(type, die);
        break;
    case DW_TAG_unspecified_type:
        break;
    default:
        file_.fail(id, "is no type");
    }
    return type;
}

// Compiler clones have names of their own, and arguments that differ.
std::optional<TypeId> DwarfTypes::function(std::string_view name) const {
    std::optional<TypeId> found;
    for (const DwarfSymbol* symbol : file_.symbols(name)) {
        const auto function = function_at(symbol->address);
        if (!function)
            continue;
        Dwarf_Die die = file_.die(*function);
        if (name_of(die) != name)
            continue;
        if (found && *found != *function)
            return std::nullopt;
        found = function;
    }
    return found;
}

std::optional<TypeId> DwarfTypes::function_at(std::uint64_t address) const {
    const auto function = file_.function_at(address);
    if (!function)
        return std::nullopt;
    Dwarf_Die die = file_.die(*function);
    return id_of(die);
}

std::optional<TypeId> DwarfTypes::find_in(DieOffset unit, const Name& name) const {
    std::optional<TypeId> found;
    file_.each_child(file_.die(unit), [&](Dwarf_Die& child) {
        if (named_kind(dwarf_tag(&child)) != name.first)
            return true;
        const char* text = dwarf_diename(&child);
        if (text == nullptr || name.second != text || flag(child, DW_AT_declaration))
            return true;
        found = id_of(child);
        return false;
    });
    return found;
}

// That of the unit that asks, or else the first there is.
std::optional<TypeId> DwarfTypes::find(TypeKind kind, std::string_view name, TypeId near) const {
    const Name wanted(kind, name);
    if (near != void_type) {
        Dwarf_Die die = file_.die(near);
        Dwarf_Die unit{};
        if (dwarf_diecu(&die, &unit, nullptr, nullptr) != nullptr)
            if (const auto found = find_in(dwarf_dieoffset(&unit), wanted))
                return found;
    }
    const auto [known, fresh] = found_.try_emplace(wanted);
    if (!fresh)
        return known->second;
    for (const DieOffset unit : file_.units()) {
        known->second = find_in(unit, wanted);
        if (known->second)
            break;
    }
    return known->second;
}

} // namespace trapline
