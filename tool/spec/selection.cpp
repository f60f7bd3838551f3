// SPDX-License-Identifier: GPL-2.0
// All the places that a PROBE means.
#include "spec/selection.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <utility>

#include "spec/caret.h"
#include "spec/function_list.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::size_t names_shown = 5;

class Selector {
public:
    Selector(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
             TypeSource* types)
        : spec_(spec), kallsyms_(kallsyms), blacklist_(blacklist), types_(types) {}

    Selection select(Names names) {
        if (spec_.pattern) {
            select_matching();
        } else if (names == Names::one || spec_.address || spec_.number != 0 || spec_.has_offset ||
                   spec_.is_of_source()) {
            add(spec_, Need::must);
        } else {
            select_named(names);
        }
        if (selection_.probes.empty())
            throw Error(*first_);
        if (!left_out_.empty())
            note(fmt::format("left out: {} ({})", few_names(left_out_), first_->what()));
        return std::move(selection_);
    }

private:
    [[noreturn]] void fail(std::string_view why, std::string hint) const {
        throw Error(fmt::format("probe '{}': {}", brief(spec_.text), why), std::move(hint));
    }

    void add(const ProbeSpec& spec, Need need) {
        try {
            ProbeSpec own = located(spec, kallsyms_);
            ResolvedProbe place = resolve(own, kallsyms_, blacklist_, types_);
            own.offset = place.offset; // of a line, it is known only now
            selection_.probes.push_back({std::move(own), std::move(place), need});
        } catch (const Error& error) {
            if (need == Need::must)
                throw;
            left_out_.push_back(spec.function);
            if (!first_)
                first_ = error;
        }
    }

    void add(const NumberedFunction& function, Need need) {
        ProbeSpec spec = spec_;
        spec.pattern = false;
        spec.function = function.symbol.name;
        spec.number = function.number;
        add(spec, need);
    }

    std::vector<NumberedFunction> named(const Kallsyms::Wanted& wanted) const {
        std::vector<NumberedFunction> found;
        kallsyms_.for_each_function(spec_.module, wanted, [&](const NumberedFunction& function) {
            found.push_back(function);
        });
        return found;
    }

    // But no cold parts: they are jumped to.
    std::vector<NumberedFunction> clones() const {
        std::vector<std::string_view> names;
        for (const Symbol& symbol : kallsyms_.clones(spec_.function, spec_.module))
            if (!symbol.is_cold_part())
                names.push_back(symbol.name);
        if (names.empty())
            return {};
        return named([&](std::string_view name) {
            return std::find(names.begin(), names.end(), name) != names.end();
        });
    }

    void select_named(Names names) {
        const auto functions = named([&](std::string_view name) { return name == spec_.function; });
        const auto made = clones();
        if (functions.size() > 1 && names == Names::all) {
            for (const NumberedFunction& function : functions)
                add(function, Need::some);
            note(fmt::format("{} functions have this name, all are traced", functions.size()));
        } else if (!functions.empty() || made.empty()) {
            add(spec_, Need::must); // or fails, saying why
        }
        if (made.empty())
            return;
        for (const NumberedFunction& clone : made)
            add(clone, functions.empty() ? Need::must : Need::none);
        note_clones(made, functions.empty());
    }

    void note(std::string_view text) {
        selection_.notes.push_back(fmt::format("{}: {}", brief(spec_.text), text));
    }

    void note_clones(const std::vector<NumberedFunction>& clones, bool alone) {
        std::vector<std::string> names;
        for (const NumberedFunction& clone : clones)
            names.emplace_back(clone.symbol.name);
        names.erase(std::unique(names.begin(), names.end()), names.end());
        note(fmt::format("the compiler made {} of it, {}traced {}: parameters may be others",
                         few_names(names), alone ? "" : "also ", alone ? "instead" : "here"));
    }

    void select_matching() {
        std::vector<std::string> refused;
        list_functions({.module = spec_.module, .name = spec_.function}, kallsyms_, blacklist_,
                       [&](const NumberedFunction& function, Obstacle obstacle) {
                           if (obstacle == Obstacle::none)
                               add(function, Need::some);
                           else if (obstacle != Obstacle::padding &&
                                    obstacle != Obstacle::cold_part)
                               refused.emplace_back(function.symbol.name);
                       });
        if (selection_.probes.empty() && !first_)
            fail_unmatched(refused.size());
        if (!refused.empty())
            note(fmt::format("left out: {} of the {} functions that match, which can't be probed; "
                             "see: trapline list --all '{}'",
                             refused.size(), refused.size() + selection_.probes.size(), glob()));
    }

    std::string glob() const {
        return spec_.module.empty() ? spec_.function
                                    : fmt::format("{}:{}", spec_.module, spec_.function);
    }

    [[noreturn]] void fail_unmatched(std::size_t refused) const {
        if (refused != 0)
            fail(fmt::format("none of the {} functions that match can be probed", refused),
                 fmt::format("see why: trapline list --all '{}'", glob()));
        if (!spec_.module.empty() && !kallsyms_.has_module(spec_.module))
            fail(fmt::format("the module {} is not loaded, or it is built into this kernel",
                             spec_.module),
                 fmt::format("{}load it (modprobe {}), or trace '{}'",
                             similar_places(spec_, kallsyms_), spec_.module, spec_.function));
        const auto similar = kallsyms_.similar(plain_part(spec_.function), spec_.module);
        fail("no function matches",
             similar.empty() ? fmt::format("see what there is: trapline list '{}'",
                                           spec_.module.empty() ? "*" : spec_.module + ":*")
                             : fmt::format("did you mean {}?", fmt::join(similar, ", ")));
    }

    const ProbeSpec& spec_;
    const Kallsyms& kallsyms_;
    const Blacklist& blacklist_;
    TypeSource* types_;
    Selection selection_;
    std::vector<std::string> left_out_;
    std::optional<Error> first_; // why the first of those is
};

} // namespace

Selection select_probes(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
                        Names names, TypeSource* types) {
    return Selector(spec, kallsyms, blacklist, types).select(names);
}

std::string few_names(const std::vector<std::string>& names) {
    const auto end =
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), names_shown));
    return fmt::format(
        "{}{}", fmt::join(names.begin(), end, ", "),
        end == names.end() ? "" : fmt::format(" and {} more", names.size() - names_shown));
}

} // namespace trapline
