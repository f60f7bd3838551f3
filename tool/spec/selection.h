// SPDX-License-Identifier: GPL-2.0
// All the places that a PROBE means: a name may be that of several functions, a pattern, or of
// one that the compiler made clones of.
#pragma once

#include <string>
#include <vector>

#include "spec/probe_spec.h"
#include "spec/resolve.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"

namespace trapline {

enum class Names : std::uint8_t {
    one,      // a name means one function, and no clones of it
    distinct, // and its clones; several functions of one name are an error
    all,      // and all functions of that name
};

// What if it can't be had.
enum class Need : std::uint8_t {
    must, // it is an error
    some, // one of the PROBE's must be; the others are left out, and that is said
    none, // it is left out, and that is said
};

struct SelectedProbe {
    ProbeSpec spec; // of this function alone: its name, and its number if others share the name
    ResolvedProbe place;
    Need need = Need::must;
};

struct Selection {
    std::vector<SelectedProbe> probes; // one at least
    std::vector<std::string> notes;    // lines: what was taken besides the name, or left out
};

// `types`: as for resolve(). Throws Error naming the probe, what is wrong, and the way out.
Selection select_probes(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
                        Names names, TypeSource* types = nullptr);

// "a, b, c and 7 more"
std::string few_names(const std::vector<std::string>& names);

} // namespace trapline
