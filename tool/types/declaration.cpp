// SPDX-License-Identifier: GPL-2.0
// Types as C writes them.
#include "types/declaration.h"

#include <fmt/format.h>

namespace trapline {

namespace {

constexpr unsigned depth_max = 16;

std::string tagged(const char* tag, const Type& type) {
    return fmt::format("{} {}", tag, type.name.empty() ? "{...}" : type.name);
}

// What stands before a declarator.
std::string base_text(const Type& type) {
    switch (type.kind) {
    case TypeKind::structure:
    case TypeKind::forward:
        return tagged("struct", type);
    case TypeKind::union_:
        return tagged("union", type);
    case TypeKind::enumeration:
        return tagged("enum", type);
    case TypeKind::none:
        return "void";
    default:
        return type.name;
    }
}

class Declaration {
public:
    explicit Declaration(const Types& types) : types_(types) {}

    std::string text(TypeId id, std::string inner, unsigned depth = 0) const {
        if (depth > depth_max)
            return "...";
        const Type& type = types_.at(id);
        switch (type.kind) {
        case TypeKind::pointer:
            inner.insert(0, "*");
            if (is_behind(type.target, depth))
                inner = fmt::format("({})", inner);
            return text(type.target, std::move(inner), depth + 1);
        case TypeKind::array:
            inner += type.count == 0 ? "[]" : fmt::format("[{}]", type.count);
            return text(type.target, std::move(inner), depth + 1);
        case TypeKind::function:
            return text(type.target, inner + parameters(type, depth), depth + 1);
        case TypeKind::qualifier:
            return qualified(type, std::move(inner), depth);
        default:
            return inner.empty() ? base_text(type) : fmt::format("{} {}", base_text(type), inner);
        }
    }

private:
    // Whether it is written behind the name: arrays and functions.
    bool is_behind(TypeId id, unsigned depth) const {
        const Type* type = &types_.at(id);
        for (; type->kind == TypeKind::qualifier && depth < depth_max; depth++)
            type = &types_.at(type->target);
        return type->kind == TypeKind::array || type->kind == TypeKind::function;
    }

    // A pointer's is behind its star.
    std::string qualified(const Type& type, std::string inner, unsigned depth) const {
        if (type.qualifier != Qualifier::constant)
            return text(type.target, std::move(inner), depth + 1);
        if (types_.at(type.target).kind == TypeKind::pointer)
            return text(type.target, inner.empty() ? "const" : "const " + inner, depth + 1);
        return "const " + text(type.target, std::move(inner), depth + 1);
    }

    std::string parameters(const Type& function, unsigned depth) const {
        std::string list;
        for (const Parameter& parameter : function.parameters)
            list += (list.empty() ? "" : ", ") + text(parameter.type, parameter.name, depth + 1);
        if (function.variadic)
            list += list.empty() ? "..." : ", ...";
        return fmt::format("({})", list.empty() ? "void" : list);
    }

    const Types& types_;
};

} // namespace

std::string declaration(const Types& types, TypeId id, const std::string& name) {
    return Declaration(types).text(id, name);
}

} // namespace trapline
