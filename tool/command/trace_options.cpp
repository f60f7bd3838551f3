// SPDX-License-Identifier: GPL-2.0
// The command line of `trapline trace`.
#include "command/trace_options.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

RunCommandLine command_line() {
    RunCommandLine line("trace");
    auto add = line.options().add_options();
    add("output,o", po::value<std::string>()->value_name("FILE"), "write the events to FILE");
    add("json", "write one JSON object a line (COMMAND's output goes to standard error)");
    return line;
}

} // namespace

TraceOptions parse_trace_options(const std::vector<std::string>& arguments) {
    RunCommandLine line = command_line();
    line.parse(arguments);
    TraceOptions options;
    options.help = line.has("help");
    if (options.help)
        return options;
    options.json = line.has("json");
    options.output = line.value("output");
    options.run = line.run_options();
    return options;
}

std::string trace_help() {
    return "Usage: trapline trace [OPTION]... PROBE... [-- COMMAND [ARGUMENT]...]\n"
           "\n"
           "Traces kernel functions: what was asked, what came back, how long it took.\n"
           "With COMMAND: what COMMAND and its descendants call, until it ends. Without:\n"
           "what everybody calls, until Ctrl-C.\n"
           "\n" +
           probe_help() + "\n" + command_line().help() + "\n" + status_help();
}

} // namespace trapline
