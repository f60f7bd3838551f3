// SPDX-License-Identifier: GPL-2.0
// From rings that the real writer filled to a recording, and back.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <optional>
#include <stdlib.h>
#include <string>
#include <sys/resource.h>

#include "recording/chunk_writer.h"
#include "recording/flight_recorder.h"
#include "recording/trace_reader.h"
#include "ring_fixture.h"
#include "util/error.h"

namespace trapline {
namespace {

using test::number_field;
using test::TestRing;

constexpr std::uint64_t ring_size = 65536;
const tl_task somebody = test::task(10, 10, "somebody");
const std::vector<EventLayout> layouts = {test::layout(1, TRAPLINE_ENTRY, 1)};

class RecorderTest : public testing::Test {
protected:
    RecorderTest() {
        std::string name = testing::TempDir() + "recorder.XXXXXX";
        parent = mkdtemp(name.data());
        directory.emplace(parent + "/rec");
        directory->create();
        write_metadata();
    }
    ~RecorderTest() override { std::filesystem::remove_all(parent); }

    void write_metadata() {
        TraceDescription description;
        description.layouts = layouts;
        description.clock = {"mono", 1'000'000'000, ClockAnchor{}};
        directory->write_metadata(description);
    }

    // Numbers from `first` on, a tick apart; how many were recorded.
    static std::uint64_t write(TestRing& ring, std::uint64_t first, std::uint64_t count) {
        std::uint64_t recorded = 0;
        for (std::uint64_t i = first; i < first + count; i++)
            recorded += ring.write(1, 1000 + i, somebody, number_field(i)) ? 1 : 0;
        return recorded;
    }

    // The numbers on disk.
    std::vector<std::uint64_t> numbers() {
        std::vector<std::uint64_t> all;
        TraceReader reader(parent + "/rec", [](const std::string& text) { ADD_FAILURE() << text; });
        while (const Event* event = reader.next()) {
            std::uint64_t number = 0;
            std::memcpy(&number, event->fields.data(), sizeof(number));
            all.push_back(number);
        }
        gaps.clear();
        for (std::size_t i = 0; i < reader.streams(); i++)
            gaps.insert(gaps.end(), reader.gaps(i).begin(), reader.gaps(i).end());
        return all;
    }

    std::uint64_t gap(std::uint64_t Gap::*kind) const {
        std::uint64_t sum = 0;
        for (const Gap& one : gaps)
            sum += one.*kind;
        return sum;
    }

    std::string parent;
    std::optional<RecordingDirectory> directory;
    std::vector<Gap> gaps;
};

TEST_F(RecorderTest, OnlyFinishedChunksAreWrittenUntilTheEnd) {
    TestRing ring(ring_size, 2);
    const RingOfCpu rings[] = {{2, ring.memory()}};
    ChunkWriter writer(rings, *directory, 0);
    EXPECT_TRUE(writer.write_finished());
    write(ring, 0, 10);
    EXPECT_TRUE(writer.write_finished());
    EXPECT_TRUE(numbers().empty());
    write(ring, 10, 1500);
    EXPECT_TRUE(writer.write_finished());
    const std::size_t finished = numbers().size();
    EXPECT_GT(finished, 700U);
    EXPECT_LT(finished, 1510U);
    EXPECT_EQ(finished, writer.totals().front().read);
    EXPECT_EQ(writer.totals().front().unread, 1510 - finished);

    ring.finish(5000);
    EXPECT_TRUE(writer.write_rest({.ticks = 5000}));
    const std::vector<std::uint64_t> all = numbers();
    ASSERT_EQ(all.size(), 1510U);
    for (std::uint64_t i = 0; i < all.size(); i++)
        EXPECT_EQ(all[i], i);
    EXPECT_EQ(writer.totals().front().cpu, 2U);
    EXPECT_EQ(writer.totals().front().written, 1510U);
    EXPECT_EQ(writer.totals().front().read, 1510U);
    EXPECT_EQ(writer.totals().front().unread, 0U);
}

// A ring that is full when tracing stops: the module finds no room for a packet that says so.
TEST_F(RecorderTest, LossesAtTheVeryEndGetAPacket) {
    TestRing ring(ring_size);
    const RingOfCpu rings[] = {{0, ring.memory()}};
    ChunkWriter writer(rings, *directory, 0);
    const std::uint64_t recorded = write(ring, 0, 5000);
    ASSERT_LT(recorded, 5000U);
    ring.finish(9000);
    EXPECT_TRUE(writer.write_rest({.ticks = 9000}));
    EXPECT_EQ(numbers().size(), recorded);
    EXPECT_EQ(gap(&Gap::dropped), 5000 - recorded);
    EXPECT_EQ(gap(&Gap::overwritten), 0U);
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].from, 1000 + recorded - 1);
    EXPECT_EQ(gaps[0].to, 9000U);
    EXPECT_TRUE(writer.write_rest({.ticks = 9000})) << "once is enough";
    EXPECT_EQ(gap(&Gap::dropped), 5000 - recorded);
}

TEST_F(RecorderTest, LossesInTheMiddleAreInThePacketThatFollows) {
    TestRing ring(ring_size);
    const RingOfCpu rings[] = {{0, ring.memory()}};
    ChunkWriter writer(rings, *directory, 0);
    std::uint64_t recorded = write(ring, 0, 5000);
    const std::uint64_t before = recorded;
    EXPECT_TRUE(writer.write_finished());
    recorded += write(ring, 5000, 100);
    EXPECT_EQ(recorded, before + 100);
    ring.finish(9000);
    EXPECT_TRUE(writer.write_rest({.ticks = 9000}));
    EXPECT_EQ(numbers().size(), recorded);
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].dropped, 5000 - before);
    EXPECT_EQ(gaps[0].from, 1000 + before - 1);
    EXPECT_EQ(gaps[0].to, 1000U + 5099);
}

