// SPDX-License-Identifier: GPL-2.0
// --comm, --cpu, --uid and --cgroup: on what hits a trace is restricted to.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/codec.h"
#include "util/fd.h"

namespace trapline {

// As typed; all that is given must hold, each of them for one of its values.
struct TaskFilter {
    std::vector<std::string> comms;
    std::vector<std::uint32_t> cpus;  // in order, each once
    std::vector<std::string> users;   // numbers or names
    std::vector<std::string> cgroups; // paths
};

// How the kernel calls a task of that name: its first 15 bytes.
std::string task_name(std::string_view name);

// A user's number, whether that or his name is given. Error if there is none of that name.
std::uint32_t user_id(const std::string& user);

// Error naming one that isn't among `possible`.
void expect_cpus(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> possible);

// Where cgroup v2 is mounted, by the text of /proc/self/mountinfo; empty: nowhere.
std::string cgroup_mount(std::string_view mountinfo);

// The CPUs that there can be; none where nothing tells.
std::vector<std::uint32_t> possible_cpus();

// The filter as the module takes it. What it refers to by descriptors must live until the
// session is configured.
class FoundFilter {
public:
    // `say` is given a line for a name that is cut. Error for what there isn't.
    FoundFilter(const TaskFilter& filter, const std::function<void(std::string_view)>& say);

    void put_into(SessionConfig& config) const;

private:
    std::vector<std::string> comms_;
    std::vector<std::uint32_t> cpus_;
    std::vector<std::uint32_t> uids_;
    std::vector<UniqueFd> cgroups_;
};

} // namespace trapline
