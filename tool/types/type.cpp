// SPDX-License-Identifier: GPL-2.0
// Types of C, wherever they are known from.
#include "types/type.h"

#include <limits>

#include "util/error.h"

namespace trapline {

namespace {

// More than any programmer nests; a circle has no end.
constexpr unsigned depth_max = 64;

[[noreturn]] void fail_endless() {
    throw Error("the types are damaged: one consists of itself");
}

// Whether one of the qualifiers of a type, and not of what an alias stands for, is this one.
bool has_qualifier(const Types& types, TypeId id, Qualifier qualifier) {
    for (unsigned depth = 0; depth < depth_max; depth++) {
        const Type& type = types.at(id);
        if (type.kind != TypeKind::qualifier)
            return false;
        if (type.qualifier == qualifier)
            return true;
        id = type.target;
    }
    fail_endless();
}

} // namespace

const SourceLines* TypeSource::lines_of(const std::string& /*module*/, std::string& why_none) {
    why_none = "lines of the source are known from DWARF alone";
    return nullptr;
}

const Type& unqualified(const Types& types, TypeId id) {
    for (unsigned depth = 0; depth < depth_max; depth++) {
        const Type& type = types.at(id);
        if (type.kind != TypeKind::qualifier)
            return type;
        id = type.target;
    }
    fail_endless();
}

TypeId plain_id(const Types& types, TypeId id) {
    for (unsigned depth = 0; depth < depth_max; depth++) {
        const Type& type = types.at(id);
        if (type.kind != TypeKind::alias && type.kind != TypeKind::qualifier)
            return id;
        id = type.target;
    }
    fail_endless();
}

const Type& plain(const Types& types, TypeId id) {
    return types.at(plain_id(types, id));
}

std::uint64_t size_of(const Types& types, TypeId id) {
    std::uint64_t count = 1;
    for (unsigned depth = 0; depth < depth_max; depth++) {
        const Type& type = plain(types, id);
        if (type.kind != TypeKind::array) {
            if (count != 0 && type.size > std::numeric_limits<std::uint32_t>::max() / count)
                throw Error("the types are damaged: one is larger than memory");
            return type.size * count;
        }
        if (type.count != 0 && count > std::numeric_limits<std::uint32_t>::max() / type.count)
            throw Error("the types are damaged: one is larger than memory");
        count *= type.count;
        id = type.target;
    }
    fail_endless();
}

bool is_character(const Types& types, TypeId id) {
    const Type& type = unqualified(types, id);
    return type.kind == TypeKind::integer && type.size == 1 &&
           (type.name == "char" || type.name == "unsigned char" || type.name == "signed char");
}

bool is_constant(const Types& types, TypeId id) {
    return has_qualifier(types, id, Qualifier::constant);
}

bool is_user(const Types& types, TypeId id) {
    return has_qualifier(types, id, Qualifier::user);
}

} // namespace trapline
