// SPDX-License-Identifier: GPL-2.0
// Which build of a kernel or of a module something belongs to.
#pragma once

#include <string>

namespace trapline {

struct KernelBuild {
    std::string module;  // empty: the kernel image
    std::string release; // "6.1.0-18-amd64"; empty: unknown
    std::string id;      // of the linker, hexadecimal digits; empty: unknown
};

// What runs. `sys`: where sysfs is.
KernelBuild running_build(const std::string& module, const std::string& sys = "/sys");

// Of an ELF file: a vmlinux, or a module's .ko, also one of its debug information alone.
KernelBuild build_of_file(const std::string& path);

// Error, with the way out, unless `build` is the one that runs, as far as both are known.
void check_runs(const KernelBuild& build, const std::string& path, const std::string& sys = "/sys");

} // namespace trapline
