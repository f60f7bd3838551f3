// SPDX-License-Identifier: GPL-2.0
// Places that are named by the source, in the running kernel.
#include "spec/source_finder.h"

#include <algorithm>
#include <fmt/format.h>

#include "spec/caret.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::size_t listed_max = 10;

std::string qualified(const PlaceInFile& found) {
    return found.module.empty() ? found.place.function
                                : fmt::format("{}:{}", found.module, found.place.function);
}

std::string source_text(const SourcePlace& place) {
    return place.file.empty() ? "(unknown)" : fmt::format("{}:{}", place.file, place.line);
}

// What a probe says of a module, and what a kernel is called there.
bool is_module(std::string_view wanted, std::string_view module) {
    if (wanted.empty())
        return true;
    if (wanted == "kernel" || wanted == "vmlinux")
        return module.empty();
    return std::equal(wanted.begin(), wanted.end(), module.begin(), module.end(),
                      [](char a, char b) { return (a == '-' ? '_' : a) == b; });
}

} // namespace

void SourceFinder::fail(std::string_view why, std::string hint) const {
    throw Error(fmt::format("probe '{}': {}", brief(spec_.text), why), std::move(hint));
}

std::vector<std::string> SourceFinder::modules() const {
    std::vector<std::string> all =
        types_ == nullptr ? std::vector<std::string>() : types_->modules_with_lines();
    std::erase_if(all, [&](const std::string& module) { return !is_module(spec_.module, module); });
    return all;
}

const SourceLines& SourceFinder::lines_of(const std::string& module) const {
    std::string why;
    const SourceLines* lines = types_->lines_of(module, why);
    if (lines == nullptr)
        fail(why, {});
    return *lines;
}

std::vector<PlaceInFile> SourceFinder::functions(const std::string& name) const {
    std::vector<PlaceInFile> all;
    for (const std::string& module : modules())
        for (SourcePlace& place : lines_of(module).functions(name))
            all.push_back({module, std::move(place)});
    return all;
}

PlaceInFile SourceFinder::find() const {
    if (modules().empty())
        fail("files and lines of the source are known from DWARF alone",
             spec_.module.empty() || types_ == nullptr || types_->modules_with_lines().empty()
                 ? "name a vmlinux that has it: --vmlinux FILE"
                 : fmt::format("name the file of {} that has it: --vmlinux FILE", spec_.module));
    if (spec_.function.empty())
        return line_of_file();
    return spec_.line ? line_of_function() : function_in_file();
}

void SourceFinder::fail_several(const std::vector<PlaceInFile>& found) const {
    std::string list;
    for (std::size_t i = 0; i < found.size() && i < listed_max; i++)
        list += fmt::format(
            "\n    {}{}  {}", qualified(found[i]),
            found[i].place.offset == 0 ? "" : fmt::format("+{:#x}", found[i].place.offset),
            source_text(found[i].place));
    if (found.size() > listed_max)
        list += "\n    ...";
    fail(fmt::format("{} functions have this place:{}", found.size(), list),
         spec_.function.empty() ? "choose one: FUNC+OFFSET, as it stands there"
         : spec_.line           ? "choose one: FILE:LINE, with the line counted in the file"
                                : "say more of the file's path; or choose one: FUNC#N");
}

std::vector<std::string> SourceFinder::clones(const std::string& name) const {
    std::vector<std::string> all;
    for (const std::string& module : modules())
        for (std::string& clone : lines_of(module).clones(name))
            all.push_back(std::move(clone));
    return all;
}

void SourceFinder::fail_if_inlined(const std::string& name) const {
    for (const std::string& module : modules()) {
        const auto inlined = lines_of(module).inlined(name);
        if (!inlined)
            continue;
        const bool placed = !inlined->file.empty();
        std::string hint = placed ? fmt::format("probe a line of it: {}:LINE, from {} on",
                                                inlined->file, inlined->line)
                                  : std::string("probe a line of it: FILE:LINE");
        if (!inlined->into.empty())
            hint = fmt::format("probe what it was inlined into: {}; or a line of it: {}",
                               fmt::join(inlined->into, ", "), hint.substr(hint.find(": ") + 2));
        fail(fmt::format("{}{} is inlined wherever it is called: there is no code of its own to "
                         "be trapped",
                         name, placed ? fmt::format(" ({}:{})", inlined->file, inlined->line) : ""),
             hint);
    }
}

void SourceFinder::fail_if_cloned(const std::string& name) const {
    if (const auto made = clones(name); !made.empty())
        fail(fmt::format("there is no function {} of its own: the compiler made {} of it", name,
                         fmt::join(made, ", ")),
             fmt::format("name that, or a line of it: {}, FILE:LINE", made.front()));
}

