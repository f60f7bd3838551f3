// SPDX-License-Identifier: GPL-2.0
// From rings that are written over and over to disk: what is in them now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recording/directory.h"
#include "ring/decoder.h"
#include "ring/memory.h"
#include "ring/snapshot_reader.h"
#include "trace/description.h"
#include "trace/event.h"

namespace trapline {

class FlightRecorder {
public:
    // `rings` in overwrite mode, mapped as long as it lives. `layouts` must outlive it.
    // `max_size`: of the recording, in bytes; 0: no limit.
    FlightRecorder(std::span<const RingOfCpu> rings, std::span<const EventLayout> layouts,
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
        SnapshotReader reader;
        RecordDecoder decoder;
        std::uint32_t chunk_size;          // bytes
        std::optional<std::uint64_t> open; // position of the unfinished chunk written last
    };

    bool write_new(Ring& ring);
    std::uint64_t complete(Ring& ring, const SnapshotReader::Chunk& chunk, std::uint64_t lost);
    void store(Ring& ring, const SnapshotReader::Chunk& chunk);

    RecordingDirectory& directory_;
    std::uint64_t max_size_;
    std::vector<std::byte> packet_; // a chunk as it goes to disk
    std::vector<Ring> rings_;
};

} // namespace trapline
