// SPDX-License-Identifier: GPL-2.0
// Events of one ring, in its order, with the bytes that their fields lie in. Moves freely;
// copying would leave the copy's fields in the original's memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/event.h"

namespace trapline {

struct Batch {
    Batch() = default;
    Batch(Batch&&) noexcept = default;
    Batch& operator=(Batch&&) noexcept = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch() = default;

    std::vector<std::byte> bytes;
    std::vector<Event> events;

    // Copies `source` to the end of `bytes` and keeps the events' fields pointing there.
    std::span<const std::byte> append(std::span<const std::byte> source);

    bool empty() const { return events.empty(); }

    // Empties it; the memory stays for the next events.
    void clear();

    // Memory held.
    std::size_t footprint() const;
};

} // namespace trapline
