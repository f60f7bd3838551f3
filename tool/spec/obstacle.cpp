// SPDX-License-Identifier: GPL-2.0
// What keeps a probe out of a place, as far as that is known before the kernel is asked.
#include "spec/obstacle.h"

#include <algorithm>
#include <array>

namespace trapline {

namespace {

// Where the text, what boot gives back, and the text in that begin and end.
constexpr auto bounds = std::to_array<std::string_view>(
    {"_stext", "_etext", "__init_begin", "__init_end", "_sinittext", "_einittext"});

} // namespace

std::string_view obstacle_text(Obstacle obstacle) {
    switch (obstacle) {
    case Obstacle::none:
        break;
    case Obstacle::padding:
        return "padding before a function";
    case Obstacle::freed:
        return "ran at boot, and its memory was given back since";
    case Obstacle::outside_text:
        return "outside of the kernel's text";
    case Obstacle::blacklisted:
        return "blacklisted: handling a kprobe may need it";
    case Obstacle::cold_part:
        return "cold part of a function, jumped to and not called: its entry only, as kprobe:FUNC";
    }
    return {};
}

Obstacles::Span::Span(const Kallsyms& kallsyms, std::string_view first, std::string_view last) {
    const auto from = kallsyms.find(first, "kernel");
    const auto to = kallsyms.find(last, "kernel");
    if (from.empty() || to.empty())
        return;
    begin = from.front().address;
    end = to.front().address;
}

bool Obstacles::needs(std::string_view name) {
    return std::find(bounds.begin(), bounds.end(), name) != bounds.end();
}

// What boot gives back lies between the __init symbols, and holds what only unloading would need,
// too. They are data: without CONFIG_KALLSYMS_ALL only those around the text in it are known.
Obstacles::Obstacles(const Kallsyms& kallsyms, const Blacklist& blacklist)
    : blacklist_(blacklist), text_(kallsyms, bounds[0], bounds[1]),
      init_(kallsyms, bounds[2], bounds[3]), init_text_(kallsyms, bounds[4], bounds[5]) {}

Obstacle Obstacles::find(const Symbol& symbol, std::uint64_t address) const {
    if (symbol.is_padding())
        return Obstacle::padding;
    if (symbol.module.empty() && address != 0) {
        if (init_.holds(address) || init_text_.holds(address))
            return Obstacle::freed;
        if (text_.known() && !text_.holds(address))
            return Obstacle::outside_text;
    }
    if (blacklist_.find(address, symbol.name))
        return Obstacle::blacklisted;
    return symbol.is_cold_part() ? Obstacle::cold_part : Obstacle::none;
}

} // namespace trapline
