// SPDX-License-Identifier: GPL-2.0
// --comm, --cpu, --uid and --cgroup: on what hits a trace is restricted to.
#include "command/task_filter.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sstream>
#include <sys/vfs.h>

#include "shared/record.h"
#include "util/cpu_list.h"
#include "util/error.h"
#include "util/escape.h"
#include "util/text_file.h"

namespace trapline {

namespace {

constexpr auto cgroup2_magic = 0x63677270; // CGROUP2_SUPER_MAGIC

std::string shown_list(std::span<const std::uint32_t> cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1)
            last++;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
        if (last != i)
            text += fmt::format("-{}", cpus[last]);
        i = last + 1;
    }
    return text;
}

bool is_cgroup2(int fd) {
    struct statfs status {};
    return fstatfs(fd, &status) == 0 && status.f_type == cgroup2_magic;
}

UniqueFd open_directory(const std::string& path) {
    return UniqueFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// A directory of cgroup v2, by its path or by that below the mount.
UniqueFd open_cgroup(const std::string& path) {
    if (path.starts_with('/')) {
        UniqueFd fd = open_directory(path);
        if (fd && is_cgroup2(fd.get()))
            return fd;
    }
    const std::string mount = cgroup_mount(read_text("/proc/self/mountinfo"));
    if (mount.empty())
        throw Error("--cgroup: no cgroup v2 is mounted here",
                    "mount -t cgroup2 none /sys/fs/cgroup; where the kernel has none, use -p");
    UniqueFd fd = open_directory(fmt::format("{}/{}", mount, path));
    if (!fd)
        throw Error(fmt::format("--cgroup: {}: there is no such directory, nor one below {}",
                                escaped(path), mount),
                    "a task's own is told by: cat /proc/PID/cgroup");
    if (!is_cgroup2(fd.get()))
        throw Error(fmt::format("--cgroup: {} is no directory of cgroup v2", escaped(path)),
                    fmt::format("they are below {}", mount));
    return fd;
}

} // namespace

std::string task_name(std::string_view name) {
    return std::string(name.substr(0, TL_COMM_SIZE - 1));
}

std::uint32_t user_id(const std::string& user) {
    std::uint32_t uid = 0;
    const auto [end, error] = std::from_chars(user.data(), user.data() + user.size(), uid);
    if (error == std::errc{} && end == user.data() + user.size() && uid != UINT32_MAX)
        return uid;
    const passwd* entry = getpwnam(user.c_str()); // NOLINT(concurrency-mt-unsafe)
    if (!entry)
        throw Error(fmt::format("--uid: there is no user '{}'", escaped(user)),
                    "a number, or a name that this knows: getent passwd");
    return entry->pw_uid;
}

void expect_cpus(std::span<const std::uint32_t> cpus, std::span<const std::uint32_t> possible) {
    for (const std::uint32_t cpu : cpus)
        if (!possible.empty() && !std::binary_search(possible.begin(), possible.end(), cpu))
            throw Error(fmt::format("--cpu: there is no CPU {}", cpu),
                        fmt::format("this machine can have {}", shown_list(possible)));
}

std::string cgroup_mount(std::string_view mountinfo) {
    std::istringstream lines{std::string(mountinfo)};
    std::string line;
    while (std::getline(lines, line)) {
        const std::size_t separator = line.find(" - ");
        if (separator == std::string::npos ||
            !std::string_view(line).substr(separator + 3).starts_with("cgroup2 "))
            continue;
        // ID PARENT MAJOR:MINOR ROOT MOUNT-POINT ...
        std::istringstream fields(line);
        std::string field;
        for (int i = 0; i < 5; i++)
            fields >> field;
        return field;
    }
    return {};
}

std::vector<std::uint32_t> possible_cpus() {
    return parse_cpu_list(read_text("/sys/devices/system/cpu/possible"))
        .value_or(std::vector<std::uint32_t>());
}

FoundFilter::FoundFilter(const TaskFilter& filter, const std::function<void(std::string_view)>& say)
    : cpus_(filter.cpus) {
    expect_cpus(cpus_, possible_cpus());
    for (const std::string& name : filter.comms) {
        comms_.push_back(task_name(name));
        if (comms_.back() != name)
            say(fmt::format("warning: --comm: names of tasks have {} bytes at most: '{}' is "
                            "taken for '{}'",
                            TL_COMM_SIZE - 1, name, comms_.back()));
    }
    for (const std::string& user : filter.users)
        uids_.push_back(user_id(user));
    for (const std::string& path : filter.cgroups)
        cgroups_.push_back(open_cgroup(path));
}

void FoundFilter::put_into(SessionConfig& config) const {
    config.only_comms = comms_;
    config.only_cpus = cpus_;
    config.only_uids = uids_;
    for (const UniqueFd& fd : cgroups_)
        config.only_cgroups.push_back(static_cast<std::uint32_t>(fd.get()));
}

} // namespace trapline
