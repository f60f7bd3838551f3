// SPDX-License-Identifier: GPL-2.0
// The functions that the kernel never lets kprobes into: debugfs's kprobes/blacklist.
#include "symbols/blacklist.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <numeric>

namespace trapline {

namespace {

// Takes "0x" and hexadecimal digits off the front of `text`.
std::optional<std::uint64_t> take_address(std::string_view& text) {
    if (!text.starts_with("0x"))
        return std::nullopt;
    text.remove_prefix(2);
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    if (error != std::errc{})
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return address;
}

} // namespace

Blacklist::Blacklist(const std::string& path) {
    std::ifstream file(path);
    if (file)
        parse(file);
}

Blacklist::Blacklist(std::istream& from) {
    parse(from);
}

// "0xffffffff81000000-0xffffffff81000040\tname"
void Blacklist::parse(std::istream& from) {
    std::string line;
    while (std::getline(from, line)) {
        std::string_view rest = line;
        const auto begin = take_address(rest);
        if (!begin || !rest.starts_with('-'))
            continue;
        rest.remove_prefix(1);
        const auto end = take_address(rest);
        if (!end || !rest.starts_with('\t'))
            continue;
        rest.remove_prefix(1);
        ranges_.push_back({*begin, *end, std::string(rest)});
    }
    known_ = !ranges_.empty();

    std::stable_sort(ranges_.begin(), ranges_.end(),
                     [](const Range& a, const Range& b) { return a.begin < b.begin; });
    std::uint64_t furthest = 0;
    for (Range& range : ranges_)
        range.furthest = furthest = std::max(furthest, range.end);
    by_name_.resize(ranges_.size());
    std::iota(by_name_.begin(), by_name_.end(), 0U);
    std::sort(by_name_.begin(), by_name_.end(), [this](std::uint32_t a, std::uint32_t b) {
        return ranges_[a].name < ranges_[b].name;
    });
}

std::optional<std::string> Blacklist::find(std::uint64_t address, std::string_view symbol) const {
    const bool hidden = !ranges_.empty() && ranges_.back().begin == 0;
    if (address == 0 || hidden) {
        const auto at = std::lower_bound(
            by_name_.begin(), by_name_.end(), symbol,
            [this](std::uint32_t i, std::string_view name) { return ranges_[i].name < name; });
        if (at != by_name_.end() && ranges_[*at].name == symbol)
            return ranges_[*at].name;
        return std::nullopt;
    }
    auto at = std::upper_bound(
        ranges_.begin(), ranges_.end(), address,
        [](std::uint64_t value, const Range& range) { return value < range.begin; });
    // Back, as long as one that began before may reach this far.
    while (at != ranges_.begin() && (--at)->furthest > address) {
        if (at->end > address)
            return at->name;
    }
    return std::nullopt;
}

} // namespace trapline
