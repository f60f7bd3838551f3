// SPDX-License-Identifier: GPL-2.0
// What `trapline record` was asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/probe_plan.h"
#include "command/run_options.h"

namespace trapline {

struct RecordOptions {
    RunOptions run;
    std::string directory = "trapline-data";
    bool overwrite = false;            // a flight recorder
    std::uint64_t max_size = 0;        // bytes of the recording; 0: no limit
    std::vector<TriggerSpec> triggers; // probes of --until and --snapshot-on
    // What --snapshot-on names besides probes: these don't end the recording.
    bool snapshot_on_interrupt = false; // SIGINT: Ctrl-C
    bool snapshot_on_usr1 = false;
    bool snapshot_on_failure = false; // COMMAND's
    bool help = false;
};

// `arguments`: those behind the word "record". UsageError names the offending one.
RecordOptions parse_record_options(const std::vector<std::string>& arguments);

std::string record_help();

} // namespace trapline
