// SPDX-License-Identifier: GPL-2.0
// The processes that hold sessions' descriptors now.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trapline {

struct Holder {
    std::uint32_t session = 0; // number
    std::uint32_t pid = 0;
    std::string comm;
};

struct Holders {
    std::vector<Holder> found; // by session and pid; each process once per session
    bool complete = true;      // all of `proc` could be read
};

// Whoever has a mapping left and no descriptor isn't found.
Holders find_holders(const std::string& proc = "/proc");

} // namespace trapline
