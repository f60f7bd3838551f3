// SPDX-License-Identifier: GPL-2.0
// Records of the real writer, read back as events.
#include "ring/decoder.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "ring_fixture.h"
#include "util/error.h"

namespace trapline {
namespace {

using test::layout;
using test::number_field;
using test::string_field;
using test::task;
using test::TestRing;

constexpr std::uint16_t empty_id = 1;
constexpr std::uint16_t numbers_id = 2;
constexpr std::uint16_t text_id = 3;
constexpr std::uint16_t last_id = TL_ID_MAX;

const std::vector<EventLayout> layouts = {
    layout(empty_id, TRAPLINE_ENTRY, 0),
    layout(numbers_id, TRAPLINE_ENTRY, 2),
    layout(text_id, TRAPLINE_ENTRY, 1, true),
    layout(last_id, TRAPLINE_CALL, 1),
};

const tl_task shell = task(100, 100, "sh");

struct Written {
    std::uint64_t time = 0;
    std::uint16_t id = 0;
    std::uint16_t flags = 0;
    tl_task who{};
    std::vector<std::uint8_t> fields;
};

void expect_equal(const Event& event, const Written& written, std::uint32_t cpu) {
    ASSERT_EQ(event.ticks, written.time);
    ASSERT_EQ(event.id, written.id);
    ASSERT_EQ(event.flags, written.flags);
    ASSERT_EQ(event.cpu, cpu);
    ASSERT_EQ(event.tid, written.who.tid);
    ASSERT_EQ(event.tgid, written.who.tgid);
    ASSERT_EQ(std::memcmp(event.comm.data(), written.who.comm, TL_COMM_SIZE), 0);
    ASSERT_EQ(event.fields.size(), written.fields.size());
    ASSERT_TRUE(std::equal(written.fields.begin(), written.fields.end(),
                           reinterpret_cast<const std::uint8_t*>(event.fields.data())));
    ASSERT_FALSE(event.straggler);
}

struct Reading {
    explicit Reading(TestRing& ring, std::uint32_t cpu = 0)
        : reader(ring.memory(), cpu), decoder(cpu, layouts) {}

    Batch read(std::size_t max_bytes = SIZE_MAX) {
        Batch batch;
        drained = drain(reader, decoder, batch, max_bytes);
        return batch;
    }

    RingReader reader;
    RecordDecoder decoder;
    Drained drained;
};

TEST(Decoder, OneRecordOfEachKind) {
    TestRing ring(65536, 5);
    Reading reading(ring, 5);
    std::vector<std::uint8_t> two = number_field(0x1122334455667788);
    const std::vector<std::uint8_t> second = number_field(9);
    two.insert(two.end(), second.begin(), second.end());
    std::vector<std::uint8_t> text = number_field(1);
    const std::vector<std::uint8_t> name = string_field("/etc/passwd");
    text.insert(text.end(), name.begin(), name.end());
    const std::vector<Written> all = {
        {1000, empty_id, TL_IRQS_OFF | 3, shell, {}},
        {1001, numbers_id, 0, shell, two},
        {1001, text_id, TL_NMI, task(101, 100, "sixteen_letters_"), text},
        {1002, last_id, 0xffff, shell, two}, // an argument and the duration
    };
    for (const Written& one : all)
        ASSERT_TRUE(ring.write(one.id, one.time, one.who, one.fields, one.flags));
    const Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), all.size());
    for (std::size_t i = 0; i < all.size(); i++)
        expect_equal(batch.events[i], all[i], 5);
    EXPECT_EQ(reading.decoder.events(), all.size());
    EXPECT_FALSE(reading.drained.more);
}

// Times cross 2^32 in small steps and in gaps of just below, just at and far above it.
TEST(Decoder, TimesAreCompleted) {
    const std::uint64_t wrap = 1ULL << 32;
    const std::vector<std::uint64_t> steps = {
        0,        1,    wrap - 2, 1,        1,        wrap - 1, wrap, wrap + 1, 5 * wrap + 3,
        wrap - 1, wrap, 0,        7 * wrap, wrap / 2, wrap / 2, 1};
    TestRing ring(65536);
    Reading reading(ring);
    std::vector<std::uint64_t> times;
    std::uint64_t now = 0xfffffff0;
    for (const std::uint64_t step : steps) {
        now += step;
        times.push_back(now);
        ASSERT_TRUE(ring.write(numbers_id, now, shell, std::vector<std::uint8_t>(16)));
    }
    const Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), times.size());
    for (std::size_t i = 0; i < times.size(); i++)
        EXPECT_EQ(batch.events[i].ticks, times[i]) << "after step " << i;
}

