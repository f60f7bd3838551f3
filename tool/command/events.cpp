// SPDX-License-Identifier: GPL-2.0
// What a trace waits for while its threads work.
#include "command/events.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

Signals::Signals(std::span<const int> more) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGQUIT})
        sigaddset(&set, number);
    struct sigaction hangup {};
    sigaction(SIGHUP, nullptr, &hangup);
    if (hangup.sa_handler != SIG_IGN) // else nohup's wish
        sigaddset(&set, SIGHUP);
    for (const int number : more)
        sigaddset(&set, number);
    inherited_pipe_ignored_ = std::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
    inherited_size_ignored_ = std::signal(SIGXFSZ, SIG_IGN) == SIG_IGN;
    pthread_sigmask(SIG_BLOCK, &set, &inherited_mask_);
    fd_.reset(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_)
        throw errno_error("make a signalfd", errno);
}

std::optional<Signals::Signal> Signals::next() {
    signalfd_siginfo info{};
    if (read(fd_.get(), &info, sizeof(info)) != sizeof(info))
        return std::nullopt;
    return Signal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

Deadline::Deadline(std::optional<double> seconds) {
    if (!seconds)
        return;
    fd_.reset(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    if (!fd_)
        throw errno_error("make a timer", errno);
    itimerspec when{};
    const double whole = std::floor(*seconds);
    when.it_value.tv_sec = static_cast<time_t>(whole);
    // At least a nanosecond, for 0 would mean never.
    when.it_value.tv_nsec = std::max(1L, static_cast<long>((*seconds - whole) * 1e9));
    if (timerfd_settime(fd_.get(), 0, &when, nullptr) != 0)
        throw errno_error("set a timer", errno);
}

namespace {

// The thread group that a task is in; 0: there is no such task.
std::uint32_t thread_group(std::uint32_t pid) {
    std::ifstream status(fmt::format("/proc/{}/status", pid));
    std::string word;
    std::uint32_t group = 0;
    while (status >> word)
        if (word == "Tgid:" && status >> group)
            return group;
    return 0;
}

} // namespace

Watched::Watched(std::span<const std::uint32_t> pids) {
    for (const std::uint32_t pid : pids) {
        // /proc may be another pid namespace's, so it is asked only for what is no thread group's.
        long fd = syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0 && errno != ESRCH)
            if (const std::uint32_t group = thread_group(pid); group != 0)
                fd = syscall(SYS_pidfd_open, group, 0);
        if (fd < 0)
            throw Error(fmt::format("--pid: there is no process {}", pid),
                        "see: ps -e; or let trapline start it: trapline trace PROBE -- COMMAND");
        fds_.emplace_back(static_cast<int>(fd));
    }
}

void Watched::drop(int fd) {
    std::erase_if(fds_, [fd](const UniqueFd& held) { return held.get() == fd; });
}

} // namespace trapline
