// SPDX-License-Identifier: GPL-2.0
// What a trace waits for while its threads work: signals, the end of COMMAND or of the
// traced processes, the time, its own failure, the reader of its output going away.
#pragma once

#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "util/alarm.h"
#include "util/fd.h"

namespace trapline {

// SIGINT, SIGTERM, SIGHUP and SIGQUIT as a descriptor; SIGPIPE and SIGXFSZ ignored. For the whole
// process, threads made later included.
class Signals {
public:
    // `more`: these too.
    explicit Signals(std::span<const int> more = {});

    // As it was before: what COMMAND is to inherit.
    const sigset_t& inherited_mask() const { return inherited_mask_; }
    bool inherited_pipe_ignored() const { return inherited_pipe_ignored_; }
    bool inherited_size_ignored() const { return inherited_size_ignored_; }

    int fd() const { return fd_.get(); }

    struct Signal {
        int number = 0;
        bool from_terminal = false; // then everybody in the foreground got it too
    };
    std::optional<Signal> next(); // none: nothing is pending

private:
    sigset_t inherited_mask_{};
    bool inherited_pipe_ignored_ = false;
    bool inherited_size_ignored_ = false;
    UniqueFd fd_;
};

// An end after so many seconds.
class Deadline {
public:
    explicit Deadline(std::optional<double> seconds);

    int fd() const { return fd_.get(); } // -1: never

private:
    UniqueFd fd_;
};

// Processes that are looked at until they end.
class Watched {
public:
    // Error naming the one that isn't there.
    explicit Watched(std::span<const std::uint32_t> pids);

    const std::vector<UniqueFd>& fds() const { return fds_; }
    void drop(int fd);
    bool empty() const { return fds_.empty(); }

private:
    std::vector<UniqueFd> fds_;
};

} // namespace trapline
