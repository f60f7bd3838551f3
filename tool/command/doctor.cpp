// SPDX-License-Identifier: GPL-2.0
// `trapline doctor`: what stands in the way of tracing here, and what removes it.
#include "command/doctor.h"

#include <cstdio>
#include <fmt/format.h>

#include "doctor/check.h"
#include "output/output_file.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr const char* help =
    "Usage: trapline doctor\n"
    "\n"
    "Tells what stands in the way of tracing on this machine: a line a check, and\n"
    "below it the command that puts it right. It changes nothing, and loads nothing.\n"
    "\n"
    "  ok       as it should be\n"
    "  note     something is missing, but tracing goes without\n"
    "  problem  prevents tracing\n"
    "  unknown  it can't be told, or not by whoever asks\n"
    "\n"
    "Exit status: 0 nothing prevents tracing; 1 something does; 2 usage; 125 Trapline\n"
    "failed.\n";

} // namespace

int doctor_command(const std::vector<std::string>& arguments) {
    if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::fputs(help, stdout);
        return 0;
    }
    if (!arguments.empty())
        throw UsageError(fmt::format("'{}': doctor takes no arguments", arguments[0]),
                         "see: trapline doctor --help");

    OutputFile output("");
    const System system;
    const std::vector<Finding> findings = examine(Machine(system));
    try {
        output.write(listing(findings, output.terminal()));
    } catch (const OutputClosed&) {
        die_of_closed_output();
    }
    return prevents_tracing(findings) ? 1 : 0;
}

} // namespace trapline
