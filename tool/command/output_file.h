// SPDX-License-Identifier: GPL-2.0
// Where events go: standard output or a file, written in whole pieces.
#pragma once

#include <string>
#include <string_view>

#include "util/fd.h"

namespace trapline {

// The reader of our output has gone: not an error, but the end.
class OutputClosed {};

class OutputFile {
public:
    // Empty: standard output.
    explicit OutputFile(const std::string& path);

    bool terminal() const;

    // Writes all of it. OutputClosed if nobody reads any more; Error for anything else.
    void write(std::string_view text);

private:
    std::string name_;
    UniqueFd file_;
    int fd_;
};

} // namespace trapline
