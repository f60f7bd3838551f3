// SPDX-License-Identifier: GPL-2.0
// Asks of types all that a probe may ask, whatever they are.
#pragma once

#include <vector>

#include "fuzz.h"
#include "types/abi.h"
#include "types/declaration.h"
#include "types/type.h"
#include "util/error.h"

namespace trapline::fuzz {

// What is damaged is told by an Error, and by nothing else.
template <class Ask>
bool holds(Ask&& ask) {
    try {
        ask();
        return true;
    } catch (const Error& error) {
        MUST(error.what()[0] != '\0');
        return false;
    }
}

inline void check_members(const Type& type) {
#ifdef TL_PLANTED_BUG
    const std::vector<char> table(8); // enough for the bitfields of all seeds
    for (const Member& member : type.members)
        MUST(table.data()[member.bits] == 0);
#endif
    for (const Member& member : type.members) {
        MUST(member.bits <= 64);
        MUST(member.bit_offset + member.bits <= type.size * 8);
    }
}

inline void walk(const Types& types, TypeId id) {
    holds([&] {
        const Type& type = types.at(id);
        MUST(&types.at(id) == &type);
        check_members(type);
        for (const char c : type.name)
            MUST(c >= ' ' && c <= '~');
        if (type.kind == TypeKind::function)
            for (const Abi abi : {Abi::x86_64, Abi::aarch64, Abi::riscv64})
                holds([&] {
                    MUST(call_places(types, type, abi).arguments.size() == type.parameters.size());
                });
    });
    holds([&] { size_of(types, id); });
    holds([&] { is_character(types, id); });
    holds([&] { declaration(types, id, "name"); });
}

inline void find_all(const Types& types, TypeId near) {
    for (const TypeKind kind : {TypeKind::structure, TypeKind::union_, TypeKind::enumeration,
                                TypeKind::alias, TypeKind::integer})
        for (const char* name : {"file", "int", "mode", "u8", "nothing"})
            holds([&] {
                if (const auto found = types.find(kind, name, near))
                    walk(types, *found);
            });
}

} // namespace trapline::fuzz
