// SPDX-License-Identifier: GPL-2.0
// Reports of damage in a recording: the first ones of each stream, the others counted.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace trapline {

class DamageLog {
public:
    // `path`: the recording's. `say` is given lines with their newlines, safe for a terminal.
    DamageLog(std::string path, std::function<void(const std::string& line)> say);

    // `text` begins with the name of the damaged file, with its path or without, and a colon.
    void report(const std::string& text);

    // Says how many reports were only counted.
    void finish() const;

private:
    std::string path_;
    std::function<void(const std::string&)> say_;
    std::map<std::string, std::size_t> reports_; // by file
};

} // namespace trapline
