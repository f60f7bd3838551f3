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
    // `file` is empty.
    StreamFile(UniqueFd file, std::uint32_t cpu, std::string name);

    std::uint32_t cpu() const { return cpu_; }
    std::uint64_t size() const { return size_; } // bytes

    // Appends whole packets as they are. A last packet of little content (less than half) is
    // stored with a hole behind that. If it fails (Error), the file ends where it did before.
    void append(std::span<const std::byte> packets);

    // A chunk that is written before it is finished, and later a fuller copy of it, as large,
    // in the same place; others may lie behind it by then. Same failure rule: a replacement that
    // fails leaves the copy that is there.
    void append_open(std::span<const std::byte> packet);
    void replace_open(std::span<const std::byte> packet);

    void check_present() const; // Error if the file was deleted

private:
    // Where the bytes of `packets` that must be stored end, and where its last packet begins.
    struct Shape {
        std::size_t stored = 0;
        std::size_t last = 0;
    };

    Shape shape(std::span<const std::byte> packets) const;
    void write_at(std::span<const std::byte> bytes, std::uint64_t at);
    void set_end(std::uint64_t size);

    UniqueFd file_;
    std::uint32_t cpu_;
    std::string name_; // with its directory, for errors
    std::uint64_t size_ = 0;
    std::uint64_t open_at_ = 0;   // where the open packet begins
    std::uint64_t open_size_ = 0; // 0: there is none
};

} // namespace trapline