TEST_F(RecorderTest, TheSizeIsNeverPassed) {
    const std::uint64_t metadata = directory->size();
    TestRing ring(ring_size);
    const RingOfCpu rings[] = {{0, ring.memory()}};
    const std::uint64_t chunk = ring.chunk_size();
    ChunkWriter writer(rings, *directory, metadata + 3 * chunk - 1);
    const std::uint64_t recorded = write(ring, 0, 5000);
    EXPECT_FALSE(writer.write_finished());
    EXPECT_EQ(directory->size(), metadata + 2 * chunk);
    ring.finish(9000);
    EXPECT_FALSE(writer.write_rest({.ticks = 9000}));
    EXPECT_EQ(directory->size(), metadata + 2 * chunk + TL_PACKET_SIZE);
    const RingTotals totals = writer.totals().front();
    EXPECT_EQ(numbers().size(), totals.read);
    EXPECT_EQ(gap(&Gap::dropped), 5000 - recorded) << "what was dropped is told all the same";
    EXPECT_EQ(gap(&Gap::overwritten), 0U);
    EXPECT_EQ(totals.read + totals.unread, recorded);
    EXPECT_GT(totals.unread, 0U);
}

TEST_F(RecorderTest, WhatCannotBeWrittenStaysInTheRing) {
    TestRing ring(ring_size);
    const RingOfCpu rings[] = {{0, ring.memory()}};
    ChunkWriter writer(rings, *directory, 0);
    const std::uint64_t recorded = write(ring, 0, 5000);
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const rlimit small{ring.chunk_size() + 100, limit.rlim_max};
    (void)std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(writer.write_finished(), Error);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_TRUE(numbers().empty()) << "what is on disk is whole";
    EXPECT_EQ(writer.totals().front().unread, recorded);
    EXPECT_TRUE(writer.write_finished());
    EXPECT_EQ(numbers().size(), recorded);
}

