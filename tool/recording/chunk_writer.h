// SPDX-License-Identifier: GPL-2.0
// From rings to disk: each finished chunk as it stands, for it is a packet of a CTF stream.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "recording/directory.h"
#include "recording/packet.h"
#include "ring/memory.h"
#include "ring/reader.h"
#include "trace/clock.h"
#include "trace/description.h"

namespace trapline {

class ChunkWriter {
public:
    // `rings` in discard mode, mapped as long as it lives. `max_size`: of the recording, in
    // bytes; 0: no limit.
    ChunkWriter(std::span<const RingOfCpu> rings, RecordingDirectory& directory,
                std::uint64_t max_size);

    // Writes what is finished and gives it back. False: max_size would be passed. Error if it
    // can't be written; what was is whole.
    bool write_finished();

    // After STOP: the rest, and behind it, where records were dropped at the very end, a packet
    // of no records that says so, for which there is room in max_size. Same results.
    bool write_rest(const ClockAnchor& stop);

    // Of every ring, after STOP.
    std::vector<RingTotals> totals() const;

private:
    struct Ring {
        RingReader reader;
        std::uint64_t size;               // bytes
        std::uint64_t chunk_size;         // bytes
        std::optional<PacketHeader> last; // of the packets written
    };

    bool write_finished(Ring& ring);
    void write_losses(Ring& ring, const ClockAnchor& stop);

    RecordingDirectory& directory_;
    std::uint64_t max_size_; // without those packets
    std::vector<Ring> rings_;
};

} // namespace trapline
