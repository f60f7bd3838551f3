// SPDX-License-Identifier: GPL-2.0
// `trapline mark`: puts a text into the streams that are being recorded.
#include "command/mark.h"

#include <cstdio>
#include <fmt/format.h>

#include "control/session.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr const char* help =
    "Usage: trapline mark TEXT...\n"
    "\n"
    "Puts TEXT, as an event of its own, into the stream of every trace and\n"
    "recording that runs now.\n";

constexpr const char* see_help = "see: trapline mark --help";

// Like echo's, with a blank between.
std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

} // namespace

int mark_command(const std::vector<std::string>& arguments) {
    std::vector<std::string> words = arguments;
    if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
        std::fputs(help, stdout);
        return 0;
    }
    if (!words.empty() && words[0] == "--")
        words.erase(words.begin());
    else if (!words.empty() && words[0].size() > 1 && words[0][0] == '-')
        throw UsageError(fmt::format("unrecognised option '{}'", words[0]), see_help);
    const std::string text = joined(words);
    if (text.empty())
        throw UsageError("which TEXT? none is given", see_help);
    if (text.size() > TRAPLINE_MARK_MAX)
        throw UsageError(
            fmt::format("TEXT has {} bytes: {} are the most", text.size(), TRAPLINE_MARK_MAX),
            see_help);

    Session session;
    const MarkReport report = session.mark(text);
    if (report.lost != 0)
        throw Error(fmt::format("the mark was dropped in {} of {} traces: the ring is full",
                                report.lost, report.marked + report.lost),
                    "it is counted there as a lost event; a larger --buffer-size leaves room");
    if (report.marked == 0)
        throw Error("nothing is being traced, so there is no stream to put a mark into",
                    "start it first: trapline record PROBE");
    return 0;
}

} // namespace trapline
