// SPDX-License-Identifier: GPL-2.0
// `trapline list`: the functions that can be probed.
#include "command/list.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <iterator>
#include <memory>
#include <sstream>

#include "command/type_options.h"
#include "output/output_file.h"
#include "spec/function_types.h"
#include "spec/source_finder.h"
#include "types/declaration.h"
#include "util/command_line.h"
#include "util/escape.h"
#include "util/filesystems.h"
#include "util/text_file.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr int nothing_status = 1;
constexpr std::size_t written_at_once = 1 << 16;
constexpr const char* see_help = "see: trapline list --help";

po::options_description shown_options() {
    po::options_description options("Options", 100, 60);
    auto add = options.add_options();
    add("all,a", "list those that can't be probed too, with the reason as a fourth column");
    add("args", "list prototypes instead of names: parameters with their types, and the result's");
    add_type_options(options);
    add("help,h", "show this");
    return options;
}

std::string list_help() {
    std::ostringstream out;
    out << "Usage: trapline list [OPTION]... [[MODULE:]GLOB]\n"
           "\n"
           "Lists the functions that can be probed, one a line: name, module (empty for the\n"
           "kernel image) and address, with tabs between them. GLOB is a shell's pattern for\n"
           "names. Of functions that share a name each has its number: FUNC#N. With --args\n"
           "the name is a prototype; NAME(?) where its types aren't known.\n"
           "\n"
        << shown_options()
        << "\n"
           "Exit status: 0; 1 if nothing matches, 2 for wrong usage, 125 if trapline fails.\n";
    return out.str();
}

void warn_of_no_types(TypeSource& types) {
    std::string why;
    if (types.types_of({}, why) == nullptr)
        std::fputs(complaint(fmt::format("the kernel's types aren't known: {}", why),
                             "name a file that has them: --btf FILE or --vmlinux FILE")
                       .c_str(),
                   stderr);
}

// What can't be told from what can be probed.
void warn_of_unknown(const Kallsyms& kallsyms, const Blacklist& blacklist) {
    const auto warn = [](const std::string& what, const char* hint) {
        std::fputs(complaint(what, hint).c_str(), stderr);
    };
    if (!blacklist.known())
        warn(fmt::format("{} can't be read: functions that the kernel lets nobody probe are "
                         "listed too",
                         Blacklist::default_path),
             lacks_filesystem(read_text(filesystems_path), "debugfs")
                 ? "this kernel has no debugfs, which lists them; it refuses them all the same"
                 : "run as root, with debugfs mounted");
    if (kallsyms.addresses_hidden())
        warn("addresses are hidden: functions whose memory was given back after boot are listed "
             "too",
             "run as root, with kernel.kptr_restrict at most 1");
}

} // namespace

ListOptions parse_list_options(const std::vector<std::string>& arguments) {
    const po::variables_map given =
        parse_command_line(arguments, shown_options(), "glob", see_help);
    ListOptions options;
    options.help = given.count("help") != 0;
    options.all = given.count("all") != 0;
    options.args = given.count("args") != 0;
    options.types = type_files(given, see_help);
    if (!options.args && !options.types.empty())
        throw UsageError("--btf and --vmlinux are for --args", see_help);
    if (given.count("glob") == 0)
        return options;
    const auto& globs = given["glob"].as<std::vector<std::string>>();
    if (globs.size() > 1)
        throw UsageError(fmt::format("one GLOB at most, not {}: did the shell expand it? quote it",
                                     globs.size()),
                         see_help);
    options.glob = globs.front();
    return options;
}

std::string listed_name(const NumberedFunction& function) {
    std::string name;
    append_escaped(name, function.symbol.name);
    if (function.number != 0)
        name += fmt::format("#{}", function.number);
    return name;
}

