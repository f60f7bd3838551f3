// SPDX-License-Identifier: GPL-2.0
// Which events of a trace are wanted.
#include "report/filter.h"

#include <algorithm>
#include <fmt/format.h>
#include <fnmatch.h>
#include <set>
#include <string_view>

#include "output/printer.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::size_t names_shown = 8;

bool fits(const std::string& glob, const std::string& name) {
    return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

bool fits_one(std::span<const std::string> globs, const std::string& name) {
    return std::any_of(globs.begin(), globs.end(),
                       [&](const std::string& glob) { return fits(glob, name); });
}

// The longest piece of a glob that stands for itself.
std::string_view literal_piece(std::string_view glob) {
    std::string_view longest;
    while (!glob.empty()) {
        const std::string_view piece = glob.substr(0, glob.find_first_of("*?[]\\"));
        if (piece.size() > longest.size())
            longest = piece;
        glob.remove_prefix(std::min(piece.size() + 1, glob.size()));
    }
    return longest;
}

// All names if they are few, else those that have something of `glob` in them: the more of
// its literal piece, the better.
std::vector<std::string> near_names(const std::string& glob, const std::set<std::string>& names) {
    std::vector<std::string> near;
    if (names.size() <= names_shown) {
        near.assign(names.begin(), names.end());
        return near;
    }
    constexpr std::size_t least = 3;
    std::string_view piece = literal_piece(glob);
    for (; piece.size() >= least && near.empty(); piece.remove_suffix(1))
        for (const std::string& name : names)
            if (name.find(piece) != std::string::npos && near.size() < names_shown)
                near.push_back(name);
    return near;
}

} // namespace

EventFilter::EventFilter(const Wanted& wanted, std::span<const EventLayout> layouts)
    : wanted_(wanted) {
    if (wanted.probes.empty())
        return;
    marks_ = fits_one(wanted.probes, mark_layout().name);
    wanted_ids_.resize(1);
    for (const EventLayout& layout : layouts) {
        if (layout.id >= wanted_ids_.size())
            wanted_ids_.resize(layout.id + 1U);
        wanted_ids_[layout.id] = fits_one(wanted.probes, layout.name);
    }
}

bool EventFilter::wants(std::uint16_t id) const {
    if (id == TL_ID_MARK)
        return marks_;
    return wanted_ids_.empty() || (id < wanted_ids_.size() && wanted_ids_[id]);
}

bool EventFilter::passes(const Event& event, std::uint64_t ns) const {
    const auto among = [](const auto& list, const auto& value) {
        return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
    };
    return wants(event.id) && among(wanted_.pids, event.tgid) &&
           among(wanted_.comms, comm_of(event)) &&
           (wanted_.times.empty() ||
            std::any_of(wanted_.times.begin(), wanted_.times.end(), [ns](const TimeRange& range) {
                return range.from_ns <= ns && ns <= range.to_ns;
            }));
}

void check_globs(std::span<const std::string> globs,
                 std::span<const std::span<const EventLayout>> traces) {
    std::set<std::string> names{mark_layout().name};
    for (const std::span<const EventLayout> layouts : traces)
        for (const EventLayout& layout : layouts)
            names.insert(layout.name);
    for (const std::string& glob : globs) {
        if (std::any_of(names.begin(), names.end(),
                        [&](const std::string& name) { return fits(glob, name); }))
            continue;
        const std::vector<std::string> near = near_names(glob, names);
        std::string hint;
        if (!near.empty())
            hint = fmt::format("{}{}; ", near.size() == names.size() ? "there are " : "near it: ",
                               escaped(fmt::format("{}", fmt::join(near, ", "))));
        throw Error(fmt::format("--probe: '{}' fits no event of the trace", escaped(glob)),
                    hint + "trapline report --summary lists all");
    }
}

} // namespace trapline