class FlightTest : public RecorderTest {
protected:
    static void expect_identity(FlightRecorder& recorder, std::uint64_t written) {
        const RingTotals totals = recorder.totals().front();
        EXPECT_EQ(totals.written, written);
        EXPECT_EQ(totals.read + totals.overwritten + totals.unread, written);
    }

    TestRing ring{ring_size, 0, true};
    const RingOfCpu rings[1] = {{0, ring.memory()}};
};

TEST_F(FlightTest, TheLastEventsAreWritten) {
    FlightRecorder recorder(rings, layouts, *directory, 0);
    EXPECT_EQ(write(ring, 0, 10000), 10000U);
    expect_identity(recorder, 10000);
    EXPECT_TRUE(recorder.write_new());
    expect_identity(recorder, 10000);
    const std::vector<std::uint64_t> all = numbers();
    ASSERT_GT(all.size(), 2000U);
    for (std::size_t i = 0; i < all.size(); i++)
        EXPECT_EQ(all[i], 10000 - all.size() + i);
    EXPECT_EQ(recorder.totals().front().read, all.size());
    EXPECT_EQ(gap(&Gap::overwritten), 10000 - all.size());
    EXPECT_EQ(gap(&Gap::dropped), 0U);
}

// An open chunk is replaced by its fuller copies, in its place.
TEST_F(FlightTest, SnapshotsHoldEachEventOnce) {
    FlightRecorder recorder(rings, layouts, *directory, 0);
    std::uint64_t written = 0;
    for (const std::uint64_t more : {5, 0, 7, 600, 1, 2500, 3, 0}) {
        written += write(ring, written, more);
        EXPECT_TRUE(recorder.write_new());
        expect_identity(recorder, written);
        EXPECT_EQ(recorder.totals().front().unread, 0U);
        const std::vector<std::uint64_t> all = numbers();
        ASSERT_EQ(all.size(), written);
        for (std::size_t i = 0; i < all.size(); i++)
            EXPECT_EQ(all[i], i);
    }
    ring.finish(90000);
    EXPECT_TRUE(recorder.write_new());
    EXPECT_EQ(numbers().size(), written);
    EXPECT_EQ(gap(&Gap::overwritten), 0U);
}

// What came into the open chunk after it was written, and is gone, is a gap behind it.
TEST_F(FlightTest, WhatWasOverwrittenBetweenSnapshotsIsAGap) {
    FlightRecorder recorder(rings, layouts, *directory, 0);
    write(ring, 0, 100);
    EXPECT_TRUE(recorder.write_new());
    write(ring, 100, 10000);
    EXPECT_TRUE(recorder.write_new());
    expect_identity(recorder, 10100);
    const std::vector<std::uint64_t> all = numbers();
    ASSERT_GT(all.size(), 2100U);
    EXPECT_EQ(all[99], 99U);
    EXPECT_EQ(all.back(), 10099U);
    EXPECT_EQ(recorder.totals().front().read, all.size());
    EXPECT_EQ(gap(&Gap::overwritten), 10100 - all.size());
    ASSERT_EQ(gaps.size(), 1U);
    EXPECT_EQ(gaps[0].from, 1000U + 99);
}

TEST_F(FlightTest, TheSizeIsNeverPassed) {
    const std::uint64_t metadata = directory->size();
    const std::uint64_t chunk = ring.chunk_size();
    FlightRecorder recorder(rings, layouts, *directory, metadata + 2 * chunk);
    write(ring, 0, 100);
    EXPECT_TRUE(recorder.write_new());
    write(ring, 100, 10);
    EXPECT_TRUE(recorder.write_new()) << "in the place it has";
    write(ring, 110, 3000);
    EXPECT_FALSE(recorder.write_new());
    EXPECT_EQ(directory->size(), metadata + 2 * chunk);
    expect_identity(recorder, 3110);
    EXPECT_EQ(numbers().size(), recorder.totals().front().read);
    EXPECT_GT(recorder.totals().front().unread, 0U);
}

} // namespace
} // namespace trapline
