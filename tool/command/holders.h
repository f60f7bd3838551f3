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

// As far as `proc` may be read, by session and pid; each process once per session. Whoever has
// a mapping left and no descriptor isn't found.
std::vector<Holder> find_holders(const std::string& proc = "/proc");

} // namespace trapline
