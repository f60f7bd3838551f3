// SPDX-License-Identifier: GPL-2.0
// What `trapline trace` was asked for.
#pragma once

#include <string>
#include <vector>

#include "command/run_options.h"

namespace trapline {

struct TraceOptions {
    RunOptions run;
    std::string output; // events go to this file; empty: standard output
    bool json = false;
    bool help = false;
};

// `arguments`: those behind the word "trace". UsageError names the offending one.
TraceOptions parse_trace_options(const std::vector<std::string>& arguments);

std::string trace_help();

} // namespace trapline
