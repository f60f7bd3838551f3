// SPDX-License-Identifier: GPL-2.0
// The ring with one thread: what it lays down byte by byte, what it drops and
// why, and what it makes of a reader that lies.
#include "tests/model/test_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using Bytes = std::vector<__u8>;

// Little-endian numbers, one behind the other.
class Layout {
public:
    Layout& u16(__u64 v) { return add(v, 2); }
    Layout& u32(__u64 v) { return add(v, 4); }
    Layout& u64(__u64 v) { return add(v, 8); }
    Layout& text(const char* s, std::size_t n) {
        for (std::size_t i = 0; i < n; i++)
            bytes.push_back(i < std::strlen(s) ? static_cast<__u8>(s[i]) : 0);
        return *this;
    }
    Bytes bytes;

private:
    Layout& add(__u64 v, int n) {
        for (int i = 0; i < n; i++)
            bytes.push_back(static_cast<__u8>(v >> 8 * i));
        return *this;
    }
};

Bytes at(const __u8* from, std::size_t n) {
    return Bytes(from, from + n);
}

tl_task task_named(const char* comm, __u32 tid, __u32 tgid) {
    tl_task task = {};

    std::strncpy(reinterpret_cast<char*>(task.comm), comm, TL_COMM_SIZE);
    task.tid = tid;
    task.tgid = tgid;
    return task;
}

// Writes a record of these words; its cause when it was dropped.
__u32 put(TestRing& ring, const tl_task& task, __u16 id, __u16 flags, __u64 now,
          const std::vector<__u32>& words) {
    if (!tl_ring_enter(&ring.writer))
        return TL_DROP_NESTED;
    __u8* to =
        tl_ring_reserve(&ring.writer, &task, id, flags, now, static_cast<__u32>(4 * words.size()));
    __u32 drop = TL_DROP_NONE;

    if (to) {
        for (__u32 word : words) {
            tl_put_u32(to, word);
            to += 4;
        }
        tl_ring_commit(&ring.writer, to);
    } else {
        drop = ring.writer.drop;
    }
    tl_ring_leave(&ring.writer);
    return drop;
}

const tl_packet* packet(const TestRing& ring, __u64 number) {
    const __u64 position = number * ring.control.chunk_size;

    return reinterpret_cast<const tl_packet*>(ring.data + position % ring.control.size);
}

const tl_task cat = task_named("cat", 77, 70);
const tl_task fifteen = task_named("fifteen--chars!", 78, 70);

TEST(RingLayout, IsTheAbi) {
    EXPECT_EQ(offsetof(tl_page_head, magic), 0u);
    EXPECT_EQ(offsetof(tl_page_head, version), 8u);
    EXPECT_EQ(offsetof(tl_page_head, kind), 12u);
    EXPECT_EQ(offsetof(tl_page_head, frame), 16u);
    EXPECT_EQ(offsetof(tl_page_head, session), 24u);
    EXPECT_EQ(offsetof(tl_page_head, checksum), 32u);
    EXPECT_EQ(offsetof(tl_page_head, used), 36u);
    EXPECT_EQ(offsetof(tl_ring_control, cpu), 40u);
    EXPECT_EQ(offsetof(tl_ring_control, cpus), 44u);
    EXPECT_EQ(offsetof(tl_ring_control, size), 48u);
    EXPECT_EQ(offsetof(tl_ring_control, chunk_size), 56u);
    EXPECT_EQ(offsetof(tl_ring_control, page_size), 60u);
    EXPECT_EQ(offsetof(tl_ring_control, frames), 64u);
    EXPECT_EQ(offsetof(tl_ring_control, frame_levels), 72u);
    EXPECT_EQ(offsetof(tl_ring_control, overwrite), 76u);
    EXPECT_EQ(offsetof(tl_ring_control, metadata), 80u);
    EXPECT_EQ(offsetof(tl_ring_control, clock_hz), 88u);
    EXPECT_EQ(offsetof(tl_ring_control, head), 128u);
    EXPECT_EQ(offsetof(tl_ring_control, written), 136u);
    EXPECT_EQ(offsetof(tl_ring_control, lost_full), 144u);
    EXPECT_EQ(offsetof(tl_ring_control, lost_nested), 152u);
    EXPECT_EQ(offsetof(tl_ring_control, lost_too_big), 160u);
    EXPECT_EQ(offsetof(tl_ring_control, floor), 168u);
    EXPECT_EQ(offsetof(tl_ring_consumer, tail), 0u);
    const __u64 magic = TL_RING_MAGIC;
    EXPECT_EQ(std::memcmp(&magic, "TRAPRING", 8), 0);
}

