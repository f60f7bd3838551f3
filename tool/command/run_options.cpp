// SPDX-License-Identifier: GPL-2.0
// The part of the command line that `trace` and `record` share.
#include "command/run_options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>
#include <sstream>
#include <utility>

#include "command/kernel_symbols.h"
#include "command/type_options.h"
#include "shared/program.h"
#include "util/command_line.h"
#include "util/cpu_list.h"
#include "util/error.h"
#include "util/size.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr std::uint32_t pid_max = 1U << 22; // the kernel's, on 64 bits

// As many as perf and bpftrace take.
const std::string most_frames = std::to_string(TL_STACK_MAX);

void add_shared_options(po::options_description& options) {
    auto add = options.add_options();
    add("all,a", "with COMMAND: trace everybody's calls, not only COMMAND's and its descendants'; "
                 "and of a name that several functions have, all of them");
    add("pid,p", po::value<std::vector<std::string>>()->value_name("PID[,PID]"),
        "trace only these processes and their descendants; ends when they have");
    add("comm", po::value<std::vector<std::string>>()->value_name("NAME"),
        "trace only tasks of this name; may be given several times, as may the next three");
    add("cpu", po::value<std::vector<std::string>>()->value_name("LIST"),
        "trace only these CPUs: 0-2,5");
    add("uid", po::value<std::vector<std::string>>()->value_name("USER[,USER]"),
        "trace only tasks of these users: numbers or names");
    add("cgroup", po::value<std::vector<std::string>>()->value_name("DIR"),
        "trace only tasks in this cgroup (v2) or below: its directory, or that below the mount");
    add("duration,d", po::value<std::string>()->value_name("SECONDS"), "end after SECONDS");
    add("limit", po::value<std::string>()->value_name("N"), "end after N events");
    add("max-rate", po::value<std::string>()->value_name("N"),
        "of each probe record at most N events in each second, and count the others");
    add("user", po::value<std::string>()->value_name("NAME"), "run COMMAND as this user");
    add("entry", "trace entries only: arguments, as they come in");
    add("return", "trace returns only: return values");
    add("begin", "record a call's entry too, as it happens: for calls that never return");
    add("stack", po::value<std::string>()->value_name("N")->implicit_value(most_frames),
        "show who called: the kernel's stack at each event, N frames of it at most");
    add("no-guard", "go on also where the probes take more than 25 % of a CPU");
    add("strict", "exit with 3 if an event was lost");
    add("buffer-size,b", po::value<std::string>()->value_name("SIZE"),
        "bytes per CPU for events not read yet, a power of two from 64K to 1G (default 1M)");
    add("maxactive", po::value<std::string>()->value_name("N"),
        "calls of a function that can be inside at once and be seen (default: 32 per CPU, at "
        "least 128)");
    add_type_options(options);
    add_system_map_option(options);
    add("force", "use @SET although it was compiled for another kernel");
    add("help,h", "show this");
}

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Values {
public:
    explicit Values(const std::string& see_help) : see_help_(see_help) {}

    std::uint32_t number(std::string_view text, std::string_view option, std::uint32_t least,
                         std::uint32_t most) const {
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size() || value < least ||
            value > most)
            throw UsageError(
                fmt::format("{}: '{}' is not a number from {} to {}", option, text, least, most),
                see_help_);
        return value;
    }

    // N or N/s.
    std::uint32_t rate(const std::string& text) const {
        std::string_view events(text);
        if (events.ends_with("/s"))
            events.remove_suffix(2);
        const std::size_t slash = events.find('/');
        if (slash != std::string_view::npos && slash != 0 && is_digits(events.substr(0, slash)))
            throw UsageError(
                fmt::format("--max-rate: '{}' is no number of events in a second", text),
                fmt::format("a second is meant without saying it: --max-rate {}",
                            events.substr(0, slash)));
        return number(events, "--max-rate", 1, UINT32_MAX);
    }

    std::vector<std::uint32_t> pids(const std::vector<std::string>& lists) const {
        std::vector<std::uint32_t> pids;
        for (const std::string& pid : elements(lists, "--pid", "process ids"))
            pids.push_back(number(pid, "--pid", 1, pid_max));
        return pids;
    }

    // What stands between the commas.
    std::vector<std::string> elements(const std::vector<std::string>& lists,
                                      std::string_view option, std::string_view what) const {
        std::vector<std::string> all;
        for (const std::string& list : lists) {
            std::istringstream stream(list);
            std::string element;
            if (list.empty() || list.back() == ',')
                throw UsageError(fmt::format("{}: '{}' is not a list of {}", option, list, what),
                                 see_help_);
            while (std::getline(stream, element, ','))
                all.push_back(element);
        }
        return all;
    }

    std::vector<std::uint32_t> cpus(const std::vector<std::string>& lists) const {
        std::set<std::uint32_t> cpus;
        for (const std::string& list : lists) {
            const auto some = parse_cpu_list(list);
            if (!some)
                throw UsageError(
                    fmt::format("--cpu: '{}' is not a list of CPUs, as in 0-2,5", list), see_help_);
            cpus.insert(some->begin(), some->end());
        }
        return {cpus.begin(), cpus.end()};
    }

    TaskFilter filter(const RunCommandLine& line) const {
        TaskFilter only;
        only.comms = line.values("comm");
        only.cpus = cpus(line.values("cpu"));
        only.users = elements(line.values("uid"), "--uid", "users");
        only.cgroups = line.values("cgroup");
        for (const auto& [option, given] :
             {std::pair("--comm", &only.comms), std::pair("--uid", &only.users),
              std::pair("--cgroup", &only.cgroups)})
            if (std::find(given->begin(), given->end(), "") != given->end())
                throw UsageError(fmt::format("{}: the value is empty", option), see_help_);
        return only;
    }

    double duration(const std::string& text) const {
        std::istringstream stream(text);
        stream.imbue(std::locale::classic());
        double seconds = 0;
        // Above: more than a timer of nanoseconds holds.
        if (!(stream >> seconds) || !stream.eof() || !std::isfinite(seconds) || seconds <= 0 ||
            seconds > 1e9)
            throw UsageError(
                fmt::format("--duration: '{}' is not a number of seconds above 0", text),
                see_help_);
        return seconds;
    }

    std::uint64_t buffer_size(const std::string& text) const {
        const std::uint64_t size = parse_size(text, "--buffer-size");
        if (size < TRAPLINE_RING_MIN || size > TRAPLINE_RING_MAX || !std::has_single_bit(size))
            throw UsageError(fmt::format("--buffer-size: '{}' is not a power of two from {} to {}",
                                         text, format_size(TRAPLINE_RING_MIN),
                                         format_size(TRAPLINE_RING_MAX)),
                             see_help_);
        return size;
    }