std::string prototype(const NumberedFunction& function, const Kallsyms& kallsyms,
                      TypeSource& types) {
    const Symbol& symbol = function.symbol;
    const std::string name = listed_name(function);
    try {
        const std::string module(symbol.module);
        const auto same = [&](const Symbol& other) { return other.is_function(); };
        const std::vector<Symbol> all =
            kallsyms.find(symbol.name, module.empty() ? "kernel" : module);
        const bool only = std::count_if(all.begin(), all.end(), same) == 1;
        std::optional<std::uint64_t> in_file;
        if (!only && symbol.address != 0) {
            const ProbeSpec any;
            if (const auto source = SourceFinder(any, &types).source_of(symbol, kallsyms))
                in_file = source->place.address;
        }
        const KnownTypes known =
            function_types(types, module, std::string(symbol.name), only, in_file);
        if (known.function)
            return declaration(*known.types, *known.function, name);
    } catch (const Error&) { // damaged types
    }
    return name + "(?)";
}

void append_function(std::string& out, const std::string& name, const NumberedFunction& function,
                     Obstacle obstacle, bool addresses_hidden) {
    const Symbol& symbol = function.symbol;
    out += name;
    out += '\t';
    append_escaped(out, symbol.module);
    if (addresses_hidden)
        out += "\thidden";
    else
        fmt::format_to(std::back_inserter(out), "\t{:#018x}", symbol.address);
    if (obstacle != Obstacle::none) {
        out += '\t';
        out += obstacle_text(obstacle);
    }
    out += '\n';
}

Error nothing_listed(const ListOptions& options, const FunctionCount& count,
                     const Kallsyms& kallsyms) {
    const FunctionGlob glob = parse_function_glob(options.glob);
    const std::string shown = escaped(options.glob);
    if (count.refused != 0)
        return Error(fmt::format("none of the {} functions that match '{}' can be probed",
                                 count.refused, shown),
                     fmt::format("see why: trapline list --all '{}'", shown), nothing_status);
    if (!glob.module.empty() && !kallsyms.has_module(glob.module))
        return Error(fmt::format("the module {} is not loaded, or it is built into this kernel",
                                 glob.module),
                     fmt::format("load it (modprobe {}), or: trapline list '{}'", glob.module,
                                 escaped(glob.name)),
                     nothing_status);
    const auto similar = kallsyms.similar(plain_part(glob.name), glob.module);
    return Error(fmt::format("no function matches '{}'", shown),
                 similar.empty() ? "a function that is inlined everywhere has no symbol; * and ? "
                                   "stand for what you don't know: 'vfs_*'"
                                 : fmt::format("did you mean {}?", fmt::join(similar, ", ")),
                 nothing_status);
}

int list_command(const std::vector<std::string>& arguments) {
    const ListOptions options = parse_list_options(arguments);
    if (options.help) {
        std::fputs(list_help().c_str(), stdout);
        return 0;
    }
    const FunctionGlob glob = parse_function_glob(options.glob);
    const std::unique_ptr<TypeSource> types = types_of_files(options.types);
    if (options.args)
        warn_of_no_types(*types);
    const Kallsyms kallsyms = options.args ? Kallsyms() : load_symbols(glob);
    const Blacklist blacklist;
    warn_of_unknown(kallsyms, blacklist);

    OutputFile output("");
    std::string text;
    try {
        const FunctionCount count =
            list_functions(parse_function_glob(options.glob), kallsyms, blacklist,
                           [&](const NumberedFunction& function, Obstacle obstacle) {
                               if (obstacle != Obstacle::none && !options.all)
                                   return;
                               append_function(text,
                                               options.args ? prototype(function, kallsyms, *types)
                                                            : listed_name(function),
                                               function, obstacle, kallsyms.addresses_hidden());
                               if (text.size() < written_at_once)
                                   return;
                               output.write(text);
                               text.clear();
                           });
        output.write(text);
        if (count.probed + (options.all ? count.refused : 0) == 0)
            throw nothing_listed(options, count, Kallsyms()); // all: for what may have been meant
    } catch (const OutputClosed&) {
        die_of_closed_output();
    }
    return 0;
}

} // namespace trapline