TEST(RingBytes, OpenPacketAndRecords) {
    TestRing ring(4096, 1024, 5);
    ASSERT_EQ(put(ring, cat, 0x1234, 0x00d1, 0x1122334455667788, {0xa1a2a3a4, 0xb1b2b3b4}),
              TL_DROP_NONE);
    EXPECT_EQ(at(ring.data, TL_PACKET_SIZE), Layout()
                                                 .u32(0xc1fc1fc1)
                                                 .u32(0)
                                                 .u64(0x1122334455667788)
                                                 .u64(0)
                                                 .u64(0)
                                                 .u64(1024 * 8)
                                                 .u64(0)
                                                 .u64(0)
                                                 .u64(0)
                                                 .u32(5)
                                                 .bytes);
    const Layout expected = Layout()
                                .u16(TL_ID_TASK)
                                .u32(0x55667788)
                                .u16(0x00d1)
                                .u32(77)
                                .u32(70)
                                .text("cat", 16)
                                .u16(0x1234)
                                .u32(0x55667788)
                                .u16(0x00d1)
                                .u32(77)
                                .u32(0xa1a2a3a4)
                                .u32(0xb1b2b3b4);
    ASSERT_EQ(expected.bytes.size(), 52u);
    EXPECT_EQ(at(ring.data + TL_PACKET_SIZE, 52), expected.bytes);
    EXPECT_EQ(ring.control.head, TL_PACKET_SIZE + 52u);

    // The same task again, then another.
    ASSERT_EQ(put(ring, cat, TL_ID_MARK, 0xffff, 0x1122334455667789, {}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, fifteen, 1, 0, 0x112233445566778a, {7}), TL_DROP_NONE);
    EXPECT_EQ(at(ring.data + TL_PACKET_SIZE + 52, 60), Layout()
                                                           .u16(TL_ID_MARK)
                                                           .u32(0x55667789)
                                                           .u16(0xffff)
                                                           .u32(77)
                                                           .u16(TL_ID_TASK)
                                                           .u32(0x5566778a)
                                                           .u16(0)
                                                           .u32(78)
                                                           .u32(70)
                                                           .text("fifteen--chars!", 16)
                                                           .u16(1)
                                                           .u32(0x5566778a)
                                                           .u16(0)
                                                           .u32(78)
                                                           .u32(7)
                                                           .bytes);
    EXPECT_EQ(ring.control.head, TL_PACKET_SIZE + 52u + 60u);
    EXPECT_EQ(ring.control.written, 3u);
    EXPECT_EQ(ring.lost(), 0u);
}

TEST(RingBytes, ClosedPacket) {
    TestRing ring(512, 128, 2);
    // 44 bytes with the task, then 16 that fill to the edge: 60 do not fit.
    ASSERT_EQ(put(ring, cat, 1, 0, 100, {}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 2, 0, 200, {1, 2, 3, 4, 5}), TL_DROP_TOO_BIG + 0u);
    ASSERT_EQ(put(ring, cat, 2, 0, 300, {9}), TL_DROP_NONE);
    EXPECT_EQ(at(ring.data, TL_PACKET_SIZE), Layout()
                                                 .u32(0xc1fc1fc1)
                                                 .u32(0)
                                                 .u64(100)
                                                 .u64(100)
                                                 .u64((TL_PACKET_SIZE + 44) * 8)
                                                 .u64(128 * 8)
                                                 .u64(1)
                                                 .u64(0)
                                                 .u64(0)
                                                 .u32(2)
                                                 .bytes);
    EXPECT_EQ(at(ring.data + 128, TL_PACKET_SIZE), Layout()
                                                       .u32(0xc1fc1fc1)
                                                       .u32(0)
                                                       .u64(300)
                                                       .u64(0)
                                                       .u64(0)
                                                       .u64(128 * 8)
                                                       .u64(0)
                                                       .u64(1)
                                                       .u64(1)
                                                       .u32(2)
                                                       .bytes);
    EXPECT_EQ(ring.control.head, 128u + TL_PACKET_SIZE + 48u);
    EXPECT_EQ(ring.control.written, 2u);
}

