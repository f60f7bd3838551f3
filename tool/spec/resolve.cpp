// SPDX-License-Identifier: GPL-2.0
// Finds the place in the running kernel that a probe means, or says why there is none.
#include "spec/resolve.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <vector>

#include "spec/caret.h"
#include "spec/obstacle.h"
#include "spec/source_finder.h"
#include "util/edit_distance.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

constexpr std::size_t listed_max = 10;

// `map`: whether a System.map would do as well.
std::string unhide_hint(bool map) {
    return fmt::format("run it as root, with kernel.kptr_restrict at most 1 ({}){}",
                       remedy::show_addresses,
                       map ? "; or name the kernel's System.map: --system-map FILE" : "");
}

[[noreturn]] void fail_probe(const ProbeSpec& spec, std::string_view why, std::string hint) {
    throw Error(fmt::format("probe '{}': {}", brief(spec.text), why), std::move(hint));
}

std::string qualified(const Symbol& symbol) {
    return symbol.module.empty() ? std::string(symbol.name)
                                 : fmt::format("{}:{}", symbol.module, symbol.name);
}

std::string list_names(const std::vector<std::string>& names) {
    const auto end =
        names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), listed_max));
    return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                       end == names.end() ? "" : ", ...");
}

std::vector<std::string> qualified_names(const std::vector<Symbol>& symbols) {
    std::vector<std::string> names;
    for (const Symbol& symbol : symbols) {
        std::string name = qualified(symbol);
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

class Resolver {
public:
    Resolver(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
             TypeSource* types)
        : spec_(spec), kallsyms_(kallsyms), blacklist_(blacklist), finder_(spec, types) {}

    ResolvedProbe resolve() const {
        check_module();
        if (spec_.is_of_source())
            return resolve_source();
        const std::vector<Symbol> found = functions(spec_.function, spec_.module);
        const Symbol symbol = choose(found);
        ResolvedProbe resolved = place(symbol, spec_.offset);
        if (!resolved.only && symbol.address != 0)
            if (const auto source = finder_.source_of(symbol, kallsyms_))
                resolved.file_address = source->place.address;
        return resolved;
    }

private:
    // By FILE or LINE.
    ResolvedProbe resolve_source() const {
        const PlaceInFile found = finder_.find();
        ResolvedProbe resolved = place(loaded_function(found), found.place.offset + spec_.offset);
        resolved.file_address = found.place.address;
        return resolved;
    }

    Symbol loaded_function(const PlaceInFile& found) const {
        const std::string& name = found.place.function;
        const std::vector<Symbol> symbols =
            functions(name, found.module.empty() ? "kernel" : found.module);
        if (symbols.size() == 1)
            return symbols.front();
        if (symbols.empty() && !found.module.empty() && !kallsyms_.has_module(found.module))
            fail(fmt::format("the module {} is not loaded", found.module),
                 fmt::format("load it first: modprobe {}", found.module));
        if (symbols.empty())
            fail(fmt::format("{} at {}:{} is not in the running kernel", name, found.place.file,
                             found.place.line),
                 "what ran at boot alone, or while a module was loaded, is gone");
        fail_if_hidden(symbols);
        const auto address = finder_.loaded_at(found, kallsyms_);
        const auto same = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
            return symbol.address == address;
        });
        if (same == symbols.end())
            fail(fmt::format("which of {} functions named {} it is can't be told", symbols.size(),
                             name),
                 fmt::format("choose one: {}#1 for the first by address, and so on", name));
        return *same;
    }

    ResolvedProbe place(const Symbol& symbol, std::uint64_t offset) const {
        const std::uint64_t address = symbol.address == 0 ? 0 : symbol.address + offset;
        check_offset(symbol, offset);
        check_obstacle(symbol, address);
        const auto all = functions(std::string(symbol.name),
                                   symbol.module.empty() ? "kernel" : std::string(symbol.module));
        return {.symbol = qualified(symbol),
                .offset = offset,
                .address = address,
                .function_size = symbol.size,
                .module = std::string(symbol.module),
                .function = std::string(symbol.name),
                .only = all.size() == 1,
                .file_address = std::nullopt};
    }

    [[noreturn]] void fail(std::string_view why, std::string hint) const {
        fail_probe(spec_, why, std::move(hint));
    }

    std::vector<Symbol> functions(std::string_view name, std::string_view module) const {
        std::vector<Symbol> found = kallsyms_.find(name, module);
        std::erase_if(found, [](const Symbol& symbol) { return !symbol.is_function(); });
        // One place under one name, listed twice: nothing to choose between.
        const auto same = [](const Symbol& a, const Symbol& b) {
            return a.address != 0 && a.address == b.address;
        };
        found.erase(std::unique(found.begin(), found.end(), same), found.end());
        return found;
    }

    void check_module() const {
        if (spec_.module.empty() || kallsyms_.has_module(spec_.module))
            return;
        const auto elsewhere = functions(spec_.function, {});
        const std::string meant = similar_places(spec_, kallsyms_);
        if (elsewhere.empty())
            fail(fmt::format("the module {} is not loaded", spec_.module),
                 fmt::format("{}load it first: modprobe {}", meant, spec_.module));
        fail(fmt::format("the module {} is not loaded, or it is built into this kernel",
                         spec_.module),
             fmt::format("{}load it (modprobe {}), or trace {}", meant, spec_.module,
                         list_names(qualified_names(elsewhere))));
    }

    [[noreturn]] void fail_unknown() const {
        const std::string where = spec_.module.empty() ? "in this kernel" : "in " + spec_.module;
        const auto data = kallsyms_.find(spec_.function, spec_.module);
        if (!data.empty())
            fail(fmt::format("{} is data (type {} in kallsyms), not a function", spec_.function,
                             data.front().type),
                 "only functions can be probed");

        auto clones = kallsyms_.clones(spec_.function, spec_.module);
        std::erase_if(clones, [](const Symbol& symbol) { return symbol.is_cold_part(); });
        if (!clones.empty())
            fail(
                fmt::format("there is no function {} {}: this kernel's compiler inlined it or made "
                            "clones of it",
                            spec_.function, where),
                fmt::format("probe {} instead; a clone's arguments may differ from the source's",
                            list_names(qualified_names(clones))));

        const auto elsewhere = functions(spec_.function, {});
        if (!elsewhere.empty())
            fail(fmt::format("there is no function {} {}", spec_.function, where),
                 "there is: " + list_names(qualified_names(elsewhere)));

        finder_.fail_if_inlined(spec_.function);
        const auto similar = kallsyms_.similar(spec_.function, spec_.module);
        std::string hint = "a function that is inlined everywhere has no symbol; see what there "
                           "is in /proc/kallsyms";
        if (!similar.empty())
            hint = fmt::format("did you mean {}? ({})", fmt::join(similar, ", "), hint);
        fail(fmt::format("there is no function {} {}", spec_.function, where), hint);
    }

    [[noreturn]] void fail_ambiguous(const std::vector<Symbol>& found) const {
        std::string list;
        const std::vector<Symbol> all = functions(spec_.function, {});
        bool in_files = false;
        for (std::size_t i = 0; i < found.size() && i < listed_max; i++) {
            const Symbol& symbol = found[i];
            list += fmt::format("\n    {}#{}  {:#018x}  {}", symbol.name, number_of(symbol, all),
                                symbol.address, symbol.module.empty() ? "kernel" : symbol.module);
            const auto source = finder_.source_of(symbol, kallsyms_);
            if (!source || source->place.file.empty())
                continue;
            in_files = true;
            list += fmt::format("  {}:{}", source->place.file, source->place.line);
        }
        if (found.size() > listed_max)
            list += "\n    ...";
        const bool modules = std::any_of(found.begin(), found.end(), [&](const Symbol& symbol) {
            return symbol.module != found.front().module;
        });
        std::string choose = fmt::format("{}{}#{} for the first by address, and so on",
                                         spec_.module.empty() ? "" : spec_.module + ":",
                                         spec_.function, number_of(found.front(), all));
        if (in_files)
            choose = fmt::format("{}@FILE; or {}", spec_.function, choose);
        if (modules)
            choose = fmt::format("MODULE:{} (kernel:{} for the kernel image), or {}",
                                 spec_.function, spec_.function, choose);
        fail(fmt::format("{} functions have this name:{}", found.size(), list),
             "choose one: " + choose);
    }

    // By address, among all of the name, from 1: a module in front of it changes nothing.
    static std::size_t number_of(const Symbol& symbol, const std::vector<Symbol>& all) {
        const auto at = std::find_if(all.begin(), all.end(), [&](const Symbol& other) {
            return other.address == symbol.address;
        });
        return static_cast<std::size_t>(at - all.begin()) + 1;
    }

    // FUNC#N, or MODULE:FUNC#N for one that is there.
    Symbol choose_numbered(const std::vector<Symbol>& found) const {
        const std::vector<Symbol> all = functions(spec_.function, {});
        fail_if_hidden(all);
        if (spec_.number > all.size())
            fail(fmt::format("there {} of this name",
                             all.size() > 1 ? fmt::format("are only {} functions", all.size())
                                            : "is only one function"),
                 "leave out the #, or see the list that comes without it");
        const Symbol& chosen = all[spec_.number - 1];
        const auto there = std::find_if(found.begin(), found.end(), [&](const Symbol& symbol) {
            return symbol.address == chosen.address;
        });
        if (there != found.end())
            return *there;
        fail(fmt::format("{}#{} is not in {}: it is {}", spec_.function, spec_.number, spec_.module,
                         qualified(chosen)),
             fmt::format("numbers go on from the kernel image to the modules; of {} the first is "
                         "{}:{}#{}",
                         spec_.module, spec_.module, spec_.function,
                         number_of(found.front(), all)));
    }

    // By name the kernel would take the first that it comes across.
    void fail_if_hidden(const std::vector<Symbol>& found) const {
        const bool hidden = std::any_of(found.begin(), found.end(),
                                        [](const Symbol& symbol) { return symbol.address == 0; });
        if (found.size() > 1 && hidden)
            fail(fmt::format("{} functions have this name, and this kernel hides the addresses "
                             "that tell them apart ({})",
                             found.size(), list_names(qualified_names(found))),
                 unhide_hint(kallsyms_.addresses_hidden() &&
                             std::all_of(found.begin(), found.end(), [](const Symbol& symbol) {
                                 return symbol.module.empty();
                             })));
    }

    Symbol choose(const std::vector<Symbol>& found) const {
        if (found.empty())
            fail_unknown();
        if (spec_.number != 0)
            return choose_numbered(found);
        fail_if_hidden(found);
        if (found.size() == 1)
            return found.front();

        // A place from an oops says how large its function is: that may tell them apart.
        const auto fits = [&](const Symbol& symbol) { return symbol.size == spec_.oops_size; };
        if (std::count_if(found.begin(), found.end(), fits) == 1)
            return *std::find_if(found.begin(), found.end(), fits);
        fail_ambiguous(found);
    }

    void check_offset(const Symbol& symbol, std::uint64_t offset) const {
        if (symbol.size == 0)
            return; // unknown: the kernel will check it
        if (spec_.oops_size && *spec_.oops_size != symbol.size)
            fail(fmt::format("this kernel's {} is {:#x} bytes, not {:#x}: the oops came from "
                             "another build",
                             symbol.name, symbol.size, *spec_.oops_size),
                 "boot the kernel that the oops came from, or find the place in this one");
        if (offset >= symbol.size)
            fail(fmt::format("the offset {:#x} is outside of {}, which is {:#x} ({}) bytes", offset,
                             symbol.name, symbol.size, symbol.size),
                 fmt::format("offsets are less than {:#x}", symbol.size));
    }

    // kallsyms goes on listing what ran at boot only. A return probe of a cold part would take
    // what its function has on top of the stack for the return address.
    void check_obstacle(const Symbol& symbol, std::uint64_t address) const {
        switch (Obstacles(kallsyms_, blacklist_).find(symbol, address)) {
        case Obstacle::none:
            return;
        case Obstacle::padding:
            fail(fmt::format("{} is padding before a function: it isn't executed", symbol.name),
                 "probe the function behind it");
        case Obstacle::freed:
            fail(fmt::format("{} ran at boot and its memory was given back since", symbol.name),
                 "__init functions can't be traced any more");
        case Obstacle::outside_text:
            fail(fmt::format("{} is outside of the kernel's text: the kernel lets no kprobe into "
                             "it",
                             symbol.name),
                 "probe a function that calls it, or that it calls");
        case Obstacle::blacklisted:
            fail(fmt::format("{} is blacklisted: the kernel lets no kprobe into it, for handling "
                             "one may need it itself",
                             blacklist_.find(address, symbol.name).value_or(spec_.function)),
                 fmt::format("the list is {}; probe one of its callers instead",
                             Blacklist::default_path));
        case Obstacle::cold_part:
            if (spec_.kind == TRAPLINE_ENTRY)
                return;
            fail(fmt::format("{} is the cold part of a function: it is jumped to, not called, so "
                             "there is no return that belongs to it",
                             symbol.name),
                 fmt::format("see when it is entered: kprobe:{}", spec_.function));
        }
    }

    const ProbeSpec& spec_;
    const Kallsyms& kallsyms_;
    const Blacklist& blacklist_;
    SourceFinder finder_;
};

} // namespace

