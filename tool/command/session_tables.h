// SPDX-License-Identifier: GPL-2.0
// Sessions and their probes, as tables for people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/holders.h"
#include "control/codec.h"

namespace trapline {

struct SessionState {
    SessionReport report;
    std::vector<Holder> holders;
    bool all_holders = true; // no other can be there, but who has a mapping only
    std::vector<ProbeReport> probes;
};

// Lines, each with its newline.
std::string session_tables(std::span<const SessionState> sessions);

} // namespace trapline
