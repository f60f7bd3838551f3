// SPDX-License-Identifier: GPL-2.0
// The command line of `trapline report`.
#include "report/report_options.h"

#include <boost/program_options.hpp>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "shared/record.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr const char* see_help = "see: trapline report --help";

constexpr const char* default_directory = "trapline-data";

constexpr std::size_t comm_max = TL_COMM_SIZE - 1;

po::options_description visible_options() {
    po::options_description options("Options", 100, 60);
    auto add = options.add_options();
    using Words = std::vector<std::string>;
    add("probe", po::value<Words>()->value_name("GLOB"),
        "only events whose name fits GLOB; marks are named 'mark'");
    add("pid,p", po::value<Words>()->value_name("PID[,PID]"), "only these processes");
    add("comm", po::value<Words>()->value_name("NAME"), "only tasks of this name");
    add("time", po::value<Words>()->value_name("START,END"),
        "only from START to END, in seconds as the lines show them; either may be left out");
    add("json", "write one JSON object a line");
    add("csv", "write comma-separated values, with a row of names first");
    add("console", po::value<std::string>()->value_name("LOG"),
        "show what a crashing kernel printed into LOG (-: standard input)");
    add("summary", "write what the trace comes to, instead of its events");
    add("help,h", "show this");
    return options;
}

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t comma = list.find(',');
        parts.push_back(list.substr(0, comma));
        if (comma == std::string_view::npos)
            return parts;
        list.remove_prefix(comma + 1);
    }
}

// All of `text`, in decimal; digits only.
std::optional<std::uint64_t> parse_digits(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::uint32_t parse_pid(std::string_view text, const std::string& list) {
    const auto pid = parse_digits(text);
    if (!pid || *pid > std::numeric_limits<std::uint32_t>::max())
        throw UsageError(fmt::format("--pid: '{}' is not a list of process ids", escaped(list)),
                         see_help);
    return static_cast<std::uint32_t>(*pid);
}

// Nanoseconds from seconds. `until`: with the rest of the microsecond that lines show of it.
std::optional<std::uint64_t> parse_seconds(std::string_view text, bool until) {
    constexpr std::size_t ns_digits = 9;
    constexpr std::size_t shown_digits = 6;
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    const std::size_t point = text.find('.');
    std::string fraction;
    if (point != std::string_view::npos)
        fraction = text.substr(point + 1);
    const bool exact = fraction.size() > shown_digits;
    if (fraction.size() > ns_digits || (point != std::string_view::npos && fraction.empty()))
        return std::nullopt;
    fraction.resize(ns_digits, '0');
    const auto seconds = parse_digits(text.substr(0, point));
    const auto rest = parse_digits(fraction);
    if (!seconds || !rest || *seconds >= std::numeric_limits<std::uint64_t>::max() / ns_per_s)
        return std::nullopt;
    return *seconds * ns_per_s + *rest + (until && !exact ? 999 : 0);
}

TimeRange parse_time(const std::string& text) {
    const auto refuse = [&](std::string_view why) {
        return UsageError(fmt::format("--time: '{}' {}", escaped(text), why),
                          "for example: --time 9.119394,9.5 or --time 9.119394,");
    };
    const std::vector<std::string_view> ends = split(text);
    TimeRange range;
    if (ends.size() != 2)
        throw refuse("is not START,END");
    if (ends[0].empty() && ends[1].empty())
        throw refuse("has neither a START nor an END");
    for (const std::size_t i : {0U, 1U}) {
        if (ends[i].empty())
            continue;
        const auto ns = parse_seconds(ends[i], i == 1);
        if (!ns)
            throw refuse("is not two numbers of seconds");
        (i == 0 ? range.from_ns : range.to_ns) = *ns;
    }
    if (range.from_ns > range.to_ns)
        throw refuse("ends before it starts");
    return range;
}

// As the kernel cuts a task's name.
std::string cut_comm(const std::string& name, std::vector<std::string>& warnings) {
    if (name.size() <= comm_max)
        return name;
    std::string cut = name.substr(0, comm_max);
    warnings.push_back(fmt::format("--comm: the kernel keeps {} bytes of a task's name: looking "
                                   "for '{}'",
                                   comm_max, escaped(cut)));
    return cut;
}

ReportOptions::Form form(const po::variables_map& given) {
    const bool json = given.count("json") != 0;
    const bool csv = given.count("csv") != 0;
    if (json && csv)
        throw UsageError("--json and --csv exclude each other", see_help);
    if ((json || csv) && given.count("summary"))
        throw UsageError(
            fmt::format("--summary is text: {} excludes it", json ? "--json" : "--csv"), see_help);
    if (json)
        return ReportOptions::Form::json;
    return csv ? ReportOptions::Form::csv : ReportOptions::Form::text;
}

} // namespace

ReportOptions parse_report_options(const std::vector<std::string>& arguments) {
    const po::variables_map given =
        parse_command_line(arguments, visible_options(), "directory", see_help);
    const auto words = [&](const char* name) {
        return given.count(name) ? given[name].as<std::vector<std::string>>()
                                 : std::vector<std::string>{};
    };
    ReportOptions options;
    options.help = given.count("help") != 0;
    if (options.help)
        return options;
    options.form = form(given);
    options.summary = given.count("summary") != 0;
    options.wanted.probes = words("probe");
    for (const std::string& list : words("pid"))
        for (const std::string_view pid : split(list))
            options.wanted.pids.push_back(parse_pid(pid, list));
    for (const std::string& name : words("comm"))
        options.wanted.comms.push_back(cut_comm(name, options.warnings));
    for (const std::string& range : words("time"))
        options.wanted.times.push_back(parse_time(range));
    options.directories = words("directory");
    if (given.count("console") != 0) {
        options.console = given["console"].as<std::string>();
        if (!options.directories.empty())
            throw UsageError(fmt::format("--console: the log has all that can be shown of it; {} "
                                         "is too much",
                                         escaped(options.directories.front())),
                             see_help);
    } else if (options.directories.empty())
        options.directories.emplace_back(default_directory);
    return options;
}

std::string report_help() {
    std::ostringstream out;
    out << "Usage: trapline report [OPTION]... [DIR]...\n"
           "       trapline report [OPTION]... --console LOG\n"
           "\n"
           "Shows what was recorded in DIR (default: "
        << default_directory
        << "). Several traces, of several\n"
           "machines perhaps, are shown together in real time. Needs no privilege.\n"
           "\n"
        << visible_options() << "\n"
        << "Options that choose events can be combined: each must hold. One given several times\n"
           "holds if one of its values does.\n"
           "\n"
           "Exit status: 0; 2 usage; 125 Trapline failed, or a trace is damaged: what can be read\n"
           "was read.\n";
    return out.str();
}

} // namespace trapline
