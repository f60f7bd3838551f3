// SPDX-License-Identifier: GPL-2.0
// Where events go: standard output or a file, written in whole pieces.
#pragma once

#include <string>
#include <string_view>

#include "util/alarm.h"
#include "util/fd.h"

namespace trapline {

// The reader of our output has gone: not an error, but the end.
class OutputClosed {};

// What follows that: we end quietly, as anybody who writes to a pipe that nobody reads.
void die_of_closed_output();

// cancel() was called while the reader kept us waiting.
class OutputCancelled {};

class OutputFile {
public:
    // Empty: standard output.
    explicit OutputFile(const std::string& path);

    int fd() const { return fd_; } // to see whether its reader has gone
    bool terminal() const;

    // Writes all of it. OutputClosed if nobody reads any more; Error for anything else.
    void write(std::string_view text);

    // Ends a write that waits for the reader, and all later ones, with OutputCancelled.
    // From any thread.
    void cancel() const { cancelled_.raise(); }

private:
    std::string name_;
    void wait_for_room() const;

    UniqueFd file_;
    int fd_;
    bool waits_ = false; // a pipe, a terminal, a socket
    Alarm cancelled_;
};

} // namespace trapline