void SourceFinder::fail_not_there() const {
    fail_if_cloned(spec_.function);
    fail_if_inlined(spec_.function);
    fail(fmt::format("there is no function {} of its own", spec_.function),
         "files and lines tell of no other either: see what there is in /proc/kallsyms");
}

PlaceInFile SourceFinder::function_in_file() const {
    const std::vector<PlaceInFile> all = functions(spec_.function);
    std::vector<PlaceInFile> there = all;
    std::erase_if(there,
                  [&](const PlaceInFile& one) { return !is_file(one.place.file, spec_.file); });
    if (there.size() == 1)
        return there.front();
    if (!there.empty())
        fail_several(there);
    if (all.empty())
        fail_not_there();
    std::vector<std::string> files;
    for (const PlaceInFile& one : all)
        files.push_back(source_text(one.place));
    fail(fmt::format("{} defines no function {}", spec_.file, spec_.function),
         fmt::format("it is in {}", fmt::join(files, ", ")));
}

void SourceFinder::fail_no_code(const SourceLines::Near& near, const std::string& what) const {
    std::string hint = "it was inlined elsewhere or optimised away";
    const auto named = [](unsigned line) { return line == 0 ? "" : fmt::format("{}", line); };
    if (near.before != 0 || near.after != 0)
        hint = fmt::format("the nearest that have: {}{}{}", named(near.before),
                           near.before != 0 && near.after != 0 ? " and " : "", named(near.after));
    fail(fmt::format("{} has no code", what), hint);
}

PlaceInFile SourceFinder::line_of_function() const {
    const std::vector<PlaceInFile> all = functions(spec_.function);
    if (all.empty())
        fail_not_there();
    if (all.size() > 1)
        fail_several(all);
    const PlaceInFile& function = all.front();
    if (*spec_.line == 0)
        return function; // whichever line the compiler gives its first instruction
    if (function.place.file.empty())
        fail(fmt::format("where {} was written isn't known", spec_.function),
             "probe an instruction of it: FUNC+OFFSET");
    const SourceLines& lines = lines_of(function.module);
    const unsigned line = function.place.line + *spec_.line;
    const auto found = lines.places(function.place, line);
    if (!found.empty())
        return {function.module, found.front()};
    SourceLines::Near near = lines.near(function.place, line);
    near.before = near.before > function.place.line ? near.before - function.place.line : 0;
    near.after = near.after > function.place.line ? near.after - function.place.line : 0;
    fail_no_code(near, fmt::format("line {} of {}, {}:{},", *spec_.line, spec_.function,
                                   function.place.file, line));
}

PlaceInFile SourceFinder::line_of_file() const {
    std::vector<PlaceInFile> found;
    for (const std::string& module : modules())
        for (SourcePlace& place : lines_of(module).places(spec_.file, *spec_.line))
            found.push_back({module, std::move(place)});
    if (found.size() == 1)
        return found.front();
    if (!found.empty())
        fail_several(found);
    SourceLines::Near near;
    bool there = false;
    for (const std::string& module : modules()) {
        const SourceLines& lines = lines_of(module);
        if (near.before == 0 && near.after == 0)
            near = lines.near(spec_.file, *spec_.line);
        there = there || near.before != 0 || near.after != 0 || lines.has_file(spec_.file);
    }
    if (!there)
        fail(fmt::format("no file {} was compiled into what --vmlinux names", spec_.file),
             "its path is as in the kernel's source, or the end of it: fs/open.c, open.c");
    fail_no_code(near, fmt::format("line {} of {}", *spec_.line, spec_.file));
}

std::optional<std::uint64_t> SourceFinder::loaded_at(const PlaceInFile& place,
                                                     const Kallsyms& kallsyms) const {
    const std::string module = place.module.empty() ? "kernel" : place.module;
    for (const SourceAnchor& anchor : lines_of(place.module).anchors(place.place.address)) {
        const std::vector<Symbol> known = kallsyms.find(anchor.symbol, module);
        if (known.size() == 1 && known.front().address != 0)
            return known.front().address + (place.place.address - anchor.address);
    }
    return std::nullopt;
}

std::optional<PlaceInFile> SourceFinder::source_of(const Symbol& symbol,
                                                   const Kallsyms& kallsyms) const {
    for (PlaceInFile& one : functions(std::string(symbol.name)))
        if (one.module == symbol.module && loaded_at(one, kallsyms) == symbol.address)
            return std::move(one);
    return std::nullopt;
}

} // namespace trapline