TEST(RingBytes, ExtendedHeader) {
    TestRing ring(4096, 1024);
    const __u64 begin = 0x0000000100000000;
    ASSERT_EQ(put(ring, cat, 1, 0, begin, {}), TL_DROP_NONE);
    const __u8* end = ring.writer.cur;
    // 2^32 - 1 ticks later the low 32 bits still tell.
    ASSERT_EQ(put(ring, cat, 2, 3, begin + 0xffffffff, {}), TL_DROP_NONE);
    EXPECT_EQ(at(end, 12), Layout().u16(2).u32(0xffffffff).u16(3).u32(77).bytes);
    end = ring.writer.cur;
    // 2^32 ticks later they do not.
    const __u64 later = begin + 0xffffffff + 0x100000000;
    ASSERT_EQ(put(ring, cat, 0xabcd, 0x0123, later, {0x55}), TL_DROP_NONE);
    EXPECT_EQ(
        at(end, 24),
        Layout().u16(TL_ID_EXTENDED).u32(0xabcd).u64(later).u16(0x0123).u32(77).u32(0x55).bytes);
    end = ring.writer.cur;
    EXPECT_EQ(ring.control.head, static_cast<__u64>(end - ring.data));
    // With a task to name, the name has the time and the record follows it.
    const __u64 latest = 0xfedcba9876543210;
    ASSERT_EQ(put(ring, fifteen, 3, 4, latest, {}), TL_DROP_NONE);
    EXPECT_EQ(at(end, 52), Layout()
                               .u16(TL_ID_EXTENDED)
                               .u32(TL_ID_TASK)
                               .u64(latest)
                               .u16(4)
                               .u32(78)
                               .u32(70)
                               .text("fifteen--chars!", 16)
                               .u16(3)
                               .u32(0x76543210)
                               .u16(4)
                               .u32(78)
                               .bytes);
    EXPECT_EQ(ring.writer.cur, end + 52);
}

TEST(RingBytes, LongSilenceThenNewChunkNeedsNoExtendedHeader) {
    TestRing ring(512, 128);
    ASSERT_EQ(put(ring, cat, 1, 0, 1, {1}), TL_DROP_NONE);
    const __u64 later = 0x700000001;
    // 12 bytes are left: without the extended header it would not fit either.
    ASSERT_EQ(put(ring, cat, 1, 0, later, {1}), TL_DROP_NONE);
    EXPECT_EQ(tl_get_u64(&packet(ring, 1)->timestamp_begin), later);
    EXPECT_EQ(at(ring.data + 128 + TL_PACKET_SIZE, 12),
              Layout().u16(TL_ID_TASK).u32(1).u16(0).u32(77).bytes);
}

// Only the extended header makes this record too long for the chunk.
TEST(RingBytes, ExtendedHeaderCountsForTheRoom) {
    TestRing ring(1024, 256);
    const std::vector<__u32> words(29); // 44 + 12 + 116 of 188: 16 are left
    ASSERT_EQ(put(ring, cat, 1, 0, 1, {}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 2, words), TL_DROP_NONE);
    ASSERT_EQ(ring.writer.limit - ring.writer.cur, 16);
    ASSERT_EQ(put(ring, cat, 1, 0, 0x500000000, {}), TL_DROP_NONE);
    EXPECT_EQ(ring.control.head, 256u + TL_PACKET_SIZE + 44u);
}

TEST(RingTask, IsNamedWhenItChangesOrAChunkBegins) {
    TestRing ring(2048, 512);
    const __u64 named = 32;
    const __u64 plain = 12;
    __u64 head = TL_PACKET_SIZE;
    __u64 now = 0;
    auto expect = [&](const tl_task& task, __u64 bytes) {
        ASSERT_EQ(put(ring, task, 1, 0, ++now, {}), TL_DROP_NONE);
        EXPECT_EQ(ring.control.head, head + bytes) << "record " << now;
        head = ring.control.head;
    };
    tl_task renamed = cat;

    expect(cat, named + plain);
    expect(cat, plain);
    expect(fifteen, named + plain);
    expect(cat, named + plain);
    renamed.comm[0]++;
    expect(renamed, named + plain);
    expect(renamed, plain);
    renamed.comm[1]++;
    expect(renamed, named + plain);
    renamed.tid++;
    expect(renamed, named + plain);
    expect(renamed, plain);
    EXPECT_EQ(ring.control.written, 9u);

    // The same task in the next chunk: named again.
    while (ring.control.head < 512)
        ASSERT_EQ(put(ring, renamed, 1, 0, ++now, {}), TL_DROP_NONE);
    EXPECT_EQ(ring.control.head, 512 + TL_PACKET_SIZE + named + plain);
    EXPECT_EQ(ring.control.written, now);
    EXPECT_EQ(tl_get_u64(&packet(ring, 1)->first_event), now - 1);
}

