// SPDX-License-Identifier: GPL-2.0
// What `trapline doctor` looks at, and what it makes of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/machine.h"

namespace trapline {

enum class Level {
    ok,
    note,    // something is missing, but tracing goes without
    problem, // prevents tracing
    unknown, // can't be told, or not by whoever asks
};

struct Result {
    Level level = Level::ok;
    std::string found;  // one line
    std::string remedy; // commands, a line each; empty: nothing to be done
};

struct Check {
    std::string_view name;
    Result (*look)(const Machine& machine);
};

// In the order in which things have to be put right.
const std::vector<Check>& checks();

struct Finding {
    std::string_view name;
    Result result;
};

std::vector<Finding> examine(const Machine& machine);

// Whether any of it prevents tracing.
bool prevents_tracing(const std::vector<Finding>& findings);

// A line each, "LEVEL CHECK FOUND" in columns, with the remedy's lines below.
std::string listing(const std::vector<Finding>& findings, bool colour);

// The checks, for checks() and their tests.
Result check_loadable_modules(const Machine& machine);
Result check_headers(const Machine& machine);
Result check_built(const Machine& machine);
Result check_installed(const Machine& machine);
Result check_vermagic(const Machine& machine);
Result check_signature(const Machine& machine);
Result check_loaded(const Machine& machine);
Result check_abi_match(const Machine& machine);

Result check_kprobes(const Machine& machine);
Result check_kprobes_enabled(const Machine& machine);
Result check_lockdown(const Machine& machine);
Result check_kallsyms(const Machine& machine);
Result check_blacklist(const Machine& machine);
Result check_btf(const Machine& machine);
Result check_debug_information(const Machine& machine);
Result check_permissions(const Machine& machine);
Result check_build(const Machine& machine);

} // namespace trapline
