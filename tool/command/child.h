// SPDX-License-Identifier: GPL-2.0
// The COMMAND that is traced: made first, let go last, so that its first call is caught.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "command/events.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline {

// COMMAND can't be run: 127 not found, 126 not executable.
class CommandError : public Error {
public:
    CommandError(const std::string& message, int exit_code) : Error(message, {}, exit_code) {}
};

class Child {
public:
    // Forks; the child waits to be let go and does nothing but wait. CommandError if
    // COMMAND is not there. `user`: run as him; empty: as we do. `stdout_to_stderr`: what
    // it prints must not mix with events. `signals` says what it inherits of those.
    Child(const std::vector<std::string>& command, const std::string& user, bool stdout_to_stderr,
          const Signals& signals);
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    // A child that was never let go ends without having run.
    ~Child();

    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); } // readable once it has ended

    // Now it executes COMMAND. CommandError if it could not.
    void let_go();

    // Let go, and not known to have ended.
    bool running() const { return !gate_ && !status_; }

    // Its exit status as a shell would give it, once it has ended.
    std::optional<int> ended();

    void signal(int number) const;

private:
    std::string path_;
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    UniqueFd gate_;   // written to: go; closed: don't
    UniqueFd report_; // an errno if exec failed; end of file if it went well
    std::optional<int> status_;
};

} // namespace trapline
