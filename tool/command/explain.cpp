// SPDX-License-Identifier: GPL-2.0
// `trapline explain`: sets a trap and lifts it, and shows what that does to the kernel's text.
#include "command/explain.h"

#include <array>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>

#include "command/explanation.h"
#include "command/kernel_symbols.h"
#include "command/open_session.h"
#include "command/probe_plan.h"
#include "command/run_options.h"
#include "command/site_wait.h"
#include "command/type_options.h"
#include "disassembly/disassembler.h"
#include "disassembly/trap.h"
#include "spec/resolve.h"
#include "types/type_files.h"
#include "util/command_line.h"
#include "util/error.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

using std::chrono::milliseconds;

constexpr milliseconds optimisation_limit{2000};
constexpr milliseconds restoration_limit{10'000};

constexpr const char* help =
    "Usage: trapline explain [OPTION]... PROBE\n"
    "\n"
    "Sets a trap in the running kernel, lifts it again, and shows what the kernel did\n"
    "for it: the bytes at the place before, with the trap and after, disassembled, the\n"
    "technique, and where arguments and the return value come from. Nothing is traced.\n"
    "\n";

constexpr const char* see_help = "see: trapline explain --help";

struct ExplainOptions {
    ProbeSpec spec;
    TypeFiles types;
    std::string system_map;
    bool help = false;
};

po::options_description shown_options() {
    po::options_description options("Options", 100, 60);
    add_type_options(options);
    add_system_map_option(options);
    options.add_options()("help,h", "show this");
    return options;
}

std::string help_text() {
    std::ostringstream options;
    options << shown_options();
    return help + probe_help(ProbeForms::one) + "\n" + options.str();
}

ExplainOptions parse_arguments(const std::vector<std::string>& words) {
    const po::variables_map given = parse_command_line(words, shown_options(), "probe", see_help);
    ExplainOptions options;
    options.help = given.count("help") != 0;
    if (options.help)
        return options;
    options.types = type_files(given, see_help);
    options.system_map = system_map(given);
    if (given.count("probe") == 0)
        throw UsageError("which function? no PROBE is given",
                         "for example: trapline explain vfs_read");
    const auto& probes = given["probe"].as<std::vector<std::string>>();
    if (probes.size() > 1)
        throw UsageError(fmt::format("one PROBE at a time: '{}' is one too many", probes[1]),
                         "quote a PROBE that has blanks in it");
    options.spec = parse_probe(probes[0]);
    return options;
}

Optimisation optimisation() {
    std::ifstream file("/proc/sys/debug/kprobes-optimization");
    int value = 0;
    if (!(file >> value))
        return Optimisation::unknown;
    return value != 0 ? Optimisation::on : Optimisation::off;
}

// The first of `names` that this kernel has.
std::optional<NamedAddress> first_of(const Kallsyms& kallsyms, std::span<const char* const> names) {
    for (const char* name : names)
        if (const auto found = kallsyms.find(name, "kernel"); !found.empty())
            return NamedAddress{.name = name, .address = found.front().address};
    return std::nullopt;
}

bool is_breakpoint(const std::vector<std::byte>& bytes) {
    return read_trap(0, bytes).technique == Technique::breakpoint;
}

class Experiment {
public:
    Experiment(Session& session, const ProbeSpec& spec, TypeSource& types)
        : session_(session), types_(types) {
        found_.spec = spec;
        SessionConfig config;
        config.ring_size = TRAPLINE_RING_MIN; // nothing is recorded
        session.configure(config);
    }

    // How long the bytes took to come back; none: they didn't within the limit.
    std::optional<milliseconds> run(const Kallsyms& kallsyms) {
        note_symbols(kallsyms);
        plant(kallsyms);
        wait_for_jump();
        // Before it is lifted: what it leads into goes with it.
        if (const auto target = read_trap(found_.address, found_.states.back().bytes).target)
            found_.target = place_of(*target, kallsyms);
        return lift();
    }

    const Explanation& found() const { return found_; }

private:
    // By /proc/kallsyms as it is now, or the symbols that are known besides.
    static std::optional<Place> place_of(std::uint64_t address, const Kallsyms& kallsyms) {
        if (auto place = find_place(address))
            return place;
        if (const auto symbol = kallsyms.symbol_at(address))
            return Place{std::string(symbol->name), std::string(symbol->module),
                         address - symbol->address};
        return std::nullopt;
    }

    void note_symbols(const Kallsyms& kallsyms) {
        found_.addresses_hidden = kallsyms.modules_hidden();
        constexpr std::array trampolines{"arch_rethook_trampoline", "__kretprobe_trampoline",
                                         "kretprobe_trampoline"};
        found_.exception = first_of(kallsyms, trap_facts.exceptions);
        found_.trampoline = first_of(kallsyms, trampolines);
    }

    void plant(const Kallsyms& kallsyms) {
        const Blacklist blacklist;
        const Selection selection =
            select_probes(found_.spec, kallsyms, blacklist, Names::one, &types_);
        if (selection.probes.size() > 1)
            throw UsageError(
                fmt::format("'{}' matches {} functions, and one is explained at a "
                            "time",
                            found_.spec.text, selection.probes.size()),
                fmt::format("name one of them: trapline list '{}'", found_.spec.function));
        const ResolvedProbe resolved = selection.probes.front().place;
        const ProbeSpec typed = found_.spec;
        found_.spec = selection.probes.front().spec;
        const ProbePlan plan = plan_probes({&typed, 1}, {}, false, Names::one,
                                           session_.info().clock_hz, kallsyms, blacklist, types_);
        id_ = plan.requests.front().event_id;
        found_.tested = plan.tested.front();
        plant_probes(session_, plan, [] { return true; });

        const SiteBytes site = session_.site(id_);
        found_.symbol = resolved.symbol;
        found_.function_size = resolved.function_size;
        found_.address = site.address;
        // An entry's trap is behind its ENDBR.
        found_.offset = resolved.offset + (site.address - session_.probes().front().address);
        found_.states.push_back({"before", site.before});
        add_state("trap set", site);
    }

    void add_state(std::string when, const SiteBytes& site) {
        if (site.now.empty())
            throw Error(fmt::format("the bytes at {} can't be read any more: its module is gone",
                                    found_.symbol),
                        "load it again, and try once more");
        found_.states.push_back({std::move(when), site.now});
    }

    void wait_for_jump() {
        found_.optimisation = optimisation();
        if (found_.optimisation != Optimisation::on || !is_breakpoint(found_.states.back().bytes))
            return;
        const SiteWait wait = wait_for_site(
            session_, id_, [](const SiteBytes& site) { return !is_breakpoint(site.now); },
            optimisation_limit);
        if (wait.took)
            add_state(fmt::format("{} ms later", wait.took->count()), wait.site);
        else
            found_.optimisation_wait = optimisation_limit;
    }

    std::optional<milliseconds> lift() {
        session_.delete_probe(id_);
        const SiteWait wait = wait_for_site(
            session_, id_, [](const SiteBytes& site) { return site.restored(); },
            restoration_limit);
        add_state(wait.took ? fmt::format("lifted, {} ms later", wait.took->count()) : "lifted",
                  wait.site);
        return wait.took;
    }

    Session& session_;
    TypeSource& types_;
    std::uint16_t id_ = 0;
    Explanation found_;
};

void print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
        throw errno_error("cannot write to standard output", errno);
}

} // namespace

int explain_command(const std::vector<std::string>& arguments) {
    const ExplainOptions options = parse_arguments(arguments);
    if (options.help) {
        print(help_text());
        return 0;
    }
    const std::unique_ptr<TypeSource> types = types_of_files(options.types);
    const auto say = [](std::string_view words) {
        std::fprintf(stderr, "%.*s\n", static_cast<int>(words.size()), words.data());
    };
    Session session = open_session(say);
    Experiment experiment(session, options.spec, *types);
    const auto restored = experiment.run(kernel_symbols(options.system_map, say));
    print(explanation_text(experiment.found(), make_disassembler().get()));
    if (!restored)
        throw Error(fmt::format("the bytes at {} were not as before {} ms after the trap was "
                                "lifted",
                                options.spec.text, restoration_limit.count()),
                    "does somebody else trace this function? see /sys/kernel/debug/kprobes/list "
                    "and /sys/kernel/tracing/enabled_functions");
    return 0;
}

} // namespace trapline
