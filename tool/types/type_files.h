// SPDX-License-Identifier: GPL-2.0
// Types from files that were named, instead of the running kernel's own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "types/kernel_build.h"
#include "types/type.h"

namespace trapline {

// At most one of them has names.
struct TypeFiles {
    std::vector<std::string> btf;     // BTF, or ELF with it: one of the kernel, others of modules
    std::vector<std::string> vmlinux; // ELF with DWARF: a vmlinux, modules' .ko

    bool empty() const { return btf.empty() && vmlinux.empty(); }
};

class FileTypes : public TypeSource {
public:
    // Of the files, as far as they know it.
    virtual std::vector<KernelBuild> builds() const = 0;
};

// Error for files that can't be used, or are of other builds than what runs; `sys`: where sysfs
// is; empty: whatever they are of.
std::unique_ptr<FileTypes> open_types(const TypeFiles& files, const std::string& sys = "/sys");

// The files', or the running kernel's own where none are named.
std::unique_ptr<TypeSource> types_of_files(const TypeFiles& files);

} // namespace trapline
