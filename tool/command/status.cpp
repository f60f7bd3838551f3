// SPDX-License-Identifier: GPL-2.0
// `trapline status`: who traces now, with which probes, and what became of their hits.
#include "command/status.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>
#include <utility>

#include "command/session_tables.h"
#include "control/module_loader.h"
#include "control/session.h"
#include "output/output_file.h"
#include "shared/trapline.h"
#include "util/error.h"
#include "util/text_file.h"

namespace trapline {

namespace {

constexpr const char* help =
    "Usage: trapline status\n"
    "\n"
    "Shows the sessions that are open, who holds them, their probes, and what became of\n"
    "the probes' hits so far.\n"
    "\n"
    "Exit status: 0, also where there is no session, or the module isn't loaded; 2 for\n"
    "wrong usage, 125 if trapline fails.\n";

constexpr const char* see_help = "see: trapline status --help";

// All sessions but the one that asks.
std::vector<SessionState> ask(Session& session) {
    const std::vector<SessionReport> reports = session.sessions();
    const Holders holders = find_holders(); // whoever opens one later is not among the reports
    std::vector<SessionState> states;
    for (const SessionReport& report : reports) {
        if (report.own)
            continue;
        auto probes = session.probes_of(report.number);
        if (!probes)
            continue; // it was closed since
        SessionState state{.report = report,
                           .holders = {},
                           .all_holders = holders.complete,
                           .probes = std::move(*probes)};
        std::copy_if(holders.found.begin(), holders.found.end(), std::back_inserter(state.holders),
                     [&](const Holder& holder) { return holder.session == report.number; });
        states.push_back(std::move(state));
    }
    return states;
}

std::string status_text() {
    expect_own_node();
    try {
        Session session;
        const std::vector<SessionState> states = ask(session);
        return states.empty() ? "no session: nothing is being traced\n" : session_tables(states);
    } catch (const OpenError& error) {
        if (error.failure() != OpenFailure::not_loaded)
            throw;
    }
    // A node may be missing, too, or /proc, which would tell.
    if (access("/proc/misc", F_OK) != 0 || misc_minor(read_text("/proc/misc"), TRAPLINE_DEVICE)) {
        ensure_loaded([](std::string_view) {});
        throw Error("the trapline module came or went while it was asked", "try again");
    }
    return "the trapline module is not loaded: nothing is being traced\n";
}

} // namespace

int status_command(const std::vector<std::string>& arguments) {
    if (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")) {
        std::fputs(help, stdout);
        return 0;
    }
    if (!arguments.empty())
        throw UsageError("status takes no argument, not '" + arguments[0] + "'", see_help);
    const std::string text = status_text();
    try {
        OutputFile("").write(text);
    } catch (const OutputClosed&) {
        die_of_closed_output();
    }
    return 0;
}

} // namespace trapline
