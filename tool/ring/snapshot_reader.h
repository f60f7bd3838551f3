// SPDX-License-Identifier: GPL-2.0
// One CPU's ring in overwrite mode, copied chunk by chunk while it is written. Nothing that
// a reader does takes anything from the writer; what it is too late for is overwritten.
//
// A snapshot:
//
//     const std::uint64_t end = reader.published();
//     while (const std::optional<SnapshotReader::Chunk> chunk = reader.next(end)) {
//         ... store the chunk and count the records in it ...
//         reader.count(records);
//     }
//
// It gives what was published up to `end`, is still there and was not given before, oldest
// first, each chunk as full as it is when it is copied. So it ends, however fast the writer
// is; what came meanwhile is for the next snapshot. After STOP one gives all the rest.
//
// A finished chunk is given once. The last of a snapshot may be unfinished. When more was
// published in it, the next snapshot begins with it, copied from its start again, and the
// caller knows it by its position:
//
//     the chunk before was unfinished, and at the same position: replace it by this one
//     (finished or not); else append this one, and the one before stays as it is: the rest
//     of it was overwritten.
//
// That chunks are missing and that one comes again is more than a RecordDecoder can follow:
// one per chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ring/memory.h"
#include "shared/ring.h"

namespace trapline {

class SnapshotReader : public RingCounters {
public:
    // Error unless the control page describes `memory`, is CPU `cpu`'s and tells of overwrite
    // mode. Begins after the last finished chunk that any reader of this ring counted.
    SnapshotReader(const RingMemory& memory, std::uint32_t cpu);

    std::uint32_t cpu() const { return cpu_; }

    struct Chunk {
        // Header and records, the caller's to change. Lasts until next() is called again.
        // Of an unfinished chunk timestamp_end, content_size and events_discarded are not
        // valid: the last record's time, packet.size() * 8, and lost() as it was before
        // next() (or the packet's before, if that is more) will do.
        std::span<std::byte> packet;
        bool finished = false;
        std::uint64_t position = 0;    // of the chunk, in all that was ever written
        std::uint64_t first_event = 0; // records ever written when it was begun
    };

    // The end of what is published now: a position.
    std::uint64_t published() const { return tl_load_acquire(&reader_.control->head); }

    // The next chunk; nothing when all that was published up to `end` was given and counted.
    // Error when the ring contradicts itself.
    std::optional<Chunk> next(std::uint64_t end);

    // The caller has the chunk that next() gave last, and found so many records in it
    // (TL_ID_TASK not counted), whether some of them were in an earlier copy or not. Until
    // then next() gives it again. A finished chunk's end is noted in the ring as well: who
    // reads it after us goes on there.
    void count(std::uint64_t records);

    // Where all records are. Exactly, while the writer runs:
    //
    //     written() at that moment = before + read + overwritten + unread
    struct Counts {
        std::uint64_t before = 0;      // not this reader's: before it took another's place
        std::uint64_t read = 0;        // counted, each once
        std::uint64_t overwritten = 0; // gone before they were read
        std::uint64_t unread = 0;      // the rest: in the ring, or in the chunk that is out
    };

    // While a chunk is out (given and not counted), overwritten is as it was when it was
    // given. Error when the ring contradicts itself, or what was counted.
    Counts counts();

private:
    bool copy(void* to, std::uint32_t room, tl_ring_copied& copied);
    void reach(std::uint64_t position, std::uint64_t first_event);

    tl_ring_reader reader_{};
    std::uint32_t cpu_;
    std::vector<std::byte> buffer_;
    std::optional<tl_ring_copied> given_; // and not counted
    std::uint64_t done_ = 0;              // a position: all before was counted, or is gone

    std::optional<std::uint64_t> before_; // nothing: not known yet
    std::uint64_t kept_ = 0;              // records of chunks that will not be given again
    std::uint64_t open_ = 0;              // and of the unfinished one
    std::uint64_t open_position_ = 0;
    std::uint64_t overwritten_ = 0;
};

} // namespace trapline
