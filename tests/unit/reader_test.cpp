// SPDX-License-Identifier: GPL-2.0
// Reading rings that the real writer filled, and rings that nobody should have to read.
#include "ring/reader.h"

#include <functional>
#include <gtest/gtest.h>

#include "ring_fixture.h"
#include "util/error.h"

namespace trapline {
namespace {

using test::TestRing;

const tl_task somebody = test::task(10, 10, "somebody");

// Bytes taken out.
std::uint64_t read_all(RingReader& reader) {
    std::uint64_t bytes = 0;
    tl_ring_span span{};
    while (reader.peek(span)) {
        bytes += span.length;
        reader.release(span);
    }
    return bytes;
}

std::string refusal(const std::function<void(TestRing&)>& spoil, std::uint32_t cpu = 3) {
    TestRing ring(65536, 3);
    spoil(ring);
    try {
        const RingReader reader(ring.memory(), cpu);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(RingReader, ChecksTheControlPage) {
    EXPECT_EQ(refusal([](TestRing&) {}), "accepted");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().page.magic ^= 1; }),
              "cannot read the ring of CPU 3: its control page begins with 0x474e495250415255 "
              "instead of 0x474e495250415254");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().page.version = 3; }),
              "cannot read the ring of CPU 3: its layout is version 3, known is 2");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().page.kind = TL_PAGE_METADATA; }),
              "cannot read the ring of CPU 3: its control page is of kind 3 instead of 1");
    EXPECT_EQ(refusal([](TestRing&) {}, 4),
              "cannot read the ring of CPU 4: its control page is CPU 3's");
    EXPECT_EQ(
        refusal([](TestRing& r) { r.control().size *= 2; }),
        "cannot read the ring of CPU 3: it claims to have 131072 bytes, and 65536 are mapped");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().chunk_size = 0; }),
              "cannot read the ring of CPU 3: chunks of 0 bytes in a ring of 65536 are impossible");
    EXPECT_NE(refusal([](TestRing& r) { r.control().chunk_size = 12288; }), "accepted");
    EXPECT_NE(refusal([](TestRing& r) { r.control().chunk_size = 131072; }), "accepted");
    EXPECT_NE(refusal([](TestRing& r) { r.control().chunk_size = 64; }), "accepted");
}

TEST(RingReader, NothingToReadAtFirst) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    tl_ring_span span{};
    EXPECT_FALSE(reader.peek(span));
    EXPECT_EQ(reader.unread(), 0U);
}

TEST(RingReader, PublishedRecordsAreThereAtOnce) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    ASSERT_TRUE(ring.write(1, 100, somebody, test::number_field(5)));
    tl_ring_span span{};
    ASSERT_TRUE(reader.peek(span));
    // The task's name, then the record.
    EXPECT_EQ(span.length, TL_COMPACT_SIZE + TL_TASK_FIELDS + TL_COMPACT_SIZE + 8U);
    EXPECT_EQ(span.packet, ring.data());
    EXPECT_EQ(span.start, ring.data() + TL_PACKET_SIZE);
    ASSERT_TRUE(reader.peek(span)) << "peeking takes nothing";
    reader.release(span);
    EXPECT_FALSE(reader.peek(span));
    EXPECT_EQ(ring.consumer().tail, ring.control().head);

    ASSERT_TRUE(ring.write(1, 101, somebody, test::number_field(6)));
    ASSERT_TRUE(reader.peek(span));
    EXPECT_EQ(span.length, TL_COMPACT_SIZE + 8U);
}

TEST(RingReader, AReaderGoesOnWhereAnotherStopped) {
    TestRing ring(65536);
    ASSERT_TRUE(ring.write(1, 100, somebody, {}));
    tl_ring_span span{};
    {
        RingReader first(ring.memory(), 0);
        ASSERT_TRUE(first.peek(span));
        first.release(span);
    }
    ASSERT_TRUE(ring.write(1, 101, somebody, {}));
    RingReader second(ring.memory(), 0);
    ASSERT_TRUE(second.peek(span));
    EXPECT_EQ(span.length, static_cast<std::uint64_t>(TL_COMPACT_SIZE));
}

