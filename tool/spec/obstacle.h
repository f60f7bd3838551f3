// SPDX-License-Identifier: GPL-2.0
// What keeps a probe out of a place, as far as that is known before the kernel is asked.
#pragma once

#include <cstdint>
#include <string_view>

#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"

namespace trapline {

enum class Obstacle {
    none,
    padding,
    freed, // after boot
    outside_text,
    blacklisted,
    cold_part, // for what a return belongs to; its entry can be probed
};

// A reason, for a list.
std::string_view obstacle_text(Obstacle obstacle);

class Obstacles {
public:
    // Both are kept by reference.
    Obstacles(const Kallsyms& kallsyms, const Blacklist& blacklist);

    // Whether the symbol of that name is needed in `kallsyms` for this.
    static bool needs(std::string_view name);

    // For a probe at `address`, which is in `symbol`; 0: hidden, and only names can tell.
    Obstacle find(const Symbol& symbol, std::uint64_t address) const;

private:
    // From one symbol of the kernel image to another; empty if one isn't known.
    struct Span {
        Span(const Kallsyms& kallsyms, std::string_view first, std::string_view last);
        bool known() const { return begin != end; }
        bool holds(std::uint64_t address) const { return address >= begin && address < end; }

        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };

    const Blacklist& blacklist_;
    Span text_;
    Span init_;
    Span init_text_;
};

} // namespace trapline
