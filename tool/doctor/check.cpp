// SPDX-License-Identifier: GPL-2.0
// The list of checks, and how their results are shown.
#include "doctor/check.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <sstream>

#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::size_t level_width = 7; // of the longest word

std::string_view word(Level level) {
    switch (level) {
    case Level::ok:
        return "ok";
    case Level::note:
        return "note";
    case Level::problem:
        return "problem";
    case Level::unknown:
        break;
    }
    return "unknown";
}

std::string_view colour_of(Level level) {
    switch (level) {
    case Level::problem:
        return "\033[31m";
    case Level::ok:
        return {};
    case Level::note:
    case Level::unknown:
        break;
    }
    return "\033[1m";
}

} // namespace

const std::vector<Check>& checks() {
    static const std::vector<Check> all = {
        {"permissions", check_permissions},
        {"loadable modules", check_loadable_modules},
        {"headers package", check_headers},
        {"module built", check_built},
        {"module installed", check_installed},
        {"vermagic", check_vermagic},
        {"signature", check_signature},
        {"module loaded", check_loaded},
        {"ABI match", check_abi_match},
        {"kprobes", check_kprobes},
        {"kprobes enabled", check_kprobes_enabled},
        {"lockdown", check_lockdown},
        {"kallsyms", check_kallsyms},
        {"blacklist", check_blacklist},
        {"BTF", check_btf},
        {"debug information", check_debug_information},
        {"this build", check_build},
    };
    return all;
}

std::vector<Finding> examine(const Machine& machine) {
    std::vector<Finding> findings;
    for (const Check& check : checks())
        findings.push_back({check.name, check.look(machine)});
    return findings;
}

bool prevents_tracing(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.result.level == Level::problem;
    });
}

std::string listing(const std::vector<Finding>& findings, bool colour) {
    std::size_t width = 0;
    for (const Finding& finding : findings)
        width = std::max(width, finding.name.size());

    std::string out;
    const auto to = std::back_inserter(out);
    for (const auto& [name, result] : findings) {
        const std::string_view colouring = colour ? colour_of(result.level) : std::string_view();
        fmt::format_to(to, "{}{:<{}}{}  {:<{}}  {}\n", colouring, word(result.level), level_width,
                       colouring.empty() ? "" : "\033[0m", name, width,
                       without_controls(result.found));
        std::istringstream lines(result.remedy);
        for (std::string line; std::getline(lines, line);)
            fmt::format_to(to, "{:{}}{}\n", "", level_width + 2, without_controls(line));
    }
    return out;
}

} // namespace trapline
