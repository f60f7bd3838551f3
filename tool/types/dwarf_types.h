// SPDX-License-Identifier: GPL-2.0
// Types from DWARF. A type's number is where its DIE is in .debug_info.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "types/dwarf_file.h"
#include "types/type.h"

namespace trapline {

class DwarfTypes : public Types {
public:
    explicit DwarfTypes(const DwarfFile& file) : file_(file) {}

    const Type& at(TypeId id) const override;
    std::optional<TypeId> function(std::string_view name) const override;
    std::optional<TypeId> function_at(std::uint64_t address) const override;
    std::optional<TypeId> find(TypeKind kind, std::string_view name,
                               TypeId near = void_type) const override;

private:
    using Name = std::pair<TypeKind, std::string>;

    Type decode(TypeId id) const;
    void decode_base(Type& type, Dwarf_Die& die) const;
    void decode_array(Type& type, Dwarf_Die& die) const;
    void decode_members(Type& type, Dwarf_Die& die) const;
    Member decode_member(Dwarf_Die& die) const;
    std::uint64_t bit_offset(Dwarf_Die& die, std::uint64_t bits, TypeId type) const;
    void decode_enumerators(Type& type, Dwarf_Die& die) const;
    void decode_function(Type& type, Dwarf_Die& die) const;
    TypeId target(Dwarf_Die& die) const;
    TypeId id_of(Dwarf_Die& die) const;
    std::optional<TypeId> find_in(DieOffset unit, const Name& name) const;

    const DwarfFile& file_;
    mutable std::unordered_map<TypeId, Type> decoded_;
    mutable std::map<Name, std::optional<TypeId>> found_;
};

} // namespace trapline