TEST(RingTask, IsNotNamedByADroppedRecord) {
    TestRing ring(256, 128);
    ASSERT_EQ(put(ring, cat, 1, 0, 1, {}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 2, {1}), TL_DROP_NONE); // the second chunk
    ASSERT_EQ(put(ring, fifteen, 1, 0, 3, {}), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.writer.tid, cat.tid);
    const tl_packet* const last = packet(ring, 1);
    EXPECT_EQ(tl_get_u64(&last->content_size), (TL_PACKET_SIZE + 48) * 8u);
}

// The head never is a chunk's end while the chunk is open: that means closed.
TEST(RingEdge, NeverFillsToTheLastByte) {
    for (__u32 words = 0; words <= 4; words++) {
        TestRing ring(1024, 256); // 188 bytes for records
        ASSERT_EQ(put(ring, cat, 1, 0, 1, std::vector<__u32>(32)), TL_DROP_NONE); // 172 of them
        ASSERT_EQ(ring.writer.limit - ring.writer.cur, 16);
        ASSERT_EQ(put(ring, cat, 1, 0, 2, std::vector<__u32>(words)), TL_DROP_NONE);
        if (words == 0)
            EXPECT_EQ(ring.control.head, 252u);
        else
            EXPECT_EQ(ring.control.head, 256u + TL_PACKET_SIZE + 44 + 4 * words);
    }
    // And on the slow path, with a task to name.
    for (__u32 words = 0; words <= 2; words++) {
        TestRing ring(1024, 256);
        ASSERT_EQ(put(ring, cat, 1, 0, 1, std::vector<__u32>(24)), TL_DROP_NONE); // 140
        ASSERT_EQ(ring.writer.limit - ring.writer.cur, 48);
        ASSERT_EQ(put(ring, fifteen, 1, 0, 2, std::vector<__u32>(words)), TL_DROP_NONE);
        if (words == 0)
            EXPECT_EQ(ring.control.head, 252u);
        else
            EXPECT_EQ(ring.control.head, 256u + TL_PACKET_SIZE + 44 + 4 * words);
    }
}

TEST(RingDrop, TooBigIsWhatFitsNoChunk) {
    TestRing ring(1024, 256); // 188 - 44, less one that is never filled
    EXPECT_EQ(put(ring, cat, 1, 0, 1, std::vector<__u32>(35)), TL_DROP_NONE);
    EXPECT_EQ(ring.control.head, 252u);
    EXPECT_EQ(put(ring, cat, 1, 0, 2, std::vector<__u32>(36)), TL_DROP_TOO_BIG + 0u);
    EXPECT_EQ(put(ring, cat, 1, 0, 2, std::vector<__u32>(1000)), TL_DROP_TOO_BIG + 0u);
    EXPECT_EQ(ring.control.head, 252u);
    EXPECT_EQ(ring.control.written, 1u);
    EXPECT_EQ(ring.control.lost_too_big, 2u);
    EXPECT_EQ(ring.control.lost_full, 0u);
    EXPECT_EQ(ring.control.lost_nested, 0u);
}

TEST(RingDrop, FullUntilTheTailHasPassedTheChunk) {
    TestRing ring(512, 128);
    __u64 now = 0;
    tl_ring_span span = {};

    for (int i = 0; i < 4; i++)
        ASSERT_EQ(put(ring, cat, 1, 0, ++now, {1}), TL_DROP_NONE);
    for (int i = 0; i < 3; i++)
        ASSERT_EQ(put(ring, cat, 1, 0, ++now, {1}), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.control.lost_full, 3u);
    EXPECT_EQ(ring.control.written, 4u);

    // One byte short of it is not enough.
    ring.consumer.tail = 127;
    EXPECT_EQ(put(ring, cat, 1, 0, ++now, {1}), TL_DROP_FULL + 0u);
    ring.consumer.tail = 0;

    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.next, 128u);
    tl_ring_release(&ring.reader, &span);
    EXPECT_EQ(ring.consumer.tail, 128u);
    EXPECT_EQ(put(ring, cat, 1, 0, ++now, {1}), TL_DROP_NONE);
    EXPECT_EQ(put(ring, cat, 1, 0, ++now, {1}), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.control.lost_full, 5u);
    EXPECT_EQ(ring.control.lost_nested + ring.control.lost_too_big, 0u);
    // The losses after the fourth chunk's record are the fifth's.
    EXPECT_EQ(tl_get_u64(&packet(ring, 3)->events_discarded), 0u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 4)->events_discarded), 4u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 4)->packet_seq_num), 4u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 4)->first_event), 4u);
}