// With a task to be named the task's record is the extended one, and ours compact behind it.
TEST(Decoder, TimesAreCompletedWithANewTaskAcrossAGap) {
    TestRing ring(65536);
    Reading reading(ring);
    ring.write(empty_id, 5, shell, {});
    ring.write(empty_id, 5 + (9ULL << 32), task(7, 6, "late"), {}, TL_SOFTIRQ);
    ring.write(last_id, 5 + (20ULL << 32), task(7, 6, "late"), std::vector<std::uint8_t>(16),
               TL_HARDIRQ);
    const Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), 3U);
    EXPECT_EQ(batch.events[1].ticks, 5 + (9ULL << 32));
    EXPECT_EQ(batch.events[1].tgid, 6U);
    EXPECT_EQ(batch.events[1].flags, TL_SOFTIRQ);
    EXPECT_EQ(batch.events[2].ticks, 5 + (20ULL << 32));
    EXPECT_EQ(batch.events[2].id, last_id);
    EXPECT_EQ(batch.events[2].flags, TL_HARDIRQ);
    EXPECT_EQ(batch.events[2].tid, 7U);
}

// The extended time is wider than 48 bits: its upper part lies in two words.
TEST(Decoder, TimesOfAllWidths) {
    TestRing ring(65536);
    Reading reading(ring);
    const std::vector<std::uint64_t> times = {1, 1ULL << 40, 1ULL << 50, 0xfedcba9876543210ULL,
                                              ~0ULL};
    for (const std::uint64_t time : times)
        ring.write(empty_id, time, shell, {});
    const Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), times.size());
    for (std::size_t i = 0; i < times.size(); i++)
        EXPECT_EQ(batch.events[i].ticks, times[i]);
}

TEST(Decoder, ClockThatStepsBackIsHeld) {
    TestRing ring(65536);
    Reading reading(ring);
    for (const std::uint64_t time : {1000, 900, 1000, 1001})
        ring.write(empty_id, time, shell, {});
    const Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), 4U);
    EXPECT_EQ(batch.events[1].ticks, 1000U);
    EXPECT_EQ(batch.events[3].ticks, 1001U);
}

TEST(Decoder, TaskRenamesWithinAndAcrossSpans) {
    TestRing ring(65536);
    Reading reading(ring);
    ring.write(empty_id, 1, task(7, 7, "before"), {});
    ring.write(empty_id, 2, task(7, 7, "after"), {});
    Batch batch = reading.read();
    ASSERT_EQ(batch.events.size(), 2U);
    EXPECT_STREQ(batch.events[0].comm.data(), "before");
    EXPECT_STREQ(batch.events[1].comm.data(), "after");
    // Named before, so not again; the decoder remembers.
    ring.write(empty_id, 3, task(7, 7, "after"), {});
    batch = reading.read();
    ASSERT_EQ(batch.events.size(), 1U);
    EXPECT_STREQ(batch.events[0].comm.data(), "after");
    EXPECT_EQ(batch.bytes.size(), static_cast<std::size_t>(TL_COMPACT_SIZE));
}

TEST(Decoder, AnEmptyFinalPacketIsNoEvent) {
    TestRing ring(65536);
    Reading reading(ring);
    ring.write(empty_id, 1, shell, {});
    ring.finish(2);
    EXPECT_EQ(reading.read().events.size(), 1U);
    ASSERT_NE(tl_ring_enter(&ring.writer), 0);
    EXPECT_FALSE(ring.write(empty_id, 3, shell, {}));
    tl_ring_leave(&ring.writer);
    ring.finish(3);
    EXPECT_GT(reading.reader.unread(), 0U);
    EXPECT_TRUE(reading.read().empty());
    EXPECT_EQ(reading.reader.unread(), 0U);
    ring.write(empty_id, 4, shell, {});
    EXPECT_EQ(reading.read().events.size(), 1U) << "the next packet follows in sequence";
}

