// SPDX-License-Identifier: GPL-2.0
// Lists of CPUs as the kernel writes them.
#include "util/cpu_list.h"

#include <charconv>
#include <set>

namespace trapline {

namespace {

// A number at the text's beginning, which is taken off it.
std::optional<std::uint32_t> take_cpu(std::string_view& text) {
    std::uint32_t cpu = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
    if (error != std::errc{} || cpu >= cpus_most)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return cpu;
}

bool take(std::string_view& text, char c) {
    if (!text.starts_with(c))
        return false;
    text.remove_prefix(1);
    return true;
}

} // namespace

std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text) {
    if (text.ends_with('\n'))
        text.remove_suffix(1);
    std::set<std::uint32_t> cpus;
    do {
        const auto first = take_cpu(text);
        if (!first)
            return std::nullopt;
        const auto last = take(text, '-') ? take_cpu(text) : first;
        if (!last || *last < *first)
            return std::nullopt;
        for (std::uint32_t cpu = *first; cpu <= *last; cpu++)
            cpus.insert(cpu);
    } while (take(text, ','));
    if (!text.empty())
        return std::nullopt;
    return std::vector<std::uint32_t>(cpus.begin(), cpus.end());
}

} // namespace trapline
