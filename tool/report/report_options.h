// SPDX-License-Identifier: GPL-2.0
// What `trapline report` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/filter.h"

namespace trapline {

struct ReportOptions {
    enum class Form : std::uint8_t { text, json, csv };

    std::vector<std::string> directories; // never empty, but with console
    std::optional<std::string> console;   // instead: a kernel's log
    Form form = Form::text;
    bool summary = false; // instead of the events
    Wanted wanted;        // its comms as they can be in a trace
    std::vector<std::string> warnings;
    bool help = false;
};

// `arguments`: those behind the word "report". UsageError names the offending one.
ReportOptions parse_report_options(const std::vector<std::string>& arguments);

std::string report_help();

} // namespace trapline