TEST(Decoder, BudgetIsKeptToTheChunk) {
    TestRing ring(1 << 20);
    Reading reading(ring);
    std::uint64_t written = 0;
    while (ring.control().lost_full == 0)
        written += ring.write(numbers_id, written, shell, std::vector<std::uint8_t>(16)) ? 1 : 0;
    std::uint64_t read = 0;
    const std::size_t budget = 100000;
    do {
        const Batch batch = reading.read(budget);
        read += batch.events.size();
        EXPECT_EQ(reading.drained.bytes, batch.bytes.size());
        EXPECT_LT(batch.bytes.size(), budget + ring.chunk_size());
        EXPECT_TRUE(!reading.drained.more || batch.bytes.size() >= budget);
    } while (reading.drained.more);
    EXPECT_EQ(read, written);
    EXPECT_TRUE(reading.read(0).empty());
}

TEST(Decoder, FieldsStayWhenABatchGrowsAndMoves) {
    TestRing ring(1 << 20);
    Reading reading(ring);
    Batch batch;
    std::uint64_t next = 0;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 50; i++) {
            std::vector<std::uint8_t> fields = number_field(next++);
            fields.resize(16);
            ASSERT_TRUE(ring.write(numbers_id, next, shell, fields));
        }
        ring.write(empty_id, next, shell, {}); // and one that has none
        drain(reading.reader, reading.decoder, batch, SIZE_MAX);
        batch = Batch(std::move(batch));
    }
    std::deque<Batch> moved;
    moved.push_back(std::move(batch));
    std::uint64_t expected = 0;
    for (const Event& event : moved[0].events) {
        if (event.id == empty_id)
            continue;
        std::uint64_t value = 0;
        ASSERT_GE(event.fields.data(), moved[0].bytes.data());
        ASSERT_LE(event.fields.data() + 16, moved[0].bytes.data() + moved[0].bytes.size());
        std::memcpy(&value, event.fields.data(), 8);
        ASSERT_EQ(value, expected++);
    }
    EXPECT_EQ(expected, next);
}

// A reader that takes over in the middle of a packet knows the time and the task.
TEST(Decoder, TakesOverInsideAPacket) {
    TestRing ring(65536);
    Reading first(ring);
    ring.write(empty_id, 3ULL << 40, task(5, 4, "early"), {});
    ring.write(numbers_id, (3ULL << 40) + 1, task(6, 6, "later"), std::vector<std::uint8_t>(16));
    EXPECT_EQ(first.read().events.size(), 2U);
    ring.write(empty_id, (3ULL << 40) + 2, task(6, 6, "later"), {});
    Reading second(ring);
    const Batch batch = second.read();
    ASSERT_EQ(batch.events.size(), 1U);
    EXPECT_EQ(batch.events[0].ticks, (3ULL << 40) + 2);
    EXPECT_STREQ(batch.events[0].comm.data(), "later");
    EXPECT_EQ(second.decoder.events(), 1U);
}

// A long random life: sizes, tasks, gaps, reads at any moment, a reader that falls behind,
// stops in between. Everything that was not dropped comes out, in order and as it went in.
class RandomLife : public testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomLife, ReadIsWhatWasWritten) {
    TestRing ring(GetParam(), 2);
    Reading reading(ring, 2);
    std::mt19937_64 random(GetParam());
    const auto below = [&](std::uint64_t n) { return random() % n; };
    std::vector<Written> expected;
    std::size_t checked = 0;
    std::uint64_t now = 1;
    std::uint64_t dropped = 0;
    std::uint64_t most_in_a_packet = 0;

    const auto check = [&](const Batch& batch) {
        for (const Event& event : batch.events) {
            ASSERT_LT(checked, expected.size());
            expect_equal(event, expected[checked++], 2);
        }
    };
    const auto random_fields = [&](std::uint16_t id) {
        std::vector<std::uint8_t> fields;
        if (id == numbers_id || id == last_id)
            fields.resize(16);
        for (std::uint8_t& byte : fields)
            byte = static_cast<std::uint8_t>(random());
        if (id == text_id) {
            fields = number_field(random());
            const auto text =
                string_field(std::string(below(10) == 0 ? below(1025) : below(20), 'x'),
                             static_cast<std::uint16_t>(below(3)));
            fields.insert(fields.end(), text.begin(), text.end());
        }
        return fields;
    };

