// SPDX-License-Identifier: GPL-2.0
// The functions that the kernel never lets kprobes into: debugfs's kprobes/blacklist.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

class Blacklist {
public:
    static constexpr const char* default_path = "/sys/kernel/debug/kprobes/blacklist";

    // Knows nothing if the file can't be read (no debugfs, no privilege): the kernel will tell.
    explicit Blacklist(const std::string& path = default_path);
    explicit Blacklist(std::istream& from);

    bool known() const { return known_; }

    // The blacklisted function that `address` is in. If addresses are hidden (0), `symbol` is
    // looked for by its name. Nothing: not blacklisted, or unknown.
    std::optional<std::string> find(std::uint64_t address, std::string_view symbol) const;

private:
    struct Range {
        std::uint64_t begin;
        std::uint64_t end;
        std::string name;
        std::uint64_t furthest = 0; // end of those up to this one
    };

    void parse(std::istream& from);

    std::vector<Range> ranges_;          // by begin
    std::vector<std::uint32_t> by_name_; // the same, by name
    bool known_ = false;
};

} // namespace trapline