// Before the first record is dropped: whoever reads finds the chunk finished, and as long as
// nobody frees another, what would have fitted in it is dropped as well.
TEST(RingDrop, ClosesTheOpenChunkFirst) {
    TestRing ring(512, 256, 4);
    tl_ring_span span = {};

    ASSERT_EQ(put(ring, cat, 1, 0, 10, std::vector<__u32>(30)), TL_DROP_NONE); // 164 of 188
    ASSERT_EQ(put(ring, cat, 1, 0, 20, std::vector<__u32>(20)), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 30, std::vector<__u32>(90)), TL_DROP_TOO_BIG + 0u);
    EXPECT_EQ(ring.control.head, 256u + TL_PACKET_SIZE + 124); // that is no want of room
    ASSERT_EQ(put(ring, cat, 1, 0, 40, std::vector<__u32>(20)), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.control.head, 512u);
    EXPECT_EQ(at(ring.data + 256, TL_PACKET_SIZE), Layout()
                                                       .u32(0xc1fc1fc1)
                                                       .u32(0)
                                                       .u64(20)
                                                       .u64(20)
                                                       .u64((TL_PACKET_SIZE + 124) * 8)
                                                       .u64(256 * 8)
                                                       .u64(1)
                                                       .u64(1)
                                                       .u64(1)
                                                       .u32(4)
                                                       .bytes);

    // 64 bytes are left there, and stay so.
    ASSERT_EQ(put(ring, cat, 1, 0, 50, {}), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.control.head, 512u);
    EXPECT_EQ(ring.control.lost_full, 2u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 1)->events_discarded), 1u);

    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    tl_ring_release(&ring.reader, &span);
    ASSERT_EQ(put(ring, cat, 1, 0, 60, {}), TL_DROP_NONE);
    EXPECT_EQ(ring.control.head, 512u + TL_PACKET_SIZE + 44);
    tl_ring_finish(&ring.writer, 70);
    EXPECT_EQ(tl_get_u64(&packet(ring, 2)->events_discarded), 3u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 2)->first_event), 2u);
}

TEST(RingDrop, NestedInsideARecord) {
    TestRing ring(4096, 1024);
    const Attempt outer = {0, 3, 9, 10};

    ASSERT_TRUE(tl_ring_enter(&ring.writer));
    EXPECT_EQ(write_record(&ring.writer, {1, 1, 9, 11}), TL_DROP_NESTED + 0u);
    EXPECT_EQ(write_entered(&ring.writer, outer), TL_DROP_NONE + 0u);
    EXPECT_EQ(write_record(&ring.writer, {2, 1, 9, 12}), TL_DROP_NESTED + 0u);
    tl_ring_leave(&ring.writer);
    EXPECT_EQ(write_record(&ring.writer, {3, 1, 9, 13}), TL_DROP_NONE + 0u);
    EXPECT_EQ(ring.control.lost_nested, 2u);
    EXPECT_EQ(ring.control.lost_full + ring.control.lost_too_big, 0u);
    EXPECT_EQ(ring.control.written, 2u);
}

TEST(RingTime, NeverGoesBack) {
    TestRing ring(512, 128);
    Parser parser;
    std::vector<__u64> times;

    // On the fast path, on the slow one, into a new chunk, and by more than 2^32.
    const std::vector<std::pair<__u32, __u64>> hits = {
        {5, 0x900000000}, {5, 0x8ffffffff}, {6, 0x100000000}, {6, 0x100000001},
        {6, 0},           {5, 0x900000001}, {5, 0x900000000},
    };
    for (auto [tid, now] : hits) {
        ASSERT_EQ(write_record(&ring.writer, {0, 0, tid, now}), TL_DROP_NONE + 0u);
        const char* wrong = ring.drain(parser, [&](const Seen& seen) {
            EXPECT_FALSE(seen.extended);
            times.push_back(seen.time);
            return static_cast<const char*>(nullptr);
        });
        ASSERT_EQ(wrong, nullptr) << wrong;
    }
    EXPECT_EQ(times, (std::vector<__u64>{0x900000000, 0x900000000, 0x900000000, 0x900000000,
                                         0x900000000, 0x900000001, 0x900000001}));
    tl_ring_finish(&ring.writer, 0);
    EXPECT_EQ(tl_get_u64(&packet(ring, ring.writer.next / 128 - 1)->timestamp_end), 0x900000001u);
}