    const std::uint64_t phase = 20000 + GetParam() / 16; // enough to fill the ring
    for (std::uint64_t step = 0; step < 4 * phase; step++) {
        if (below(5000) == 0)
            now += below(20ULL << 32);
        now += below(100);
        const std::uint16_t ids[] = {empty_id, numbers_id, text_id, last_id};
        Written one;
        one.id = ids[below(4)];
        one.time = now;
        one.flags = static_cast<std::uint16_t>(random());
        const std::uint64_t who = below(20) == 0 ? below(5) : 0;
        one.who = task(static_cast<std::uint32_t>(100 + who), 100, who % 2 == 0 ? "even" : "odd");
        one.fields = random_fields(one.id);
        if (ring.write(one.id, one.time, one.who, one.fields, one.flags))
            expected.push_back(std::move(one));
        else
            dropped++;
        if (below(30000) == 0)
            ring.finish(now);
        // Mostly often, at times rarely: the ring then fills up.
        const bool lazy = step / phase % 2 == 1;
        if (below(lazy ? phase / 2 : 50) == 0) {
            const Batch batch = reading.read(1 + below(100000));
            most_in_a_packet = std::max<std::uint64_t>(most_in_a_packet, batch.events.size());
            ASSERT_NO_FATAL_FAILURE(check(batch));
        }
    }
    ring.finish(now);
    do {
        const Batch batch = reading.read();
        ASSERT_NO_FATAL_FAILURE(check(batch));
    } while (reading.drained.more);
    EXPECT_EQ(checked, expected.size());
    EXPECT_EQ(reading.reader.written(), expected.size());
    EXPECT_EQ(reading.reader.lost(), dropped);
    EXPECT_GT(dropped, 0U) << "the ring was never full";
    EXPECT_GT(ring.control().head, 2 * GetParam()) << "it never went round";
    EXPECT_GT(most_in_a_packet, 10U);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RandomLife, testing::Values(65536, 1 << 20));

// The error that decoding a spoilt first chunk gives.
std::string decoding(const std::function<void(TestRing&)>& spoil,
                     std::size_t* events_before = nullptr) {
    TestRing ring(65536, 3);
    for (std::uint64_t i = 0; i < 4; i++)
        ring.write(numbers_id, 1000 + i, shell, std::vector<std::uint8_t>(16));
    spoil(ring);
    Reading reading(ring, 3);
    Batch batch;
    try {
        drain(reading.reader, reading.decoder, batch, SIZE_MAX);
    } catch (const Error& error) {
        if (events_before != nullptr)
            *events_before = batch.events.size();
        return error.what();
    }
    return "decoded";
}

constexpr std::size_t named = TL_PACKET_SIZE + TL_COMPACT_SIZE + TL_TASK_FIELDS; // first record
constexpr std::size_t record = TL_COMPACT_SIZE + 16;

template <class T>
void poke(TestRing& ring, std::size_t at, T value) {
    std::memcpy(ring.data() + at, &value, sizeof(value));
}

