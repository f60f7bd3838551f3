// SPDX-License-Identifier: GPL-2.0
// Finds in a kernel's log what a crash printed of the rings: see shared/console.h. The log may
// be anything: what was cut, lost or damaged on its way is counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

// Whole, its lines put together.
struct ConsoleItem {
    char kind = '\0';
    std::string bytes;
};

// Of one session, by one crash.
struct ConsoleDump {
    std::string tag;
    std::vector<ConsoleItem> items; // as they were printed
    std::uint64_t lines = 0;        // as far as can be told
    std::uint64_t lost = 0;         // of these; an item that lacks one is not there
    bool ended = false;             // its last line is there: lines is exact
};

struct ConsoleLog {
    // In the order in which they begin; without those that a panic has printed anew.
    std::vector<ConsoleDump> dumps;
    std::uint64_t damaged = 0; // lines that are a dump's, and not whole
};

class ConsoleLogParser {
public:
    // The next piece of the log, wherever it was cut.
    void add(std::string_view piece);
    ConsoleLog finish();

private:
    struct Line {
        char kind = '\0';
        std::uint32_t part = 0; // from 1
        std::uint32_t parts = 0;
        std::string bytes;

        bool operator==(const Line&) const = default;
    };
    using Lines = std::map<std::uint32_t, Line>; // by sequence
    struct Dump {
        Lines lines; // at least one
        std::uint64_t damaged = 0;
    };

    void take_line(std::string_view line);
    bool take(std::string_view text);
    static bool whole(const Lines& lines);
    static ConsoleDump put_together(const std::string& tag, Lines& lines);

    std::string rest_; // of a line that goes on
    std::vector<std::string> tags_;
    std::map<std::string, Dump, std::less<>> dumps_;
    std::uint64_t damaged_ = 0;
};

// All of the file, "-" meaning standard input. Error naming it if it can't be read.
ConsoleLog read_console_log(const std::string& path);

} // namespace trapline
