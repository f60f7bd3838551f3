// SPDX-License-Identifier: GPL-2.0
// How values of C's types are recorded and shown.
#include "spec/typed_field.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace trapline {

namespace {

constexpr unsigned depth_max = 8;

bool is_number_size(std::uint64_t size) {
    return size == 1 || size == 2 || size == 4 || size == 8;
}

// What is no count, by its name: the nearest typedef's, or the type's own. unsigned long is what
// the kernel keeps addresses and flags in.
bool is_hex_name(std::string_view name) {
    constexpr std::array<std::string_view, 6> names{
        "unsigned long", "long unsigned int", "uintptr_t", "gfp_t", "fmode_t", "resource_size_t"};
    return std::find(names.begin(), names.end(), name) != names.end() || name.ends_with("addr_t") ||
           name.ends_with("flags_t");
}

// The name of the nearest typedef, or the type's own.
const std::string& shown_name(const Types& types, TypeId id) {
    return unqualified(types, id).name;
}

} // namespace

std::shared_ptr<const Enumeration> TypedFields::enumeration(const Types& types, TypeId id) {
    std::shared_ptr<const Enumeration>& known = enumerations_[{&types, id}];
    if (known)
        return known;
    const Type& type = types.at(id);
    auto made = std::make_shared<Enumeration>();
    made->name = type.name;
    made->is_signed = type.is_signed;
    for (const Enumerator& enumerator : type.enumerators)
        if (!enumerator.name.empty())
            made->values.push_back({enumerator.name, enumerator.value});
    known = std::move(made);
    return known;
}

std::optional<Field> TypedFields::number(const Types& types, TypeId id, std::string name) {
    id = inner_id(types, id);
    const TypeId bare = plain_id(types, id);
    const Type& type = types.at(bare);
    const std::uint64_t size = size_of(types, bare);
    if (!is_number_size(size))
        return std::nullopt;
    Field field{.name = std::move(name), .size = static_cast<std::uint8_t>(size)};
    switch (type.kind) {
    case TypeKind::integer:
        if (type.is_signed)
            field.form = NumberForm::signed_;
        else
            field.form =
                is_hex_name(shown_name(types, id)) ? NumberForm::hex : NumberForm::unsigned_;
        return field;
    case TypeKind::boolean:
        field.form = NumberForm::boolean;
        return field;
    case TypeKind::pointer:
        field.form = NumberForm::pointer;
        return field;
    case TypeKind::enumeration:
        field.form = NumberForm::enumeration;
        field.enumeration = enumeration(types, bare);
        return field;
    case TypeKind::structure:
    case TypeKind::union_:
        field.form = NumberForm::hex;
        return field;
    default:
        return std::nullopt;
    }
}

TypeId inner_id(const Types& types, TypeId id) {
    for (unsigned depth = 0; depth < depth_max; depth++) {
        const Type& type = plain(types, id);
        if ((type.kind != TypeKind::structure && type.kind != TypeKind::union_) ||
            type.members.size() != 1)
            break;
        const Member& only = type.members.front();
        if (only.bits != 0 || only.bit_offset != 0 || size_of(types, only.type) != type.size)
            break;
        id = only.type;
    }
    return id;
}

bool points_to_text(const Types& types, TypeId id) {
    const Type& type = plain(types, id);
    return type.kind == TypeKind::pointer && is_character(types, type.target);
}

} // namespace trapline
