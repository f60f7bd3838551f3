// SPDX-License-Identifier: GPL-2.0
// Compiled probes: PROBEs and all that types and source lines said about them, for a kernel that
// has neither. A file of JSON with a sum.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "types/kernel_build.h"
#include "types/saved_types.h"
#include "types/type_files.h"

namespace trapline {

struct ProbeSet {
    std::vector<std::string> probes; // as typed
    std::vector<KernelBuild> builds; // what they were compiled for: the kernel, modules
    SavedImages images;
};

struct CompiledSet {
    ProbeSet set;
    std::vector<std::string> notes; // lines: whose types aren't known
};

// Error, naming the PROBE, for what isn't there, or can't be recorded.
CompiledSet compile_set(const std::vector<std::string>& probes, FileTypes& types);

std::string set_text(const ProbeSet& set);

// Error, beginning with `name`, for what is no such text, or damaged, or of another version.
ProbeSet parse_set(std::string_view text, const std::string& name);
ProbeSet read_set(const std::string& path);

// Error unless it was compiled for the kernel that runs, and the modules; `sys`: where sysfs is.
void check_set(const ProbeSet& set, const std::string& name, const std::string& sys = "/sys");

} // namespace trapline
