// SPDX-License-Identifier: GPL-2.0
// What was asked of types and source lines, and answered: kept, it answers the same again where
// they themselves aren't.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "types/source_lines.h"
#include "types/type.h"

namespace trapline {

class SavedTypes : public Types {
public:
    const Type& at(TypeId id) const override; // Error: it was never asked for
    std::optional<TypeId> function(std::string_view name) const override;
    std::optional<TypeId> function_at(std::uint64_t address) const override;
    std::optional<TypeId> find(TypeKind kind, std::string_view name,
                               TypeId near = void_type) const override;

    using Wanted = std::tuple<TypeKind, std::string, TypeId>; // of find()
    std::map<TypeId, Type> types;
    std::map<std::string, std::optional<TypeId>, std::less<>> functions;
    std::map<std::uint64_t, std::optional<TypeId>> functions_at;
    std::map<Wanted, std::optional<TypeId>> found;
};

// Of places that were found: what has no code isn't told any more.
class SavedLines : public SourceLines {
public:
    std::vector<SourcePlace> functions(std::string_view name) const override;
    std::vector<SourcePlace> places(std::string_view file, unsigned line) const override;
    std::vector<SourcePlace> places(const SourcePlace& function, unsigned line) const override;
    Near near(std::string_view /*file*/, unsigned /*line*/) const override { return {}; }
    Near near(const SourcePlace& /*function*/, unsigned /*line*/) const override { return {}; }
    bool has_file(std::string_view /*file*/) const override { return true; }
    std::vector<SourceAnchor> anchors(std::uint64_t address) const override;

    using Places = std::vector<SourcePlace>;
    std::map<std::string, Places, std::less<>> by_name;
    std::map<std::pair<std::string, unsigned>, Places> by_file;
    std::map<std::pair<std::uint64_t, unsigned>, Places> by_function; // its address
    std::map<std::uint64_t, std::vector<SourceAnchor>> anchored;
};

// Of the kernel image or a module.
struct SavedImage {
    SavedTypes types;
    std::shared_ptr<const SavedLines> lines; // null: they weren't known
};

using SavedImages = std::map<std::string, SavedImage>; // by module

class SavedSource : public TypeSource {
public:
    explicit SavedSource(const SavedImages& images) : images_(images) {} // which must outlive it

    const Types* types_of(const std::string& module, std::string& why_none) override;
    const SourceLines* lines_of(const std::string& module, std::string& why_none) override;
    std::vector<std::string> modules_with_lines() const override;

private:
    const SavedImages& images_;
};

// Answers as `source` does, and keeps what it answered.
class SavingSource : public TypeSource {
public:
    explicit SavingSource(TypeSource& source) : source_(source) {}

    const Types* types_of(const std::string& module, std::string& why_none) override;
    const SourceLines* lines_of(const std::string& module, std::string& why_none) override;
    std::vector<std::string> modules_with_lines() const override {
        return source_.modules_with_lines();
    }

    SavedImages take() { return std::move(images_); }

private:
    TypeSource& source_;
    SavedImages images_;
    std::map<std::string, std::unique_ptr<Types>> types_;
    std::map<std::string, std::unique_ptr<SourceLines>> lines_;
};

} // namespace trapline
