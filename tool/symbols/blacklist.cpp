// SPDX-License-Identifier: GPL-2.0
// The functions that the kernel never lets kprobes into: debugfs's kprobes/blacklist.
#include "symbols/blacklist.h"

#include <charconv>
#include <fstream>

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
}

std::optional<std::string> Blacklist::find(std::uint64_t address, std::string_view symbol) const {
    for (const Range& range : ranges_) {
        const bool hit =
            address != 0 ? address >= range.begin && address < range.end : range.name == symbol;
        if (hit)
            return range.name;
    }
    return std::nullopt;
}

} // namespace trapline
