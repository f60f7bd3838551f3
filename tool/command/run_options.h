// SPDX-License-Identifier: GPL-2.0
// The part of the command line that `trace` and `record` share: what to probe, whom to
// trace, when to end.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/task_filter.h"
#include "spec/probe_set.h"
#include "spec/probe_spec.h"
#include "types/type_files.h"

namespace trapline {

// @SET
struct CompiledProbes {
    std::string path;
    ProbeSet set;
};

struct RunOptions {
    std::vector<ProbeSpec> probes;
    std::vector<std::string> command; // behind --; empty: none
    bool all = false;                 // everybody's calls, not only COMMAND's
    std::vector<std::uint32_t> pids;  // these and their descendants
    TaskFilter only;                  // and of these what fulfils this
    std::optional<double> duration;   // seconds
    std::string user;                 // COMMAND runs as; empty: as we do
    bool begin = false;               // record entries too, as they happen
    bool strict = false;              // losses are a failure
    std::uint64_t buffer_size = 0;    // bytes per CPU; 0: the module's default
    bool guard = true;                // against probes that take too much of a CPU
    std::uint32_t limit = 0;          // events, after which it ends; 0: none
    std::uint32_t max_rate = 0;       // events of each probe in a second; 0: no limit
    std::uint32_t maxactive = 0;      // calls inside at once per probe; 0: the module's choice
    TypeFiles types;                  // none: the running kernel's own, or the set's
    std::string system_map;           // empty: none was named
    std::shared_ptr<const CompiledProbes> set; // null: PROBEs were named
    bool force = false;                        // whatever kernel the set was compiled for
};

// A command line with options of its own besides the shared ones.
class RunCommandLine {
public:
    // `name`: "trace" or "record".
    explicit RunCommandLine(std::string_view name);

    // For a command's own options, before parse().
    boost::program_options::options_description& options() { return options_; }

    // `arguments`: those behind `name`. UsageError names the offending one.
    void parse(const std::vector<std::string>& arguments);

    bool has(const char* option) const { return given_.count(option) != 0; }
    std::string value(const char* option) const; // empty if not given
    std::vector<std::string> values(const char* option) const;

    // What the shared options say. UsageError for what can't be together.
    RunOptions run_options() const;

    // PROBE as --entry, --return and --stack would have it.
    ProbeSpec probe(const std::string& text) const;

    const std::string& see_help() const { return see_help_; }
    std::string help() const; // the list of options

private:
    std::optional<trapline_probe_kind> kind() const;
    unsigned stack() const; // frames; 0: none are wanted
    void take_probes(RunOptions& options) const;
    void check_together(const RunOptions& options) const;

    std::string name_;
    std::string see_help_;
    boost::program_options::options_description options_;
    boost::program_options::variables_map given_;
    std::vector<std::string> command_;
};

// What a command takes for a PROBE.
enum class ProbeForms : std::uint8_t {
    all,
    one,      // of one function: no pattern, no set
    compiled, // of what has a name wherever it runs: nor an address
};

// What every command says of a PROBE and of COMMAND's exit status.
std::string probe_help(ProbeForms forms = ProbeForms::all);
std::string status_help();

} // namespace trapline
