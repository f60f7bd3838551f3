// SPDX-License-Identifier: GPL-2.0
// Overwrite mode with one thread: what gives way, what a copy holds, and what it
// makes of words that contradict each other. And what is the same in both modes.
#include "tests/model/test_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

// A record alone in a chunk of 128 bytes: 44 and 4 of 60.
constexpr __u32 small_chunk = 128;

class OverwriteRing : public TestRing {
public:
    OverwriteRing(__u64 size, __u32 chunk_size, __u32 cpu = 0)
        : TestRing(size, chunk_size, cpu, true), buffer(chunk_size) {}

    // The next attempt, a tick later.
    __u32 write(__u32 words) { return write_record(&writer, {tried++, words, 1, ++now}); }

    int copy(__u32 room = 0) {
        std::fill(buffer.begin(), buffer.end(), 0xee);
        return tl_ring_copy(&reader, buffer.data(), room ? room : control.chunk_size, &copied);
    }
    void pass() { tl_ring_pass(&reader, &copied); }
    const tl_packet* packet() const { return reinterpret_cast<const tl_packet*>(buffer.data()); }

    // The sequence numbers of the copy's records, each of which is right.
    std::vector<__u32> records(__u32 words) const {
        std::vector<__u32> seqs;
        Parser parser;
        const tl_ring_span span = {buffer.data(), buffer.data() + TL_PACKET_SIZE,
                                   copied.length - TL_PACKET_SIZE, 0};
        const char* wrong = parser.span(span, [&](const Seen& seen) {
            seqs.push_back(seen.flags);
            return compare(seen, {seen.flags, words, 1, seen.flags + 1ULL});
        });

        EXPECT_EQ(wrong, nullptr) << wrong;
        return seqs;
    }

    std::vector<__u8> buffer;
    tl_ring_copied copied = {};
    __u32 tried = 0;
    __u64 now = 0;
};

using Seqs = std::vector<__u32>;

class RingFloor : public testing::TestWithParam<__u64> {}; // chunks