TEST(RingTime, ADroppedRecordHasNone) {
    TestRing ring(256, 128);
    ASSERT_EQ(put(ring, cat, 1, 0, 10, {1}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 20, {1}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 0x900000000, {1}), TL_DROP_FULL + 0u);
    EXPECT_EQ(ring.writer.last, 20u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 1)->timestamp_end), 20u);
}

TEST(RingFinish, ClosesWhatIsOpen) {
    TestRing ring(512, 128);
    tl_ring_span span = {};

    tl_ring_finish(&ring.writer, 5); // nothing was ever written
    EXPECT_EQ(ring.control.head, 0u);
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), 0);

    ASSERT_EQ(put(ring, cat, 1, 0, 10, {1, 2}), TL_DROP_NONE);
    tl_ring_finish(&ring.writer, 20);
    EXPECT_EQ(ring.control.head, 128u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 0)->content_size), (TL_PACKET_SIZE + 52) * 8u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 0)->timestamp_end), 10u);
    tl_ring_finish(&ring.writer, 30); // and nothing since
    EXPECT_EQ(ring.control.head, 128u);

    ASSERT_EQ(put(ring, cat, 1, 0, 40, {}), TL_DROP_NONE);
    EXPECT_EQ(ring.control.head, 128u + TL_PACKET_SIZE + 44);
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.start, ring.data + TL_PACKET_SIZE);
    EXPECT_EQ(span.length, 52u);
    EXPECT_EQ(span.next, 128u);
}

TEST(RingFinish, AnEmptyPacketTellsOfLaterLosses) {
    TestRing ring(512, 128, 1);
    tl_ring_span span = {};

    ASSERT_EQ(put(ring, cat, 1, 0, 10, {1}), TL_DROP_NONE);
    tl_ring_finish(&ring.writer, 20);
    ASSERT_EQ(put(ring, cat, 1, 0, 30, std::vector<__u32>(40)), TL_DROP_TOO_BIG + 0u);
    tl_ring_finish(&ring.writer, 40);
    EXPECT_EQ(ring.control.head, 256u);
    EXPECT_EQ(at(ring.data + 128, TL_PACKET_SIZE), Layout()
                                                       .u32(0xc1fc1fc1)
                                                       .u32(0)
                                                       .u64(40)
                                                       .u64(40)
                                                       .u64(TL_PACKET_SIZE * 8)
                                                       .u64(128 * 8)
                                                       .u64(1)
                                                       .u64(1)
                                                       .u64(1)
                                                       .u32(1)
                                                       .bytes);
    tl_ring_finish(&ring.writer, 50); // that was told
    EXPECT_EQ(ring.control.head, 256u);

    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    tl_ring_release(&ring.reader, &span);
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.length, 0u);
    EXPECT_EQ(span.next, 256u);
    tl_ring_release(&ring.reader, &span);
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), 0);
}

// Whether it was finish that closed the last chunk, or the drop.
class RingFinishFull : public testing::TestWithParam<bool> {};

TEST_P(RingFinishFull, WithoutRoomTheLossesAreToldLater) {
    TestRing ring(256, 128);
    tl_ring_span span = {};

    ASSERT_EQ(put(ring, cat, 1, 0, 10, {1}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 20, {1}), TL_DROP_NONE);
    if (GetParam()) {
        tl_ring_finish(&ring.writer, 30);
        EXPECT_EQ(ring.control.head, 256u);
    }
    ASSERT_EQ(put(ring, cat, 1, 0, 40, {1}), TL_DROP_FULL + 0u);
    tl_ring_finish(&ring.writer, 50);
    EXPECT_EQ(ring.control.head, 256u);
    EXPECT_EQ(ring.control.lost_full, 1u); // a packet is no record

    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    tl_ring_release(&ring.reader, &span);
    tl_ring_finish(&ring.writer, 60);
    EXPECT_EQ(ring.control.head, 384u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 1)->events_discarded), 0u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 2)->events_discarded), 1u);
    EXPECT_EQ(tl_get_u64(&packet(ring, 2)->content_size), TL_PACKET_SIZE * 8u);
}

INSTANTIATE_TEST_SUITE_P(Before, RingFinishFull, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& p) {
                             return p.param ? "finished" : "open";
                         });

