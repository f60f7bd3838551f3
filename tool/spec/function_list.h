// SPDX-License-Identifier: GPL-2.0
// The kernel's functions: which of them can be probed, and why the others can't.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "spec/obstacle.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"

namespace trapline {

// [MODULE:]GLOB
struct FunctionGlob {
    std::string module; // empty: wherever they are; "kernel" or "vmlinux": the kernel image
    std::string name;   // as fnmatch() takes it
};

// What is left of a pattern when its wildcards are gone: for who looks for what was meant.
std::string plain_part(std::string_view glob);

FunctionGlob parse_function_glob(std::string_view text);

// The symbols that list_functions() looks at for `glob`: most others aren't kept.
Kallsyms load_symbols(const FunctionGlob& glob, const std::string& path = "/proc/kallsyms");

struct FunctionCount {
    std::size_t probed = 0; // that can be
    std::size_t refused = 0;
};

// Visits the functions that match, by address.
using VisitFunction = std::function<void(const NumberedFunction& function, Obstacle obstacle)>;

FunctionCount list_functions(const FunctionGlob& glob, const Kallsyms& kallsyms,
                             const Blacklist& blacklist, const VisitFunction& visit);

} // namespace trapline