std::string similar_places(const ProbeSpec& spec, const Kallsyms& kallsyms) {
    std::vector<std::string> similar;
    for (const std::string_view kind : {"kprobe", "kretprobe"})
        if (edit_distance(spec.module, kind, 1))
            similar.emplace_back(kind);
    for (const std::string_view module : kallsyms.similar_modules(spec.module))
        similar.emplace_back(module);
    for (std::string& one : similar)
        one += ":" + spec.function;
    return similar.empty() ? "" : fmt::format("did you mean {}? ", fmt::join(similar, ", "));
}

ProbeSpec located(const ProbeSpec& spec, const Kallsyms& kallsyms) {
    if (!spec.address)
        return spec;
    if (kallsyms.addresses_hidden())
        fail_probe(spec, "this kernel hides its addresses: which function that is in isn't known",
                   unhide_hint(true));
    const auto found = kallsyms.numbered_function_at(*spec.address);
    if (!found)
        fail_probe(spec, "there is no function of the kernel's or of a module at that address",
                   "addresses are those of this boot: see trapline list, or name the function");
    ProbeSpec own = spec;
    own.address = std::nullopt;
    own.function = found->symbol.name;
    own.number = found->number;
    own.offset = *spec.address - found->symbol.address;
    if (own.offset == 0)
        return own;
    if (own.kind == TRAPLINE_RETURN)
        fail_probe(spec,
                   fmt::format("a return is a whole function's, and that is {:#x} bytes into {}",
                               own.offset, own.function),
                   fmt::format("trace kretprobe:{}", own.function));
    own.has_offset = true;
    own.kind = TRAPLINE_ENTRY;
    return own;
}

ResolvedProbe resolve(const ProbeSpec& spec, const Kallsyms& kallsyms, const Blacklist& blacklist,
                      TypeSource* types) {
    return Resolver(spec, kallsyms, blacklist, types).resolve();
}

} // namespace trapline