TEST(RingReader, TakesAChunkInPieces) {
    TestRing ring(512, 128);
    tl_ring_span span = {};

    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), 0);
    ASSERT_EQ(put(ring, cat, 1, 0, 10, {}), TL_DROP_NONE);
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.packet, ring.data);
    EXPECT_EQ(span.start, ring.data + TL_PACKET_SIZE);
    EXPECT_EQ(span.length, 44u);
    EXPECT_EQ(span.next, TL_PACKET_SIZE + 44u);
    tl_ring_release(&ring.reader, &span);
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), 0);

    ASSERT_EQ(put(ring, cat, 1, 0, 11, {}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 12, {}), TL_DROP_NONE); // in the next chunk
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.packet, ring.data);
    EXPECT_EQ(span.start, ring.data + TL_PACKET_SIZE + 44);
    EXPECT_EQ(span.length, 12u);
    EXPECT_EQ(span.next, 128u);
    tl_ring_release(&ring.reader, &span);
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.packet, ring.data + 128);
    EXPECT_EQ(span.length, 44u);
    tl_ring_release(&ring.reader, &span);

    // Read to the end before it was closed: nothing more in it.
    ASSERT_EQ(put(ring, cat, 1, 0, 13, {1, 2, 3}), TL_DROP_NONE);
    ASSERT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    EXPECT_EQ(span.packet, ring.data + 128);
    EXPECT_EQ(span.length, 0u);
    EXPECT_EQ(span.next, 256u);
}

TEST(RingReader, RefusesAHeadOrSizeThatCannotBe) {
    TestRing ring(512, 128);
    tl_ring_span span = {};

    ASSERT_EQ(put(ring, cat, 1, 0, 10, {1}), TL_DROP_NONE);
    ASSERT_EQ(put(ring, cat, 1, 0, 20, {1}), TL_DROP_NONE);
    const __u64 head = ring.control.head;
    for (__u64 wrong : {513ULL, 1024ULL, ~0ULL, 1ULL << 63, 5ULL}) {
        ring.control.head = wrong;
        EXPECT_EQ(tl_ring_peek(&ring.reader, &span), -1) << wrong;
    }
    ring.control.head = head;
    __u8* const size = ring.data + offsetof(tl_packet, content_size);
    for (__u64 wrong : {0ULL, 67ULL * 8, 129ULL * 8, ~0ULL}) {
        tl_put_u64(size, wrong);
        EXPECT_EQ(tl_ring_peek(&ring.reader, &span), -1) << wrong;
    }
    tl_put_u64(size, 128 * 8);
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), 1);
    // Less than what was read of it already.
    tl_put_u64(size, 116 * 8);
    ring.reader.pos = 120;
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), -1);
    // A head that went back.
    ring.reader.pos = head + 1;
    EXPECT_EQ(tl_ring_peek(&ring.reader, &span), -1);
}

// Of a tail the writer takes "room or no room", whatever stands there.
TEST(RingGarbage, ATailMeansRoomOrNoRoom) {
    std::mt19937_64 random(20);
    const __u64 size = 4096;
    const __u32 chunk = 1024;
    TestRing ring(size, chunk);
    __u64 now = 0;
    __u64 room = 0;
    __u64 full = 0;

    for (int i = 0; i < 200000; i++) {
        const __u64 start = ring.writer.next;
        const __u64 base = random() % 2 ? start : ring.control.head;
        switch (random() % 6) {
        case 0:
            ring.consumer.tail = random();
            break;
        case 1: // ahead
            ring.consumer.tail = base + 1 + random() % (2 * size);
            break;
        case 2: // behind
            ring.consumer.tail = base - random() % (2 * size);
            break;
        case 3: // the edge
            ring.consumer.tail = start - size + chunk - 1 + random() % 3;
            break;
        case 4:
            ring.consumer.tail = ~0ULL - random() % 3;
            break;
        default:
            ring.consumer.tail = base;
        }
        const bool expected = start - ring.consumer.tail <= size - chunk;
        const bool opens = ring.writer.limit - ring.writer.cur <= 12 + 4 * 60;
        const __u64 head = ring.control.head;
        now++;
        const __u32 drop = put(ring, cat, 1, 0, now, std::vector<__u32>(60, 7));
        if (!opens) {
            ASSERT_EQ(drop, TL_DROP_NONE + 0u);
        } else if (expected) {
            ASSERT_EQ(drop, TL_DROP_NONE + 0u);
            room++;
        } else {
            ASSERT_EQ(drop, TL_DROP_FULL + 0u);
            full++;
        }
        // It went forward (a drop closes what is open), and lies within one ring; the guard
        // pages saw nothing.
        if (drop)
            ASSERT_EQ(ring.control.head, (head + chunk - 1) / chunk * chunk);
        else
            ASSERT_GT(ring.control.head, head);
        ASSERT_GE(ring.writer.cur, ring.data);
        ASSERT_LE(ring.writer.cur, ring.data + size); // there when none is open
        ASSERT_EQ(ring.control.written + ring.control.lost_full, now);
        if (random() % 64 == 0)
            tl_ring_finish(&ring.writer, now);
    }
    EXPECT_GT(room, 1000u);
    EXPECT_GT(full, 1000u);
}

