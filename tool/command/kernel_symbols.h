// SPDX-License-Identifier: GPL-2.0
// The running kernel's symbols, with the addresses that /proc/kallsyms may hide.
#pragma once

#include <boost/program_options.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/kallsyms.h"

namespace trapline {

// --system-map
void add_system_map_option(boost::program_options::options_description& options);
std::string system_map(const boost::program_options::variables_map& given);

// Those of /proc/kallsyms. Where it hides addresses, the kernel image's are those of the file
// `system_map`, if one is named, moved by what a session tells of some functions: their traps are
// set and lifted for that. Error for a file that isn't the running kernel's; `say` is told of one
// that isn't needed.
Kallsyms kernel_symbols(const std::string& system_map,
                        const std::function<void(std::string_view)>& say);

// ---- the parts of it

// The file itself; Error for what holds no symbols.
Kallsyms open_system_map(const std::string& path);

struct Anchor {
    std::string name;          // of a function that no other has the name of
    std::uint64_t address = 0; // by the file
};

// Some that lie far apart in the kernel's text.
std::vector<Anchor> choose_anchors(const Kallsyms& map, const Kallsyms& kallsyms,
                                   const std::function<bool(std::string_view)>& excluded);

// By how much all of them were moved to where they are; Error if that isn't the same.
std::uint64_t slide_of(std::span<const Anchor> anchors, std::span<const std::uint64_t> addresses);

} // namespace trapline
