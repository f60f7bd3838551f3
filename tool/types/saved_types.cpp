// SPDX-License-Identifier: GPL-2.0
// What was asked of types and source lines, and answered.
#include "types/saved_types.h"

#include <fmt/format.h>

#include "util/error.h"

namespace trapline {

namespace {

// What a map has for a key; else `none`.
template <class Map, class Key, class Value>
Value look_up(const Map& map, const Key& key, Value none) {
    const auto known = map.find(key);
    return known == map.end() ? none : known->second;
}

class SavingTypes : public Types {
public:
    SavingTypes(const Types& types, SavedTypes& into) : types_(types), into_(into) {}

    const Type& at(TypeId id) const override {
        const Type& type = types_.at(id);
        into_.types.emplace(id, type);
        return type;
    }

    std::optional<TypeId> function(std::string_view name) const override {
        return into_.functions[std::string(name)] = whole(types_.function(name));
    }

    std::optional<TypeId> function_at(std::uint64_t address) const override {
        return into_.functions_at[address] = whole(types_.function_at(address));
    }

    std::optional<TypeId> find(TypeKind kind, std::string_view name, TypeId near) const override {
        return into_.found[{kind, std::string(name), near}] = types_.find(kind, name, near);
    }

    std::vector<std::string> similar(TypeKind kind, std::string_view name) const override {
        return types_.similar(kind, name);
    }

private:
    // A function's type comes with it, though it may not be looked at.
    std::optional<TypeId> whole(std::optional<TypeId> function) const {
        if (function)
            at(*function);
        return function;
    }

    const Types& types_;
    SavedTypes& into_;
};

class SavingLines : public SourceLines {
public:
    SavingLines(const SourceLines& lines, SavedLines& into) : lines_(lines), into_(into) {}

    std::vector<SourcePlace> functions(std::string_view name) const override {
        return into_.by_name[std::string(name)] = lines_.functions(name);
    }

    std::vector<SourcePlace> places(std::string_view file, unsigned line) const override {
        return into_.by_file[{std::string(file), line}] = lines_.places(file, line);
    }

    std::vector<SourcePlace> places(const SourcePlace& function, unsigned line) const override {
        return into_.by_function[{function.address, line}] = lines_.places(function, line);
    }

    Near near(std::string_view file, unsigned line) const override {
        return lines_.near(file, line);
    }
    Near near(const SourcePlace& function, unsigned line) const override {
        return lines_.near(function, line);
    }
    bool has_file(std::string_view file) const override { return lines_.has_file(file); }
    std::vector<std::string> clones(std::string_view name) const override {
        return lines_.clones(name);
    }
    std::optional<Inlined> inlined(std::string_view name) const override {
        return lines_.inlined(name);
    }

    // A few will do: one that the kernel has is enough.
    std::vector<SourceAnchor> anchors(std::uint64_t address) const override {
        constexpr std::size_t most = 16;
        std::vector<SourceAnchor> all = lines_.anchors(address);
        if (all.size() > most)
            all.resize(most);
        return into_.anchored[address] = all;
    }

private:
    const SourceLines& lines_;
    SavedLines& into_;
};

} // namespace

const Type& SavedTypes::at(TypeId id) const {
    static const Type nothing;
    if (id == void_type)
        return nothing;
    const auto known = types.find(id);
    if (known == types.end())
        throw Error(fmt::format("the compiled probes have no type {}: it wasn't needed where they "
                                "were compiled",
                                id),
                    "compile them again, with this version of trapline");
    return known->second;
}

std::optional<TypeId> SavedTypes::function(std::string_view name) const {
    return look_up(functions, name, std::optional<TypeId>());
}

std::optional<TypeId> SavedTypes::function_at(std::uint64_t address) const {
    return look_up(functions_at, address, std::optional<TypeId>());
}

std::optional<TypeId> SavedTypes::find(TypeKind kind, std::string_view name, TypeId near) const {
    return look_up(found, Wanted(kind, name, near), std::optional<TypeId>());
}

std::vector<SourcePlace> SavedLines::functions(std::string_view name) const {
    return look_up(by_name, name, Places());
}

std::vector<SourcePlace> SavedLines::places(std::string_view file, unsigned line) const {
    return look_up(by_file, std::pair(std::string(file), line), Places());
}

std::vector<SourcePlace> SavedLines::places(const SourcePlace& function, unsigned line) const {
    return look_up(by_function, std::pair(function.address, line), Places());
}

std::vector<SourceAnchor> SavedLines::anchors(std::uint64_t address) const {
    return look_up(anchored, address, std::vector<SourceAnchor>());
}

const Types* SavedSource::types_of(const std::string& module, std::string& why_none) {
    const auto found = images_.find(module);
    if (found != images_.end())
        return &found->second.types;
    why_none = "none were compiled in";
    return nullptr;
}

const SourceLines* SavedSource::lines_of(const std::string& module, std::string& why_none) {
    const auto found = images_.find(module);
    if (found != images_.end() && found->second.lines)
        return found->second.lines.get();
    why_none = "no lines were compiled in";
    return nullptr;
}

std::vector<std::string> SavedSource::modules_with_lines() const {
    std::vector<std::string> modules;
    for (const auto& [module, image] : images_)
        if (image.lines)
            modules.push_back(module);
    return modules;
}

const Types* SavingSource::types_of(const std::string& module, std::string& why_none) {
    const Types* types = source_.types_of(module, why_none);
    if (types == nullptr)
        return nullptr;
    auto& saving = types_[module];
    if (!saving)
        saving = std::make_unique<SavingTypes>(*types, images_[module].types);
    return saving.get();
}

const SourceLines* SavingSource::lines_of(const std::string& module, std::string& why_none) {
    const SourceLines* lines = source_.lines_of(module, why_none);
    if (lines == nullptr)
        return nullptr;
    auto& saving = lines_[module];
    if (!saving) {
        SavedImage& image = images_[module];
        auto saved = std::make_shared<SavedLines>();
        saving = std::make_unique<SavingLines>(*lines, *saved);
        image.lines = std::move(saved);
    }
    return saving.get();
}

} // namespace trapline
