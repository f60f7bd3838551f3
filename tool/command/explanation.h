// SPDX-License-Identifier: GPL-2.0
// What `trapline explain` found out of a probe, and the text that it makes of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "disassembly/disassembler.h"
#include "spec/compile.h"
#include "spec/probe_spec.h"
#include "symbols/place.h"

namespace trapline {

// The bytes at the site, at one time.
struct SiteState {
    std::string when; // "before", "trap set"
    std::vector<std::byte> bytes;
};

// Whether the kernel would make a jump of a breakpoint.
enum class Optimisation : std::uint8_t {
    unknown, // no such sysctl: the kernel can't, or /proc isn't mounted
    off,
    on,
};

struct NamedAddress {
    std::string name;
    std::uint64_t address = 0; // 0: hidden
};

struct Explanation {
    ProbeSpec spec;
    Tested tested;                   // its condition
    std::string symbol;              // "symbol" or "module:symbol"
    std::uint64_t function_size = 0; // 0: unknown
    std::uint64_t offset = 0;        // of the trap: beyond what was asked for behind an endbr64
    std::uint64_t address = 0;       // where the trap is, as the session tells
    std::vector<SiteState> states;   // before, with the trap, with another in its place, after
    Optimisation optimisation = Optimisation::unknown;
    std::chrono::milliseconds optimisation_wait{0}; // how long a jump was waited for in vain
    std::optional<Place> target;                    // what the jump or call leads into
    bool addresses_hidden = false;                  // in /proc/kallsyms
    std::optional<NamedAddress> exception;          // what a breakpoint enters the kernel by
    std::optional<NamedAddress> trampoline;         // what calls return to

    const SiteState& before() const { return states.front(); }
    const SiteState& trapped() const { return states.at(states.size() - 2); } // the last trap
};

// `disassembler`: null where there is none.
std::string explanation_text(const Explanation& explanation, const Disassembler* disassembler);

} // namespace trapline