class RingSizes : public testing::TestWithParam<__u64> {};

// Bursts and a reader that comes now and then, around the ring several times.
TEST_P(RingSizes, EveryRecordIsReadOrLost) {
    const __u64 size = GetParam();
    TestRing ring(size, static_cast<__u32>(std::min<__u64>(65536, size / 4)));
    std::mt19937_64 random(size);
    std::deque<Attempt> expected;
    Parser parser;
    __u64 now = 1;
    __u64 tried = 0;
    __u64 read = 0;
    __u64 dropped = 0;
    const __u32 big = ring.control.chunk_size / 4;

    auto drain = [&] {
        return ring.drain(parser, [&](const Seen& seen) -> const char* {
            if (expected.empty())
                return "a record too many";
            const Attempt a = expected.front();
            expected.pop_front();
            read++;
            return compare(seen, a);
        });
    };
    for (int round = 0; round < 30; round++) {
        const __u64 burst = random() % (size / 32) + 1;

        for (__u64 i = 0; i < burst; i++) {
            now += random() % 1000 == 0 ? random() % (1ULL << 34) : random() % 50;
            const Attempt a = {static_cast<__u32>(tried++),
                               random() % 5000 == 0 ? big : static_cast<__u32>(random() % 12),
                               static_cast<__u32>(random() % 8 / 7 + 1), now};
            if (write_record(&ring.writer, a) == TL_DROP_NONE)
                expected.push_back(a);
            else
                dropped++;
            if (i % 4096 == 0 && random() % 2) {
                const char* wrong = drain();
                ASSERT_EQ(wrong, nullptr) << wrong;
            }
        }
        if (random() % 4 == 0)
            tl_ring_finish(&ring.writer, now);
        const char* wrong = drain();
        ASSERT_EQ(wrong, nullptr) << wrong << " in round " << round;
        ASSERT_TRUE(expected.empty());
        ASSERT_EQ(read, ring.control.written);
        ASSERT_EQ(dropped, ring.lost());
        ASSERT_EQ(ring.control.written + ring.lost(), tried);
        ASSERT_EQ(ring.consumer.tail, ring.control.head);
    }
    EXPECT_GT(ring.control.head, 2 * size);
    EXPECT_GT(parser.tasks(), 0u);
    EXPECT_GT(ring.control.lost_too_big, 0u);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RingSizes, testing::Values(65536, 1 << 17, 1 << 20, 1 << 22),
                         [](const testing::TestParamInfo<__u64>& p) {
                             return std::to_string(p.param >> 10) + "KiB";
                         });

// The largest ring: its positions and addresses are wider than 29 bits.
TEST(RingSizes, OneGibibyteAddressesItsLastChunk) {
    TestRing ring(1ULL << 30, 65536);
    Parser parser;
    // As if it had gone around thrice, but for the last chunk.
    const __u64 start = (4ULL << 30) - 65536;
    ring.writer.next = start;
    ring.consumer.tail = start;
    ring.reader.pos = start;
    for (__u32 i = 0; i < 2000; i++)
        ASSERT_EQ(write_record(&ring.writer, {i, 10, 1, i}), TL_DROP_NONE + 0u);
    __u32 next = 0;
    const char* wrong = ring.drain(parser, [&](const Seen& seen) {
        const __u32 seq = next++;
        return compare(seen, {seq, 10, 1, seq});
    });
    EXPECT_EQ(wrong, nullptr) << wrong;
    EXPECT_EQ(next, 2000u);
    EXPECT_GT(ring.control.head, 4ULL << 30);
    EXPECT_EQ(tl_get_u64(&reinterpret_cast<tl_packet*>(ring.data)->packet_seq_num), 65536u);
}

} // namespace