TEST_P(RingFloor, MovesByTheChunkThatGivesWay) {
    const __u64 size = GetParam() * small_chunk;
    OverwriteRing ring(size, small_chunk);

    for (__u64 begun = 1; begun <= 20; begun++) {
        ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
        const __u64 end = begun * small_chunk;
        EXPECT_EQ(ring.control.floor, end > size ? end - size : 0);
        EXPECT_EQ(ring.control.head, end - small_chunk + TL_PACKET_SIZE + 48);
        EXPECT_EQ(ring.control.written, begun);
    }
    EXPECT_EQ(ring.lost(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Chunks, RingFloor, testing::Values(2, 4, 16),
                         testing::PrintToStringParamName());

// What would be garbage in discard mode is nothing to it.
TEST(RingOverwrite, TheTailIsNotLookedAt) {
    for (__u64 tail : {0ULL, 1ULL, 1ULL << 63, ~0ULL}) {
        OverwriteRing ring(4 * small_chunk, small_chunk);
        ring.consumer.tail = tail;
        for (int i = 0; i < 100; i++)
            ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
        EXPECT_EQ(ring.control.floor, 96u * small_chunk);
        EXPECT_EQ(ring.consumer.tail, tail);
    }
}

// The mode is the writer's: nobody changes it by writing to the control page later.
TEST(RingOverwrite, IsSetBeforeTheWriterIs) {
    TestRing ring(2 * small_chunk, small_chunk);
    ring.control.overwrite = 1;
    EXPECT_EQ(write_record(&ring.writer, {0, 1, 1, 1}), TL_DROP_NONE + 0u);
    EXPECT_EQ(write_record(&ring.writer, {1, 1, 1, 2}), TL_DROP_NONE + 0u);
    EXPECT_EQ(write_record(&ring.writer, {2, 1, 1, 3}), TL_DROP_FULL + 0u);
}

TEST(RingOverwrite, OtherLossesStayLosses) {
    OverwriteRing ring(2 * small_chunk, small_chunk);

    ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
    ASSERT_EQ(ring.write(9), TL_DROP_TOO_BIG + 0u);
    ASSERT_TRUE(tl_ring_enter(&ring.writer));
    EXPECT_EQ(ring.write(1), TL_DROP_NESTED + 0u);
    tl_ring_leave(&ring.writer);
    EXPECT_EQ(ring.control.written, 1u);
    EXPECT_EQ(ring.lost(), 2u);
    tl_ring_finish(&ring.writer, 10);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_EQ(tl_get_u64(&ring.packet()->events_discarded), 2u);

    // And an empty packet tells of those after the last.
    ASSERT_EQ(ring.write(9), TL_DROP_TOO_BIG + 0u);
    tl_ring_finish(&ring.writer, 20);
    ring.pass();
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_TRUE(ring.copied.finished);
    EXPECT_EQ(ring.copied.length, TL_PACKET_SIZE + 0u);
    EXPECT_EQ(tl_get_u64(&ring.packet()->events_discarded), 3u);
    EXPECT_EQ(tl_get_u64(&ring.packet()->first_event), 1u);
}

TEST(RingCopy, TakesWhatIsPublishedFromTheChunksStart) {
    OverwriteRing ring(2048, 512, 3);

    EXPECT_EQ(ring.copy(), 0);
    for (__u32 i = 0; i < 3; i++) {
        ASSERT_EQ(ring.write(5), TL_DROP_NONE + 0u);
        ASSERT_EQ(ring.copy(), 1);
        EXPECT_FALSE(ring.copied.finished);
        EXPECT_EQ(ring.copied.position, 0u);
        EXPECT_EQ(ring.copied.length, ring.control.head);
        EXPECT_EQ(std::memcmp(ring.buffer.data(), ring.data, ring.copied.length), 0);
        EXPECT_EQ(ring.buffer[ring.copied.length], 0xee) << "more was copied";
        EXPECT_EQ(ring.records(5).size(), i + 1);
        ring.pass();
        EXPECT_EQ(ring.reader.pos, 0u) << "it isn't finished";
        EXPECT_EQ(ring.consumer.tail, 0u);
    }
    while (ring.control.head < 512)
        ASSERT_EQ(ring.write(5), TL_DROP_NONE + 0u);
    const __u32 inside = ring.tried - 1;
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_TRUE(ring.copied.finished);
    EXPECT_EQ(ring.copied.length * 8ULL, tl_get_u64(&ring.packet()->content_size));
    EXPECT_EQ(ring.records(5).size(), inside);
    EXPECT_EQ(ring.reader.pos, 0u);
    ring.pass();
    EXPECT_EQ(ring.reader.pos, 512u);
    EXPECT_EQ(ring.consumer.tail, 512u);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_FALSE(ring.copied.finished);
    EXPECT_EQ(ring.records(5), Seqs{inside});
    EXPECT_EQ(tl_get_u64(&ring.packet()->first_event), inside);
    EXPECT_EQ(tl_get_u32(&ring.packet()->cpu_id), 3u);

    tl_ring_finish(&ring.writer, ring.now);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_TRUE(ring.copied.finished);
    ring.pass();
    EXPECT_EQ(ring.copy(), 0);
}

TEST(RingCopy, TakesTheHeaderAlone) {
    OverwriteRing ring(2048, 512);

    ASSERT_EQ(ring.write(5), TL_DROP_NONE + 0u);
    for (bool finished : {false, true}) {
        if (finished)
            tl_ring_finish(&ring.writer, 9);
        ASSERT_EQ(ring.copy(TL_PACKET_SIZE), 1);
        EXPECT_EQ(ring.copied.finished, finished);
        EXPECT_EQ(ring.copied.length, TL_PACKET_SIZE + 0u);
        EXPECT_EQ(std::memcmp(ring.buffer.data(), ring.data, TL_PACKET_SIZE), 0);
        EXPECT_EQ(ring.buffer[TL_PACKET_SIZE], 0xee);
    }
}

// Chunk by chunk: where the reader goes on, and which records the header says it missed.
TEST(RingCopy, GoesOnAtTheFloorWhenOvertaken) {
    OverwriteRing ring(4 * small_chunk, small_chunk);

    for (int i = 0; i < 6; i++)
        ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_EQ(ring.copied.position, 2u * small_chunk);
    EXPECT_EQ(tl_get_u64(&ring.packet()->first_event), 2u);
    EXPECT_EQ(tl_get_u64(&ring.packet()->packet_seq_num), 2u);
    EXPECT_EQ(ring.records(1), Seqs{2});
    ring.pass();

    // One more overwrites the chunk that was passed, and no other.
    ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_EQ(ring.copied.position, 3u * small_chunk);
    EXPECT_EQ(ring.records(1), Seqs{3});

    // Not passed, and overwritten: copied as finished, it doesn't come again.
    for (int i = 0; i < 2; i++)
        ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
    ASSERT_EQ(ring.copy(), 1);
    EXPECT_EQ(ring.copied.position, 5u * small_chunk);
    EXPECT_EQ(ring.records(1), Seqs{5});
    EXPECT_EQ(ring.reader.pos, ring.control.floor);
}

TEST(RingCopy, AnotherReaderGoesOnAtAChunksStart) {
    OverwriteRing ring(2048, 512);
    auto restart = [&] {
        tl_ring_reader_init(&ring.reader, &ring.control, &ring.consumer, ring.data);
        EXPECT_EQ(ring.copy(), 1);
        return ring.copied.position;
    };

    while (ring.control.head < 512 + 300)
        ASSERT_EQ(ring.write(5), TL_DROP_NONE + 0u);
    ASSERT_EQ(ring.copy(), 1);
    ring.pass();
    ASSERT_EQ(ring.copy(), 1); // the unfinished one, too
    ring.pass();
    EXPECT_EQ(restart(), 512u);
    EXPECT_FALSE(ring.copied.finished);

    // Whatever noted that: chunks are copied from their starts.
    ring.consumer.tail = 512 + 100;
    EXPECT_EQ(restart(), 512u);
    ring.consumer.tail = 511;
    EXPECT_EQ(restart(), 0u);

    // Where it stopped was overwritten since.
    while (ring.control.head < 10 * 512)
        ASSERT_EQ(ring.write(5), TL_DROP_NONE + 0u);
    ring.consumer.tail = 512;
    EXPECT_EQ(restart(), 7u * 512);
    EXPECT_EQ(ring.control.floor, 7u * 512);
}

TEST(RingCopy, RefusesWordsThatContradictEachOther) {
    OverwriteRing ring(4 * small_chunk, small_chunk);

    for (int i = 0; i < 6; i++)
        ASSERT_EQ(ring.write(1), TL_DROP_NONE + 0u);
    const tl_ring_control good = ring.control;
    ASSERT_EQ(ring.copy(), 1);
    // Heads before the floor, further than the ring is large, in a header, between words.
    for (__u64 head : {0ULL, 255ULL, 256ULL + 513, 1ULL << 63, ~0ULL, 256ULL + 67, 256ULL + 114}) {
        ring.control.head = head;
        EXPECT_EQ(ring.copy(), -1) << head;
    }
    ring.control = good;
    // Floors that are no chunk's start, or ahead of the head.
    for (__u64 floor : {1ULL, 257ULL, 6ULL * small_chunk, ~0ULL - 127}) {
        ring.control.floor = floor;
        EXPECT_EQ(ring.copy(), -1) << floor;
        ring.reader.pos = 2 * small_chunk;
    }
    // One that stayed behind: the reader's chunk can't be there any more.
    ring.control.floor = 0;
    ring.reader.pos = small_chunk;
    EXPECT_EQ(ring.copy(), -1);
    ring.control = good;
    // A position ahead of the head.
    ring.reader.pos = 7 * small_chunk;
    EXPECT_EQ(ring.copy(), -1);
    ring.reader.pos = 2 * small_chunk;
    // The third chunk lies where the ring has it.
    __u8* const content = ring.data + 2 * small_chunk + offsetof(tl_packet, content_size);
    for (__u64 bytes : {0ULL, 67ULL, 129ULL, 70ULL, ~0ULL / 8}) {
        tl_put_u64(content, bytes * 8);
        EXPECT_EQ(ring.copy(), -1) << bytes;
    }
    tl_put_u64(content, small_chunk * 8);
    EXPECT_EQ(ring.copy(), 1);
    EXPECT_EQ(ring.copied.length, small_chunk);
}

class RingModes : public testing::TestWithParam<bool> {};

// A long silence costs the wide header, and no new chunk.
TEST_P(RingModes, AGapOfMinutesCostsEightBytes) {
    TestRing ring(4096, 1024, 0, GetParam());
    Parser parser;
    const __u64 minutes = 3000000000ULL * 300; // of a TSC
    std::vector<__u64> times;
    __u64 head = 0;

    for (__u32 i = 0; i < 4; i++) {
        ASSERT_EQ(write_record(&ring.writer, {i, 2, 1, 1 + i * minutes}), TL_DROP_NONE + 0u);
        const __u64 size = TL_COMPACT_SIZE + 8;
        EXPECT_EQ(ring.control.head, i == 0
                                         ? TL_PACKET_SIZE + TL_COMPACT_SIZE + TL_TASK_FIELDS + size
                                         : head + size + 8);
        head = ring.control.head;
    }
    EXPECT_LT(head, 1024u);
    tl_ring_finish(&ring.writer, 0);
    const tl_ring_span span = {ring.data, ring.data + TL_PACKET_SIZE, head - TL_PACKET_SIZE, 0};
    const char* wrong = parser.span(span, [&](const Seen& seen) {
        EXPECT_EQ(seen.extended, !times.empty());
        times.push_back(seen.time);
        return static_cast<const char*>(nullptr);
    });
    EXPECT_EQ(wrong, nullptr) << wrong;
    EXPECT_EQ(times, (std::vector<__u64>{1, 1 + minutes, 1 + 2 * minutes, 1 + 3 * minutes}));
}

// On the fast path, on the slow one, into new chunks (which overwrite), and in finish.
TEST_P(RingModes, AClockThatStepsBackMakesNoTimeDecrease) {
    TestRing ring(512, 128, 0, GetParam());
    std::vector<__u8> buffer(128);
    std::vector<__u64> times;
    const std::vector<std::pair<__u32, __u64>> hits = {
        {5, 0x900000000}, {5, 0x8ffffffff}, {6, 0x100000000}, {6, 0x100000001}, {6, 0},
        {5, 0x900000001}, {5, 0x900000000}, {5, 7},           {6, 6},           {6, 0x900000000},
    };
    __u64 last = 0;

    for (auto [tid, now] : hits) {
        ASSERT_EQ(write_record(&ring.writer, {0, 0, tid, now}), TL_DROP_NONE + 0u);
        EXPECT_GE(ring.writer.last, last);
        last = ring.writer.last;
        if (!GetParam())
            ring.consumer.tail = ring.control.head; // there is room
    }
    EXPECT_EQ(last, 0x900000001u);
    tl_ring_finish(&ring.writer, 0);
    EXPECT_GT(ring.control.head, 4u * 128);

    // What is there yet.
    __u64 before = 0;
    for (__u64 position = ring.control.head - 4 * 128; position < ring.control.head;
         position += 128) {
        const __u8* at = ring.data + position % 512;
        const auto* packet = reinterpret_cast<const tl_packet*>(at);
        const tl_ring_span span = {at, at + TL_PACKET_SIZE,
                                   tl_get_u64(&packet->content_size) / 8 - TL_PACKET_SIZE, 0};
        Parser parser;

        EXPECT_GE(tl_get_u64(&packet->timestamp_begin), before);
        const char* wrong = parser.span(span, [&](const Seen& seen) {
            EXPECT_FALSE(seen.extended);
            EXPECT_GE(seen.time, before);
            before = seen.time;
            return static_cast<const char*>(nullptr);
        });
        ASSERT_EQ(wrong, nullptr) << wrong;
        EXPECT_EQ(tl_get_u64(&packet->timestamp_end), before);
    }
    EXPECT_EQ(before, 0x900000001u);
}

INSTANTIATE_TEST_SUITE_P(Both, RingModes, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& p) {
                             return p.param ? "overwrite" : "discard";
                         });

} // namespace