TEST(Decoder, WhatIsNoRecordIsAnErrorThatSaysWhere) {
    std::size_t before = 0;
    EXPECT_EQ(decoding([](TestRing&) {}), "decoded");
    EXPECT_EQ(decoding([](TestRing& r) { poke<std::uint16_t>(r, named + record, 77); }, &before),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 128: event id 77 is "
              "unknown");
    EXPECT_EQ(before, 1U) << "what came before is not lost";
    EXPECT_EQ(decoding([](TestRing& r) { poke<std::uint16_t>(r, named, 65532); }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 100: event id 65532 is "
              "unknown");
    EXPECT_EQ(decoding([](TestRing& r) { r.control().head -= 4; }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 184: a record of event2 "
              "runs past the end, or is malformed");
    EXPECT_EQ(decoding([](TestRing& r) { r.control().head -= record - 8; }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 184: 8 bytes are no "
              "header");
    EXPECT_EQ(decoding([](TestRing& r) { r.control().head = TL_PACKET_SIZE + 20; }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 68: a task's name runs "
              "past the end");
    // An extended record with an id that only 32 bits hold.
    EXPECT_EQ(decoding([](TestRing& r) {
                  poke<std::uint16_t>(r, named, TL_ID_EXTENDED);
                  poke<std::uint32_t>(r, named + 2, 0x10002);
                  poke<std::uint64_t>(r, named + 6, 5000);
              }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 100: event id 65538 is "
              "unknown");
    EXPECT_EQ(decoding([](TestRing& r) {
                  poke<std::uint16_t>(r, named, TL_ID_EXTENDED);
                  poke<std::uint32_t>(r, named + 2, 2);
                  poke<std::uint64_t>(r, named + 6, 999);
              }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 100: its time 999 is "
              "before 1000");
    EXPECT_EQ(decoding([](TestRing& r) {
                  poke<std::uint16_t>(r, named + 3 * record, TL_ID_EXTENDED);
                  r.control().head -= record - 16;
              }),
              "the ring of CPU 3 contradicts itself in packet 0 at offset 184: 16 bytes are no "
              "extended header");
}

TEST(Decoder, StringsThatRunPastTheEndAreErrors) {
    TestRing ring(65536);
    std::vector<std::uint8_t> fields = number_field(1);
    const auto text = string_field("abc");
    fields.insert(fields.end(), text.begin(), text.end());
    ring.write(text_id, 1, shell, fields);
    poke<std::uint16_t>(ring, named + TL_COMPACT_SIZE + 8 + 2, 5); // its length
    Reading reading(ring);
    EXPECT_THROW(reading.read(), Error);
}

TEST(Decoder, PacketHeadersAreChecked) {
    const auto with = [](const std::function<void(tl_packet&)>& spoil) {
        return decoding([&](TestRing& ring) {
            tl_packet packet{};
            std::memcpy(&packet, ring.data(), sizeof(packet));
            spoil(packet);
            std::memcpy(ring.data(), &packet, sizeof(packet));
        });
    };
    EXPECT_EQ(with([](tl_packet&) {}), "decoded");
    EXPECT_EQ(
        with([](tl_packet& p) { p.magic++; }),
        "the ring of CPU 3 contradicts itself in packet 0 at offset 0: no packet begins here");
    EXPECT_EQ(
        with([](tl_packet& p) { p.stream_id++; }),
        "the ring of CPU 3 contradicts itself in packet 0 at offset 0: no packet begins here");
    EXPECT_EQ(
        with([](tl_packet& p) { p.cpu_id = 2; }),
        "the ring of CPU 3 contradicts itself in packet 0 at offset 0: the packet is of CPU 2");
}

TEST(Decoder, PacketsFollowOneAnother) {
    for (const bool sequence : {true, false}) {
        TestRing ring(65536);
        Reading reading(ring);
        ring.write(empty_id, 500, shell, {});
        ring.finish(501);
        EXPECT_EQ(reading.read().events.size(), 1U);
        ring.write(empty_id, 600, shell, {});
        tl_packet packet{};
        std::uint8_t* second = ring.data() + ring.chunk_size();
        std::memcpy(&packet, second, sizeof(packet));
        if (sequence)
            packet.packet_seq_num = 2;
        else
            packet.timestamp_begin = 499;
        std::memcpy(second, &packet, sizeof(packet));
        EXPECT_THROW(reading.read(), Error);
    }
}

TEST(Decoder, ReservedIdsAndTooManyFieldsAreRefused) {
    const std::vector<EventLayout> zero = {layout(0, TRAPLINE_ENTRY, 0)};
    EXPECT_THROW(RecordDecoder(0, zero), Error);
    const std::vector<EventLayout> extended = {layout(TL_ID_EXTENDED, TRAPLINE_ENTRY, 0)};
    EXPECT_THROW(RecordDecoder(0, extended), Error);
    const std::vector<EventLayout> wide = {layout(1, TRAPLINE_ENTRY, 1001)};
    EXPECT_THROW(RecordDecoder(0, wide), Error);
}

TEST(Decoder, MangledChunksNeverHurt) {
    std::mt19937 random(3);
    for (int i = 0; i < 2000; i++) {
        TestRing ring(65536);
        for (std::uint64_t n = 0; n < 20; n++) {
            std::vector<std::uint8_t> fields = number_field(n);
            const auto text = string_field("some text");
            fields.insert(fields.end(), text.begin(), text.end());
            ring.write(text_id, 1000 + n, shell, fields);
        }
        const std::uint64_t head = ring.control().head;
        for (int flips = 0; flips < 1 + i % 5; flips++)
            ring.data()[TL_PACKET_SIZE + random() % (head - TL_PACKET_SIZE)] =
                static_cast<std::uint8_t>(random());
        Reading reading(ring);
        try {
            const Batch batch = reading.read();
            for (const Event& event : batch.events)
                ASSERT_LE(event.fields.data() + event.fields.size(),
                          batch.bytes.data() + batch.bytes.size());
        } catch (const Error&) {
        }
    }
}

} // namespace
} // namespace trapline
