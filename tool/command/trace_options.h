// SPDX-License-Identifier: GPL-2.0
// What `trapline trace` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/probe_spec.h"

namespace trapline {

struct TraceOptions {
    std::vector<ProbeSpec> probes;
    std::vector<std::string> command; // behind --; empty: none
    bool all = false;                 // everybody's calls, not only COMMAND's
    std::vector<std::uint32_t> pids;  // these and their descendants
    std::optional<double> duration;   // seconds
    std::string user;                 // COMMAND runs as; empty: as we do
    std::string output;               // events go to this file; empty: standard output
    bool json = false;
    bool begin = false;            // show entries too, as they happen
    bool strict = false;           // losses are a failure
    std::uint64_t buffer_size = 0; // bytes per CPU; 0: the module's default
    std::uint32_t maxactive = 0;   // calls inside at once per probe; 0: the module's choice
    bool help = false;
};

// `arguments`: those behind the word "trace". UsageError names the offending one.
TraceOptions parse_trace_options(const std::vector<std::string>& arguments);

std::string trace_help();

} // namespace trapline
