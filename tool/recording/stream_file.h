// SPDX-License-Identifier: GPL-2.0
// One CPU's stream in a recording being written: packets, one behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "util/fd.h"

namespace trapline {

class StreamFile {
public:
    StreamFile(UniqueFd file, std::uint32_t cpu, std::string name);

    std::uint32_t cpu() const { return cpu_; }
    std::uint64_t size() const { return size_; } // bytes

    // Appends whole packets as they are. A last packet of little content (less than half) is
    // stored with a hole behind that. If it fails (Error), the file ends where it did before.
    void append(std::span<const std::byte> packets);

    // Puts `packet` in the place of the last one appended by replace_last() or append_open():
    // a chunk that was written before it was finished. Same failure rule.
    void append_open(std::span<const std::byte> packet);
    void replace_open(std::span<const std::byte> packet);

    void check_present() const; // Error if the file was deleted

private:
    UniqueFd file_;
    std::uint32_t cpu_;
    std::string name_; // with its directory, for errors
    std::uint64_t size_ = 0;
    std::uint64_t open_at_ = 0; // where the open packet begins
};

} // namespace trapline