private:
    const std::string& see_help_;
};

} // namespace

RunCommandLine::RunCommandLine(std::string_view name)
    : name_(name), see_help_(fmt::format("see: trapline {} --help", name)),
      options_("Options", 100, 60) {
    add_shared_options(options_);
}

void RunCommandLine::parse(const std::vector<std::string>& arguments) {
    // COMMAND's own options are none of ours.
    const auto split = std::find(arguments.begin(), arguments.end(), "--");
    std::vector<std::string> ours(arguments.begin(), split);
    const auto stack = std::find(ours.begin(), ours.end(), "--stack");
    if (ours.end() - stack > 1 && is_digits(stack[1]))
        throw UsageError(fmt::format("--stack {}: what is behind a blank is a PROBE", stack[1]),
                         fmt::format("the number of frames is joined to it: --stack={}", stack[1]));
    // Or what follows it would be taken for N.
    std::replace(ours.begin(), ours.end(), std::string("--stack"), "--stack=" + most_frames);
    if (split != arguments.end()) {
        command_.assign(split + 1, arguments.end());
        if (command_.empty())
            throw UsageError("no COMMAND behind --", see_help_);
    }

    given_ = parse_command_line(ours, options_, "probe", see_help_);
}

std::string RunCommandLine::value(const char* option) const {
    return has(option) ? given_[option].as<std::string>() : std::string();
}

std::vector<std::string> RunCommandLine::values(const char* option) const {
    return has(option) ? given_[option].as<std::vector<std::string>>() : std::vector<std::string>();
}

std::optional<trapline_probe_kind> RunCommandLine::kind() const {
    if (has("entry") && has("return"))
        throw UsageError("--entry and --return exclude each other; without either, a call shows "
                         "both ends",
                         see_help_);
    if (has("entry"))
        return TRAPLINE_ENTRY;
    if (has("return"))
        return TRAPLINE_RETURN;
    return std::nullopt;
}

unsigned RunCommandLine::stack() const {
    return has("stack") ? Values(see_help_).number(value("stack"), "--stack", 1, TL_STACK_MAX) : 0;
}

ProbeSpec RunCommandLine::probe(const std::string& text) const {
    ProbeSpec spec = parse_probe(text, kind());
    spec.stack = stack();
    return spec;
}

