// SPDX-License-Identifier: GPL-2.0
// Types from BTF, which the kernel carries for itself and its modules.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "types/type.h"

struct btf;

namespace trapline {

class BtfTypes : public Types {
public:
    // `bytes`: as in /sys/kernel/btf. `base`: the kernel's, for a module's; must outlive it. Error,
    // beginning with `name`, for what is no BTF.
    BtfTypes(std::span<const std::byte> bytes, const BtfTypes* base, std::string name);

    const Type& at(TypeId id) const override;
    std::optional<TypeId> function(std::string_view name) const override;
    std::optional<TypeId> find(TypeKind kind, std::string_view name,
                               TypeId near = void_type) const override;
    std::vector<std::string> similar(TypeKind kind, std::string_view name) const override;

private:
    struct Free {
        void operator()(btf* graph) const;
    };

    Type decode(TypeId id) const;
    void index_functions() const;
    std::string name_at(std::uint32_t offset) const;
    [[noreturn]] void fail(TypeId id, std::string_view why) const;

    std::string name_;
    const BtfTypes* base_;
    std::unique_ptr<btf, Free> btf_;
    TypeId first_ = 1; // that isn't the base's
    mutable std::unordered_map<TypeId, Type> decoded_;
    mutable std::unordered_map<std::string_view, TypeId> functions_; // 0: several that differ
    mutable bool indexed_ = false;
};

// The running kernel's own. Each file is read when it is first needed.
class KernelBtf : public TypeSource {
public:
    explicit KernelBtf(std::string directory = "/sys/kernel/btf");

    const Types* types_of(const std::string& module, std::string& why_none) override;

private:
    struct File {
        std::unique_ptr<BtfTypes> types;
        std::string why_none;
    };

    const File& file(const std::string& name, const BtfTypes* base);

    std::string directory_;
    std::map<std::string, File> files_;
};

} // namespace trapline
