// SPDX-License-Identifier: GPL-2.0
// From rings that are written over and over to disk: what is in them now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/session.h"
#include "recording/directory.h"
#include "ring/snapshot_reader.h"
#include "trace/description.h"
#include "trace/event.h"

namespace trapline {

class FlightRecorder {
public:
    // `layouts` must outlive it. `max_size`: of the recording, in bytes; 0: no limit.
    FlightRecorder(std::vector<RingMapping> rings, std::span<const EventLayout> layouts,
                   RecordingDirectory& directory, std::uint64_t max_size);

    // Writes what was recorded until now and not yet written. Others may be writing to the
    // rings. A chunk that isn't finished is written as far as it is, and again, in its own place,
    // by a later call. False: max_size would be passed. Error if it can't be written; what was is
    // whole.
    bool write_new();

    // Of every ring. Exact also while others write.
    std::vector<RingTotals> totals();

private:
    struct Ring {
        RingMapping mapping;
        SnapshotReader reader;
        std::optional<std::uint64_t> open; // position of the unfinished chunk written last
    };

    bool write_new(Ring& ring);
    std::uint64_t complete(const Ring& ring, const SnapshotReader::Chunk& chunk,
                           std::uint64_t lost);
    void store(Ring& ring, const SnapshotReader::Chunk& chunk);

    std::span<const EventLayout> layouts_;
    RecordingDirectory& directory_;
    std::uint64_t max_size_;
    std::vector<std::byte> packet_; // a chunk as it goes to disk
    std::vector<Ring> rings_;
};

} // namespace trapline