// Written, read and lost add up, in bytes and records, when the reader is too slow, and the
// writer finds room again once it has read.
class FullRing : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FullRing, DropsAreCountedAndRoomComesBack) {
    TestRing ring(GetParam());
    RingReader reader(ring.memory(), 0);
    std::uint64_t now = 1;
    for (int round = 0; round < 5; round++) {
        std::uint64_t written = 0;
        std::uint64_t dropped = 0;
        const std::uint64_t written_before = reader.written();
        const std::uint64_t dropped_before = reader.lost_full();
        while (dropped < 100) {
            if (ring.write(1, ++now, somebody, test::number_field(1)))
                written++;
            else
                dropped++;
        }
        EXPECT_EQ(ring.writer.drop, static_cast<unsigned>(TL_DROP_FULL));
        EXPECT_EQ(reader.written() - written_before, written);
        EXPECT_EQ(reader.lost_full() - dropped_before, dropped);
        EXPECT_EQ(reader.lost(), reader.lost_full());

        // The ring is full but for the ends of its chunks.
        const std::uint64_t record = TL_COMPACT_SIZE + 8;
        EXPECT_GT(written * record + ring.chunk_size(), GetParam() / 4 * 3);
        std::uint64_t bytes = read_all(reader);
        EXPECT_EQ(reader.unread(), 0U);
        // But for the tasks' names, one to a chunk that was begun.
        bytes -= written * record;
        EXPECT_EQ(bytes % (TL_COMPACT_SIZE + TL_TASK_FIELDS), 0U);
        EXPECT_LE(bytes / (TL_COMPACT_SIZE + TL_TASK_FIELDS), GetParam() / ring.chunk_size());
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FullRing, testing::Values(65536, 1 << 20));

TEST(RingReader, OtherLossesAreCountedByCause) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    EXPECT_FALSE(ring.write(1, 1, somebody, std::vector<std::uint8_t>(20000)));
    EXPECT_EQ(reader.lost_too_big(), 1U);
    ASSERT_NE(tl_ring_enter(&ring.writer), 0);
    EXPECT_FALSE(ring.write(1, 2, somebody, {}));
    EXPECT_FALSE(ring.write(1, 3, somebody, {}));
    tl_ring_leave(&ring.writer);
    EXPECT_EQ(reader.lost_nested(), 2U);
    EXPECT_EQ(reader.lost_full(), 0U);
    EXPECT_EQ(reader.lost(), 3U);
    EXPECT_EQ(reader.written(), 0U);
}

TEST(RingReader, FinishWithNothingLeavesNothing) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    ring.finish(5);
    tl_ring_span span{};
    EXPECT_FALSE(reader.peek(span));
}

TEST(RingReader, FinishClosesTheOpenChunk) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    ASSERT_TRUE(ring.write(1, 7, somebody, {}));
    tl_ring_span span{};
    ASSERT_TRUE(reader.peek(span));
    reader.release(span);
    ring.finish(9);
    ASSERT_TRUE(reader.peek(span));
    EXPECT_EQ(span.length, 0U);
    EXPECT_EQ(span.next, ring.chunk_size());
    tl_packet packet{};
    std::memcpy(&packet, span.packet, sizeof(packet));
    EXPECT_EQ(packet.timestamp_begin, 7U);
    EXPECT_EQ(packet.timestamp_end, 7U);
    EXPECT_EQ(packet.content_size / 8,
              TL_PACKET_SIZE + 2 * static_cast<std::uint64_t>(TL_COMPACT_SIZE) + TL_TASK_FIELDS);
    reader.release(span);
    EXPECT_FALSE(reader.peek(span));
    ring.finish(10);
    EXPECT_FALSE(reader.peek(span)) << "a second finish has nothing to say";
}

// Records dropped after the last packet was closed: an empty packet carries the count.
TEST(RingReader, FinishReportsLateLossesInAnEmptyPacket) {
    TestRing ring(65536);
    RingReader reader(ring.memory(), 0);
    std::uint64_t now = 1;
    while (ring.write(1, now, somebody, test::number_field(now)))
        now++;
    ring.finish(now); // the last chunk was closed before the loss, and there is no room
    tl_ring_span span{};
    std::uint64_t packets = 0;
    tl_packet packet{};
    while (reader.peek(span)) {
        std::memcpy(&packet, span.packet, sizeof(packet));
        reader.release(span);
        packets++;
    }
    EXPECT_EQ(packets, 4U);
    EXPECT_EQ(packet.events_discarded, 0U);

    ASSERT_NE(tl_ring_enter(&ring.writer), 0);
    EXPECT_FALSE(ring.write(1, now, somebody, {}));
    tl_ring_leave(&ring.writer);
    ring.finish(now + 5);
    ASSERT_TRUE(reader.peek(span));
    EXPECT_EQ(span.length, 0U);
    std::memcpy(&packet, span.packet, sizeof(packet));
    EXPECT_EQ(packet.events_discarded, 2U);
    EXPECT_EQ(packet.content_size / 8, static_cast<std::uint64_t>(TL_PACKET_SIZE));
    EXPECT_EQ(packet.timestamp_begin, now + 5);
    EXPECT_EQ(packet.packet_seq_num, 4U);
    reader.release(span);
    EXPECT_FALSE(reader.peek(span));
}

