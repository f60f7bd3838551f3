// SPDX-License-Identifier: GPL-2.0
// The command line of `trapline record`.
#include "command/record_options.h"

#include <boost/algorithm/string/predicate.hpp>
#include <fmt/format.h>

#include "util/error.h"
#include "util/escape.h"
#include "util/size.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

// A chunk of one CPU, and the metadata.
constexpr std::uint64_t recording_size_min = std::uint64_t{128} << 10;

RunCommandLine command_line() {
    RunCommandLine line("record");
    auto add = line.options().add_options();
    add("output,o", po::value<std::string>()->value_name("DIR"),
        "write the recording to DIR (default trapline-data); an older one there becomes DIR.old");
    add("max-size", po::value<std::string>()->value_name("SIZE"),
        "end before the recording is larger than SIZE");
    add("overwrite", "a flight recorder: keep the last events of every CPU in memory, and write "
                     "them when Ctrl-C, SIGUSR1, --until or COMMAND's failure ends it");
    add("until", po::value<std::vector<std::string>>()->value_name("PROBE"),
        "end when this probe is hit; with a condition: 'vfs_read if $retval < 0'");
    add("snapshot-on", po::value<std::vector<std::string>>()->value_name("TRIGGER"),
        "with --overwrite: write the last events, and go on, when this comes: a PROBE, SIGINT "
        "(Ctrl-C), SIGUSR1, or 'failure' of COMMAND");
    return line;
}

TriggerSpec trigger(const RunCommandLine& line, const std::string& option, const std::string& text,
                    trapline_trigger what) {
    try {
        return {line.probe(text), what, option};
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("--{}: {}", option, error.what()), error.hint());
    }
}

void take_triggers(const RunCommandLine& line, RecordOptions& options) {
    for (const std::string& text : line.values("until"))
        options.triggers.push_back(trigger(line, "until", text, TRAPLINE_TRIGGER_STOP));
    for (const std::string& text : line.values("snapshot-on")) {
        if (text == "SIGINT")
            options.snapshot_on_interrupt = true;
        else if (text == "SIGUSR1")
            options.snapshot_on_usr1 = true;
        else if (text == "failure")
            options.snapshot_on_failure = true;
        else if (boost::algorithm::istarts_with(text, "SIG") ||
                 boost::algorithm::iequals(text, "failure"))
            throw UsageError(
                fmt::format("--snapshot-on: '{}' is none of SIGINT, SIGUSR1 and failure",
                            escaped(text)),
                "a function of that name: kprobe:" + text);
        else
            options.triggers.push_back(
                trigger(line, "snapshot-on", text, TRAPLINE_TRIGGER_ANNOUNCE));
    }
}

void check_together(const RunCommandLine& line, const RecordOptions& options) {
    if (line.has("snapshot-on") && !options.overwrite)
        throw UsageError("--snapshot-on needs --overwrite: without it every event is written "
                         "anyway",
                         line.see_help());
    if (options.snapshot_on_failure && options.run.command.empty())
        throw UsageError("--snapshot-on failure needs a COMMAND: put it behind --",
                         line.see_help());
    if (options.run.probes.size() * (options.run.begin ? 2 : 1) + options.triggers.size() >
        TRAPLINE_PROBES_MAX)
        throw UsageError(
            fmt::format("too many probes: a session has at most {}", TRAPLINE_PROBES_MAX));
    if (options.directory.empty())
        throw UsageError("--output: a directory's name is expected", line.see_help());
}

} // namespace

RecordOptions parse_record_options(const std::vector<std::string>& arguments) {
    RunCommandLine line = command_line();
    line.parse(arguments);
    RecordOptions options;
    options.help = line.has("help");
    if (options.help)
        return options;
    options.overwrite = line.has("overwrite");
    if (line.has("output"))
        options.directory = line.value("output");
    if (line.has("max-size")) {
        options.max_size = parse_size(line.value("max-size"), "--max-size");
        if (options.max_size < recording_size_min)
            throw UsageError(fmt::format("--max-size: {} holds no event: {} is the least",
                                         line.value("max-size"), format_size(recording_size_min)),
                             line.see_help());
    }
    options.run = line.run_options();
    take_triggers(line, options);
    check_together(line, options);
    return options;
}

std::string record_help() {
    return "Usage: trapline record [OPTION]... PROBE... [-- COMMAND [ARGUMENT]...]\n"
           "\n"
           "Writes kernel functions' calls to disk, as a CTF trace: for trapline report, and for\n"
           "babeltrace2 and its like. With COMMAND: what COMMAND and its descendants call, until\n"
           "it ends. Without: what everybody calls, until Ctrl-C.\n"
           "\n" +
           probe_help() + "\n" + command_line().help() + "\n" + status_help();
}

} // namespace trapline
