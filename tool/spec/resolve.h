// SPDX-License-Identifier: GPL-2.0
// Finds the place in the running kernel that a probe means, or says why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "spec/probe_spec.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"
#include "types/type.h"

namespace trapline {

struct ResolvedProbe {
    std::string symbol; // for the module: "symbol" or "module:symbol"
    std::uint64_t offset = 0;
    std::uint64_t address = 0;       // where the trap goes, offset included; 0: hidden
    std::uint64_t function_size = 0; // 0: unknown
    std::string module;              // empty: the kernel image
    std::string function;
    bool only = true;                          // no other function of its module has this name
    std::optional<std::uint64_t> file_address; // of the function in a file of `types`, if needed
};

// Of a PROBE that gives an address, the same with the function and the offset that it is; others
// as they are. Throws as resolve() does.
ProbeSpec located(const ProbeSpec& spec, const Kallsyms& kallsyms);

// Of one function: neither a pattern nor an address. `types`: where the source's lines are known
// from, if they are. Throws Error naming the probe, what is wrong, and the way out.
ResolvedProbe resolve(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
                      TypeSource* types = nullptr);

// Of a PROBE whose module isn't there: "did you mean ...? ", or nothing.
std::string similar_places(const ProbeSpec& spec, const Kallsyms& kallsyms);

} // namespace trapline
