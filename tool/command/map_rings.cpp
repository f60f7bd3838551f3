// SPDX-License-Identifier: GPL-2.0
// All rings of a session, mapped.
#include "command/map_rings.h"

#include <fstream>

namespace trapline {

namespace {

// The CPUs below `count` that there can be: "0-3,8-11". All, if nothing tells.
std::vector<std::uint32_t> possible_cpus(std::uint32_t count) {
    std::ifstream file("/sys/devices/system/cpu/possible");
    std::vector<std::uint32_t> cpus;
    std::uint32_t first = 0;
    while (file >> first) {
        std::uint32_t last = first;
        if (file.peek() == '-')
            file.ignore() >> last;
        for (std::uint32_t cpu = first; cpu <= last && cpu < count; cpu++)
            cpus.push_back(cpu);
        file.ignore(); // the comma
    }
    if (cpus.empty())
        for (std::uint32_t cpu = 0; cpu < count; cpu++)
            cpus.push_back(cpu);
    return cpus;
}

} // namespace

std::vector<RingMapping> map_rings(const Session& session, std::uint32_t cpus) {
    std::vector<RingMapping> rings;
    for (const std::uint32_t cpu : possible_cpus(cpus))
        rings.push_back(session.map_ring(cpu));
    return rings;
}

std::vector<RingOfCpu> memory_of(std::span<const RingMapping> rings) {
    std::vector<RingOfCpu> all;
    for (const RingMapping& ring : rings)
        all.push_back({ring.cpu(), ring.memory()});
    return all;
}

} // namespace trapline