std::string contradiction(const std::function<void(TestRing&)>& spoil) {
    TestRing ring(65536, 3);
    std::uint64_t now = 1;
    while (ring.control().head < ring.chunk_size() + 1000)
        ring.write(1, ++now, somebody, test::number_field(1));
    spoil(ring);
    RingReader reader(ring.memory(), 3);
    try {
        read_all(reader);
    } catch (const Error& error) {
        return error.what();
    }
    return "read";
}

void set_content(TestRing& ring, std::uint64_t bytes) {
    tl_packet packet{};
    std::memcpy(&packet, ring.data(), sizeof(packet));
    packet.content_size = bytes * 8;
    std::memcpy(ring.data(), &packet, sizeof(packet));
}

TEST(RingReader, ContradictionsAreErrorsThatNameTheCpu) {
    const std::string prefix = "the ring of CPU 3 contradicts itself";
    EXPECT_EQ(contradiction([](TestRing&) {}), "read");
    // A head behind the tail, and one further than the ring is large.
    EXPECT_TRUE(contradiction([](TestRing& r) { r.consumer().tail = 60000; }).starts_with(prefix));
    EXPECT_TRUE(contradiction([](TestRing& r) { r.control().head = 65537; }).starts_with(prefix));
    EXPECT_TRUE(contradiction([](TestRing& r) { r.control().head = ~0ULL; }).starts_with(prefix));
    // A head inside of a packet's header.
    EXPECT_TRUE(contradiction([](TestRing& r) {
                    r.control().head = r.chunk_size() + 10;
                }).starts_with(prefix));
    // Content smaller than its own header, larger than its chunk.
    EXPECT_TRUE(contradiction([](TestRing& r) { set_content(r, 0); }).starts_with(prefix));
    EXPECT_TRUE(contradiction([](TestRing& r) { set_content(r, 67); }).starts_with(prefix));
    EXPECT_TRUE(
        contradiction([](TestRing& r) { set_content(r, r.chunk_size() + 1); }).starts_with(prefix));
    EXPECT_TRUE(contradiction([](TestRing& r) { set_content(r, ~0ULL / 8); }).starts_with(prefix));
    EXPECT_EQ(contradiction([](TestRing& r) { set_content(r, 68); }), "read");
    // Content smaller than what was read already.
    EXPECT_TRUE(contradiction([](TestRing& r) {
                    r.consumer().tail = 1000;
                    set_content(r, 999);
                }).starts_with(prefix));
}

// Old chunks lie there, each consistent in itself: only the positions tell.
TEST(RingReader, MoreUnreadThanTheRingHoldsIsAContradiction) {
    TestRing ring(65536);
    for (std::uint64_t now = 1; ring.write(1, now, somebody, test::number_field(now)); now++)
        ;
    ring.finish(1);
    ASSERT_EQ(ring.control().head, 65536U);
    tl_ring_span span{};
    EXPECT_TRUE(RingReader(ring.memory(), 0).peek(span));
    ring.control().head += ring.chunk_size();
    EXPECT_THROW(RingReader(ring.memory(), 0).peek(span), Error);
}

// The writer takes "room or no room" from the tail and nothing else: garbage there loses
// records, and none is written outside of the ring (a sanitizer would see).
TEST(RingReader, GarbageInTheConsumerPageOnlyLosesRecords) {
    for (const std::uint64_t tail : {~0ULL, 1ULL << 63, 123456789ULL, 4096ULL}) {
        TestRing ring(65536);
        ring.consumer().tail = tail;
        std::uint64_t written = 0;
        std::uint64_t dropped = 0;
        for (std::uint64_t now = 1; now <= 20000; now++) {
            if (ring.write(1, now, somebody, test::number_field(now)))
                written++;
            else
                dropped++;
        }
        EXPECT_EQ(ring.control().written, written);
        EXPECT_EQ(ring.control().lost_full, dropped);
        EXPECT_EQ(written + dropped, 20000U);
    }
}

} // namespace
} // namespace trapline
