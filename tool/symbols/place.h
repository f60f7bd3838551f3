// SPDX-License-Identifier: GPL-2.0
// What an address of the kernel's text belongs to, the pages that it makes at run time for
// ftrace, kprobes and BPF included: Kallsyms leaves those out, for nothing can be probed there.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace trapline {

struct Place {
    std::string symbol;
    std::string module;       // empty: the kernel image
    std::uint64_t offset = 0; // from the symbol

    // "ftrace_regs_caller+0x10", "kprobe_optinsn_page+0x20 [__builtin__kprobes]"
    std::string text() const;
};

// Reads /proc/kallsyms, as it is now, or another file of that form. None: the address is in no
// symbol, or addresses are hidden.
std::optional<Place> find_place(std::uint64_t address);
std::optional<Place> find_place(std::uint64_t address, std::istream& kallsyms);

} // namespace trapline
