// SPDX-License-Identifier: GPL-2.0
// The command line of `trapline trace`.
#include "command/trace_options.h"

#include <algorithm>
#include <bit>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <sstream>

#include "util/error.h"
#include "util/size.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr std::uint32_t pid_max = 1U << 22; // the kernel's, on 64 bits

constexpr const char* see_help = "see: trapline trace --help";

po::options_description visible_options() {
    po::options_description options("Options", 100, 60);
    auto add = options.add_options();
    add("all,a", "with COMMAND: trace everybody's calls, not only COMMAND's and its descendants'");
    add("pid,p", po::value<std::vector<std::string>>()->value_name("PID[,PID]"),
        "trace only these processes and their descendants; ends when they have");
    add("duration,d", po::value<std::string>()->value_name("SECONDS"), "end after SECONDS");
    add("user", po::value<std::string>()->value_name("NAME"), "run COMMAND as this user");
    add("entry", "trace entries only: arguments, as they come in");
    add("return", "trace returns only: return values");
    add("begin", "show a call's entry too, as it happens: for calls that never return");
    add("output,o", po::value<std::string>()->value_name("FILE"), "write the events to FILE");
    add("json", "write one JSON object a line (COMMAND's output goes to standard error)");
    add("strict", "exit with 3 if an event was lost");
    add("buffer-size,b", po::value<std::string>()->value_name("SIZE"),
        "bytes per CPU for events not read yet, a power of two from 64K to 1G (default 1M)");
    add("maxactive", po::value<std::string>()->value_name("N"),
        "calls of a function that can be inside at once and be seen (default: 32 per CPU, at "
        "least 128)");
    add("help,h", "show this");
    return options;
}

std::uint32_t parse_number(std::string_view text, std::string_view option, std::uint32_t least,
                           std::uint32_t most) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        throw UsageError(
            fmt::format("{}: '{}' is not a number from {} to {}", option, text, least, most),
            see_help);
    return value;
}

std::vector<std::uint32_t> parse_pids(const std::vector<std::string>& lists) {
    std::vector<std::uint32_t> pids;
    for (const std::string& list : lists) {
        std::istringstream stream(list);
        std::string pid;
        if (list.empty() || list.back() == ',')
            throw UsageError(fmt::format("--pid: '{}' is not a list of process ids", list),
                             see_help);
        while (std::getline(stream, pid, ','))
            pids.push_back(parse_number(pid, "--pid", 1, pid_max));
    }
    return pids;
}

double parse_duration(const std::string& text) {
    std::istringstream stream(text);
    stream.imbue(std::locale::classic());
    double seconds = 0;
    // Above: more than a timer of nanoseconds holds.
    if (!(stream >> seconds) || !stream.eof() || !std::isfinite(seconds) || seconds <= 0 ||
        seconds > 1e9)
        throw UsageError(fmt::format("--duration: '{}' is not a number of seconds above 0", text),
                         see_help);
    return seconds;
}

std::uint64_t parse_buffer_size(const std::string& text) {
    const std::uint64_t size = parse_size(text, "--buffer-size");
    if (size < TRAPLINE_RING_MIN || size > TRAPLINE_RING_MAX || !std::has_single_bit(size))
        throw UsageError(fmt::format("--buffer-size: '{}' is not a power of two from {} to {}",
                                     text, format_size(TRAPLINE_RING_MIN),
                                     format_size(TRAPLINE_RING_MAX)),
                         see_help);
    return size;
}

std::optional<trapline_probe_kind> command_wide_kind(const po::variables_map& given) {
    if (given.count("entry") && given.count("return"))
        throw UsageError("--entry and --return exclude each other; without either, a call shows "
                         "both ends",
                         see_help);
    if (given.count("entry"))
        return TRAPLINE_ENTRY;
    if (given.count("return"))
        return TRAPLINE_RETURN;
    return std::nullopt;
}