void RunCommandLine::check_together(const RunOptions& options) const {
    if (options.probes.empty())
        throw UsageError(
            "which function? no PROBE is given",
            fmt::format("for example: trapline {} vfs_read -- cat /etc/hostname", name_));
    if (options.probes.size() * (options.begin ? 2 : 1) > TRAPLINE_PROBES_MAX)
        throw UsageError(
            fmt::format("too many probes: a session has at most {}", TRAPLINE_PROBES_MAX));
    if (!options.user.empty() && options.command.empty())
        throw UsageError("--user needs a COMMAND to run: put it behind --", see_help_);
    if (options.all && !options.command.empty() && !options.pids.empty())
        throw UsageError("--all, with a COMMAND, and --pid exclude each other", see_help_);
}

// PROBEs, or @SET alone.
void RunCommandLine::take_probes(RunOptions& options) const {
    std::vector<std::string> texts = values("probe");
    const auto is_set = [](const std::string& text) { return text.starts_with('@'); };
    const auto named = std::find_if(texts.begin(), texts.end(), is_set);
    options.force = has("force");
    if (named == texts.end() && options.force)
        throw UsageError("--force is for compiled probes: @SET", see_help_);
    if (named != texts.end()) {
        if (texts.size() > 1)
            throw UsageError(
                fmt::format("{} stands alone: no other PROBE can be besides it", *named),
                "compile them all into one set");
        if (!options.types.empty())
            throw UsageError(fmt::format("{} has types of its own: no --btf or --vmlinux can be "
                                         "besides it",
                                         *named),
                             see_help_);
        const std::string path = named->substr(1);
        if (path.empty())
            throw UsageError("behind '@' the file is expected that trapline compile wrote",
                             see_help_);
        auto set = std::make_shared<CompiledProbes>(CompiledProbes{path, read_set(path)});
        texts = set->set.probes;
        options.set = std::move(set);
    }
    for (const std::string& text : texts)
        options.probes.push_back(probe(text));
}

RunOptions RunCommandLine::run_options() const {
    const Values values_of(see_help_);
    RunOptions options;
    options.command = command_;
    options.all = has("all");
    options.begin = has("begin");
    options.strict = has("strict");
    options.guard = !has("no-guard");
    options.pids = values_of.pids(values("pid"));
    options.only = values_of.filter(*this);
    if (has("duration"))
        options.duration = values_of.duration(value("duration"));
    if (has("limit"))
        options.limit = values_of.number(value("limit"), "--limit", 1, UINT32_MAX);
    if (has("max-rate"))
        options.max_rate = values_of.rate(value("max-rate"));
    options.user = value("user");
    options.types = type_files(given_, see_help_);
    options.system_map = system_map(given_);
    if (has("buffer-size"))
        options.buffer_size = values_of.buffer_size(value("buffer-size"));
    if (has("maxactive"))
        options.maxactive =
            values_of.number(value("maxactive"), "--maxactive", 1, TRAPLINE_MAXACTIVE_MAX);
    take_probes(options);
    check_together(options);
    return options;
}

std::string RunCommandLine::help() const {
    std::ostringstream out;
    out << options_;
    return out.str();
}

std::string probe_help(ProbeForms forms) {
    std::string help =
        "A PROBE is\n"
        "  FUNC                   a call: parameters by name, return value, duration\n"
        "  kprobe:FUNC[+OFFSET]   the entry, or the instruction at OFFSET, only\n"
        "  kretprobe:FUNC         the return only\n"
        "  MODULE:FUNC            in this module ('kernel': in the kernel image)\n";
    if (forms == ProbeForms::all)
        help += "  'PATTERN*'             all functions with such names, as a shell matches them\n";
    help += "  FUNC#N                 the Nth of several functions of that name\n";
    if (forms != ProbeForms::compiled)
        help +=
            "  0xADDRESS              the function, or the instruction in it, at that address\n";
    help += "  FUNC@FILE              the one of them that FILE has (with --vmlinux)\n"
            "  FILE:LINE, FUNC:LINE   the code of a source line, of a function's counted\n"
            "                         from its beginning (with --vmlinux)\n"
            "  FUNC+0x1c/0x80 [mod]   an instruction, as an oops prints it\n"
            "  'PROBE(VALUE, ...)'    these instead of the parameters:\n"
            "                         'vfs_read(file->f_path.dentry->d_name.name, count)'\n";
    if (forms == ProbeForms::all)
        help += "  @SET                   those that trapline compile wrote to this file\n";
    return help + "  'PROBE if CONDITION'   what fulfils it only: 'vfs_read if $retval < 0'\n";
}

std::string status_help() {
    return "Exit status: COMMAND's own (128+n: killed by signal n); 0 without COMMAND; 2 usage;\n"
           "3 events were lost and --strict; 125 Trapline failed; 126 COMMAND can't be executed;\n"
           "127 COMMAND was not found.\n";
}

} // namespace trapline
