// SPDX-License-Identifier: GPL-2.0
// Members of structures and unions, those of unnamed ones inside of them among them.
#include "spec/member.h"

#include <algorithm>
#include <fmt/format.h>

#include "util/edit_distance.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr unsigned depth_max = 16;
constexpr std::size_t names_shown = 6;

void collect(const Types& types, TypeId structure, std::uint64_t bit_offset, unsigned depth,
             std::vector<Member>& members) {
    if (depth > depth_max)
        throw Error("the types are damaged: one consists of itself");
    for (const Member& member : plain(types, structure).members) {
        if (member.name.empty()) {
            collect(types, member.type, bit_offset + member.bit_offset, depth + 1, members);
            continue;
        }
        members.push_back(member);
        members.back().bit_offset += bit_offset;
    }
}

// Less: more alike. What contains the other comes before what is spelled alike.
unsigned distance(std::string_view name, std::string_view known) {
    constexpr unsigned far = 1000;
    if (name.empty())
        return far;
    const unsigned spelling = edit_distance(name, known, 100).value_or(far);
    const bool contains = known.find(name) != std::string_view::npos;
    return contains ? std::min(spelling, 1U) : spelling;
}

} // namespace

std::vector<Member> named_members(const Types& types, TypeId structure) {
    std::vector<Member> members;
    collect(types, structure, 0, 0, members);
    return members;
}

std::optional<Member> find_member(const Types& types, TypeId structure, std::string_view name) {
    for (Member& member : named_members(types, structure))
        if (member.name == name)
            return std::move(member);
    return std::nullopt;
}

std::string nearest(std::vector<std::string> names, std::string_view name) {
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return distance(name, a) < distance(name, b);
    });
    const std::size_t shown = std::min(names.size(), names_shown);
    return fmt::format(
        "{}{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        shown < names.size() ? ", ..." : "");
}

} // namespace trapline
