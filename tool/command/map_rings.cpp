// SPDX-License-Identifier: GPL-2.0
// All rings of a session, mapped.
#include "command/map_rings.h"

#include "command/task_filter.h"

namespace trapline {

namespace {

// The CPUs below `count` that there can be. All, if nothing tells.
std::vector<std::uint32_t> possible_cpus_below(std::uint32_t count) {
    std::vector<std::uint32_t> cpus = possible_cpus();
    std::erase_if(cpus, [count](std::uint32_t cpu) { return cpu >= count; });
    if (cpus.empty())
        for (std::uint32_t cpu = 0; cpu < count; cpu++)
            cpus.push_back(cpu);
    return cpus;
}

} // namespace

std::vector<RingMapping> map_rings(const Session& session, std::uint32_t cpus) {
    std::vector<RingMapping> rings;
    for (const std::uint32_t cpu : possible_cpus_below(cpus))
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