void check_together(const TraceOptions& options) {
    if (options.probes.empty())
        throw UsageError("which function? no PROBE is given",
                         "for example: trapline trace vfs_read -- cat /etc/hostname");
    if (options.probes.size() * (options.begin ? 2 : 1) > TRAPLINE_PROBES_MAX)
        throw UsageError("too many probes: a session has at most 65533");
    if (!options.user.empty() && options.command.empty())
        throw UsageError("--user needs a COMMAND to run: put it behind --", see_help);
    if (options.all && options.command.empty())
        throw UsageError("--all needs a COMMAND: without one everybody is traced anyway", see_help);
    if (options.all && !options.pids.empty())
        throw UsageError("--all and --pid exclude each other", see_help);
}

po::variables_map parse_words(const std::vector<std::string>& words) {
    po::options_description all = visible_options();
    all.add_options()("probe", po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add("probe", -1);

    using namespace po::command_line_style;
    po::variables_map given;
    try {
        po::store(po::command_line_parser(words)
                      .options(all)
                      .positional(positional)
                      .style(unix_style & ~allow_guessing)
                      .run(),
                  given);
        po::notify(given);
    } catch (const po::error& error) {
        throw UsageError(error.what(), see_help);
    }
    return given;
}

} // namespace

TraceOptions parse_trace_options(const std::vector<std::string>& arguments) {
    TraceOptions options;

    // COMMAND's own options are none of ours.
    const auto split = std::find(arguments.begin(), arguments.end(), "--");
    const std::vector<std::string> ours(arguments.begin(), split);
    if (split != arguments.end()) {
        options.command.assign(split + 1, arguments.end());
        if (options.command.empty())
            throw UsageError("no COMMAND behind --", see_help);
    }

    const po::variables_map given = parse_words(ours);
    options.help = given.count("help") != 0;
    if (options.help)
        return options;
    options.all = given.count("all") != 0;
    options.json = given.count("json") != 0;
    options.begin = given.count("begin") != 0;
    options.strict = given.count("strict") != 0;
    if (given.count("pid"))
        options.pids = parse_pids(given["pid"].as<std::vector<std::string>>());
    if (given.count("duration"))
        options.duration = parse_duration(given["duration"].as<std::string>());
    if (given.count("user"))
        options.user = given["user"].as<std::string>();
    if (given.count("output"))
        options.output = given["output"].as<std::string>();
    if (given.count("buffer-size"))
        options.buffer_size = parse_buffer_size(given["buffer-size"].as<std::string>());
    if (given.count("maxactive"))
        options.maxactive = parse_number(given["maxactive"].as<std::string>(), "--maxactive", 1,
                                         TRAPLINE_MAXACTIVE_MAX);

    const auto kind = command_wide_kind(given);
    if (given.count("probe"))
        for (const std::string& text : given["probe"].as<std::vector<std::string>>())
            options.probes.push_back(parse_probe(text, kind));
    check_together(options);
    return options;
}

std::string trace_help() {
    std::ostringstream out;
    out << "Usage: trapline trace [OPTION]... PROBE... [-- COMMAND [ARGUMENT]...]\n"
           "\n"
           "Traces kernel functions: what was asked, what came back, how long it took.\n"
           "With COMMAND: what COMMAND and its descendants call, until it ends. Without:\n"
           "what everybody calls, until Ctrl-C.\n"
           "\n"
           "A PROBE is\n"
           "  FUNC                   a call: six raw arguments, return value, duration\n"
           "  kprobe:FUNC[+OFFSET]   the entry, or the instruction at OFFSET, only\n"
           "  kretprobe:FUNC         the return only\n"
           "  MODULE:FUNC            in this module ('kernel': in the kernel image)\n"
           "  FUNC#N                 the Nth of several functions of that name\n"
           "  FUNC+0x1c/0x80 [mod]   an instruction, as an oops prints it\n"
           "  'PROBE if CONDITION'   what fulfils it only: 'vfs_read if $retval < 0'\n"
           "\n"
        << visible_options() << "\n"
        << "Exit status: COMMAND's own (128+n: killed by signal n); 0 without COMMAND; 2 usage;\n"
           "3 events were lost and --strict; 125 Trapline failed; 126 COMMAND can't be executed;\n"
           "127 COMMAND was not found.\n";
    return out.str();
}

} // namespace trapline
