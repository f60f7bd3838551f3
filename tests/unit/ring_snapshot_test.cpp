// SPDX-License-Identifier: GPL-2.0
// Snapshots of a ring in overwrite mode: what they give, and that every record is
// accounted for, whenever somebody asks.
#include "ring/snapshot_reader.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <random>

#include "ring/decoder.h"
#include "ring_fixture.h"
#include "util/error.h"

namespace trapline {
namespace {

using test::TestRing;
using Chunk = SnapshotReader::Chunk;

constexpr std::uint32_t cpu = 3;
constexpr std::uint64_t ring_size = 4096; // four chunks
constexpr std::uint64_t chunk_bytes = 1024;

const std::vector<EventLayout> layouts = {test::layout(1, TRAPLINE_ENTRY, 1)};
const tl_task somebody = test::task(10, 10, "somebody");

// Records are numbered, in their field.
class NumberedRing : public TestRing {
public:
    NumberedRing() : TestRing(ring_size, cpu, true) {}

    void write(std::uint64_t records = 1) {
        for (; records != 0; records--, written++)
            ASSERT_TRUE(TestRing::write(1, written / 2, somebody, test::number_field(written)));
    }
    // Until a chunk was begun, `chunks` times.
    void fill(std::uint64_t chunks) {
        for (const std::uint64_t end = writer.next + chunks * chunk_bytes; writer.next < end;)
            write();
    }

    std::uint64_t written = 0;
};

std::vector<std::uint64_t> numbers(std::span<const std::byte> packet) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(packet.data());
    RecordDecoder decoder(cpu, layouts);
    Batch batch;
    decoder.decode({bytes, bytes + TL_PACKET_SIZE, packet.size() - TL_PACKET_SIZE, 0}, batch);
    std::vector<std::uint64_t> out;
    for (const Event& event : batch.events) {
        std::uint64_t number = 0;
        std::memcpy(&number, event.fields.data(), sizeof(number));
        out.push_back(number);
    }
    return out;
}

// What a recorder does with the chunks.
class Recorder {
public:
    explicit Recorder(SnapshotReader& reader) : reader_(reader) {}

    void store(const Chunk& chunk) {
        if (open_ && packets_.back().position == chunk.position)
            packets_.pop_back();
        packets_.push_back({chunk.position, numbers(chunk.packet)});
        open_ = !chunk.finished;
        const std::vector<std::uint64_t>& records = packets_.back().records;
        for (std::size_t i = 0; i < records.size(); i++)
            EXPECT_EQ(records[i], chunk.first_event + i);
        reader_.count(records.size());
    }
    // Returns the number of chunks.
    int snapshot() {
        const std::uint64_t end = reader_.published();
        int chunks = 0;
        while (const std::optional<Chunk> chunk = reader_.next(end)) {
            store(*chunk);
            chunks++;
        }
        return chunks;
    }

    // What it has, in order, each record once.
    std::vector<std::uint64_t> records() const {
        std::vector<std::uint64_t> all;
        for (const Packet& packet : packets_)
            all.insert(all.end(), packet.records.begin(), packet.records.end());
        EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
        EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
        return all;
    }

private:
    struct Packet {
        std::uint64_t position;
        std::vector<std::uint64_t> records;
    };
    SnapshotReader& reader_;
    std::vector<Packet> packets_;
    bool open_ = false; // the last packet is an unfinished chunk's
};

void expect_counts(SnapshotReader& reader, std::uint64_t read, std::uint64_t overwritten,
                   std::uint64_t unread, std::uint64_t before = 0) {
    const SnapshotReader::Counts counts = reader.counts();
    EXPECT_EQ(counts.before, before);
    EXPECT_EQ(counts.read, read);
    EXPECT_EQ(counts.overwritten, overwritten);
    EXPECT_EQ(counts.unread, unread);
    EXPECT_EQ(reader.written(), before + read + overwritten + unread);
}

std::string refusal(const std::function<void(TestRing&)>& spoil) {
    NumberedRing ring;
    spoil(ring);
    try {
        const SnapshotReader reader(ring.memory(), cpu);
    } catch (const Error& error) {
        return error.what();
    }
    return "accepted";
}

TEST(SnapshotReader, ChecksTheControlPage) {
    EXPECT_EQ(refusal([](TestRing&) {}), "accepted");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().page.kind = TL_PAGE_METADATA; }),
              "cannot read the ring of CPU 3: its control page is of kind 3 instead of 1");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().chunk_size = 8192; }),
              "cannot read the ring of CPU 3: chunks of 8192 bytes in a ring of 4096 are "
              "impossible");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().overwrite = 0; }),
              "cannot read the ring of CPU 3: it isn't in overwrite mode");
    EXPECT_EQ(refusal([](TestRing& r) { r.control().chunk_size = ring_size; }),
              "cannot read the ring of CPU 3: overwrite mode takes two chunks, and it has one");
}

TEST(SnapshotReader, ContradictionsAreErrorsThatNameTheCpu) {
    NumberedRing ring;
    ring.fill(6);
    SnapshotReader reader(ring.memory(), cpu);
    const std::uint64_t head = ring.control().head;
    ring.control().head = 7 * chunk_bytes;
    try {
        reader.next(reader.published());
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the ring of CPU 3 contradicts itself: read up to 2048, "
                                   "published up to 7168, in 4096 bytes of chunks of 1024");
    }
    EXPECT_THROW(reader.counts(), Error);
    ring.control().head = head;
    EXPECT_TRUE(reader.next(reader.published()));
    // A position that another program noted.
    ring.consumer().tail = 99 * chunk_bytes;
    EXPECT_THROW(SnapshotReader(ring.memory(), cpu), Error);
}

TEST(SnapshotReader, GivesAnUnfinishedChunkOnce) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    EXPECT_EQ(reader.cpu(), cpu);
    EXPECT_EQ(reader.published(), 0U);
    EXPECT_FALSE(reader.next(0));
    ring.write(3);
    for (std::uint64_t n = 3; n < 6; n++) {
        const std::uint64_t end = reader.published();
        std::optional<Chunk> chunk = reader.next(end);
        ASSERT_TRUE(chunk);
        EXPECT_FALSE(chunk->finished);
        EXPECT_EQ(chunk->position, 0U);
        EXPECT_EQ(chunk->first_event, 0U);
        EXPECT_EQ(chunk->packet.size(), end);
        EXPECT_EQ(numbers(chunk->packet).size(), n);
        reader.count(n);
        EXPECT_FALSE(reader.next(reader.published())) << "nothing came into it since";
        ring.write();
        EXPECT_FALSE(reader.next(end)) << "that is for the next snapshot";
    }
}

TEST(SnapshotReader, TheSameChunkComesAgainFullerUntilItIsFinished) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    std::uint64_t first_size = 0;
    for (std::uint64_t n = 1; n <= 4; n++) {
        ring.write();
        std::optional<Chunk> chunk = reader.next(reader.published());
        ASSERT_TRUE(chunk);
        EXPECT_EQ(chunk->position, 0U);
        EXPECT_EQ(numbers(chunk->packet).size(), n);
        if (n == 1)
            first_size = chunk->packet.size();
        EXPECT_EQ(chunk->packet.size(), first_size + (n - 1) * (TL_COMPACT_SIZE + 8));
        reader.count(n);
        expect_counts(reader, n, 0, 0);
        EXPECT_FALSE(reader.next(reader.published()));
    }
    ring.fill(1);
    const std::uint64_t inside = ring.written - 1;
    std::optional<Chunk> chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    EXPECT_TRUE(chunk->finished);
    EXPECT_EQ(chunk->position, 0U);
    EXPECT_EQ(numbers(chunk->packet).size(), inside);
    tl_packet header{};
    std::memcpy(&header, chunk->packet.data(), sizeof(header));
    EXPECT_EQ(header.content_size, chunk->packet.size() * 8);
    EXPECT_EQ(header.timestamp_end, (inside - 1) / 2);
    expect_counts(reader, 4, 0, ring.written - 4);
    reader.count(inside);
    expect_counts(reader, inside, 0, 1);
    EXPECT_EQ(ring.consumer().tail, chunk_bytes);

    chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    EXPECT_FALSE(chunk->finished);
    EXPECT_EQ(chunk->position, chunk_bytes);
    EXPECT_EQ(chunk->first_event, inside);
    reader.count(1);
    EXPECT_FALSE(reader.next(reader.published()));
    expect_counts(reader, ring.written, 0, 0);
}

// However much is written meanwhile.
TEST(SnapshotReader, EndsWithTheChunkThatTheHeadWasIn) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    Recorder recorder(reader);
    ring.fill(2);
    const std::uint64_t end = reader.published();
    for (const std::uint64_t position : {std::uint64_t{0}, chunk_bytes}) {
        const std::optional<Chunk> chunk = reader.next(end);
        ASSERT_TRUE(chunk);
        EXPECT_EQ(chunk->position, position);
        EXPECT_TRUE(chunk->finished) << "the second was, meanwhile";
        recorder.store(*chunk);
        ring.fill(1);
    }
    EXPECT_FALSE(reader.next(end));
    EXPECT_EQ(recorder.snapshot(), 2);
    expect_counts(reader, ring.written, 0, 0);
}

// What is there instead is given, and ends it.
TEST(SnapshotReader, EndsWhenAllThatItWasToGiveIsGone) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    Recorder recorder(reader);
    ring.fill(3);
    const std::uint64_t end = reader.published();
    std::optional<Chunk> chunk = reader.next(end);
    ASSERT_TRUE(chunk);
    recorder.store(*chunk);
    ring.fill(8);
    chunk = reader.next(end);
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->position, ring.control().floor);
    recorder.store(*chunk);
    EXPECT_FALSE(reader.next(end));
}

TEST(SnapshotReader, AChunkThatWasNotCountedIsGivenAgain) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    ring.fill(2);
    std::optional<Chunk> chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    expect_counts(reader, 0, 0, ring.written);
    const std::size_t size = chunk->packet.size();
    // Its caller may have spoilt it.
    std::fill(chunk->packet.begin(), chunk->packet.end(), std::byte{0xee});
    ring.fill(1);
    chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    EXPECT_EQ(chunk->position, 0U);
    EXPECT_EQ(chunk->packet.size(), size);
    Recorder recorder(reader);
    recorder.store(*chunk);
    EXPECT_EQ(recorder.snapshot(), 2);
    expect_counts(reader, ring.written, 0, 0);
    EXPECT_THROW(reader.count(1), std::bad_optional_access) << "there is none to count";
}

TEST(SnapshotReader, WhatIsOverwrittenIsKnownAtOnce) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    Recorder recorder(reader);
    ring.fill(3);
    EXPECT_EQ(recorder.snapshot(), 3);
    const std::uint64_t read = ring.written; // one of them in the third chunk
    expect_counts(reader, read, 0, 0);

    // The fourth chunk is overwritten, and what came into the third since.
    ring.fill(5);
    const tl_packet* oldest =
        reinterpret_cast<const tl_packet*>(ring.data() + ring.control().floor % ring_size);
    ASSERT_EQ(ring.control().floor, 4 * chunk_bytes);
    expect_counts(reader, read, oldest->first_event - read, ring.written - oldest->first_event);
    const std::uint64_t overwritten = oldest->first_event - read;
    EXPECT_EQ(recorder.snapshot(), 4);
    expect_counts(reader, ring.written - overwritten, overwritten, 0);
    EXPECT_EQ(recorder.records().size() + overwritten, ring.written);
    ring.write(2);
    expect_counts(reader, ring.written - overwritten - 2, overwritten, 2);

    // While a chunk is out, all that came is unread.
    const std::optional<Chunk> chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    const std::uint64_t until = ring.written;
    ring.fill(9);
    expect_counts(reader, until - overwritten - 2, overwritten, ring.written - until + 2);
    recorder.store(*chunk);
    const std::uint64_t gone =
        reinterpret_cast<const tl_packet*>(ring.data() + ring.control().floor % ring_size)
            ->first_event -
        until;
    expect_counts(reader, until - overwritten, overwritten + gone, ring.written - until - gone);
}

TEST(SnapshotReader, CountingMoreThanThereWasIsAContradiction) {
    NumberedRing ring;
    SnapshotReader reader(ring.memory(), cpu);
    ring.fill(2);
    const std::uint64_t inside = ring.written - 1;
    std::optional<Chunk> chunk = reader.next(reader.published());
    ASSERT_TRUE(chunk);
    reader.count(numbers(chunk->packet).size() + inside);
    try {
        reader.next(reader.published());
        FAIL();
    } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_TRUE(what.starts_with("the ring of CPU 3 contradicts itself: its chunk at 1024 "
                                     "begins with record "))
            << what;
    }
}

TEST(SnapshotReader, AnotherReaderGoesOnAtAChunksStart) {
    NumberedRing ring;
    ring.fill(3);
    std::uint64_t first = 0; // of the chunk where the first reader stopped
    {
        SnapshotReader reader(ring.memory(), cpu);
        Recorder recorder(reader);
        recorder.snapshot();
        first = ring.written - 1;
    }
    ring.write(2);
    {
        SnapshotReader reader(ring.memory(), cpu);
        expect_counts(reader, 0, 0, 3, first);
        Recorder recorder(reader);
        EXPECT_EQ(recorder.snapshot(), 1);
        EXPECT_EQ(recorder.records(), (std::vector<std::uint64_t>{first, first + 1, first + 2}));
        expect_counts(reader, 3, 0, 0, first);
        ring.fill(5);
        const std::uint64_t unread = [&] {
            Recorder rest(reader);
            rest.snapshot();
            return rest.records().size();
        }();
        expect_counts(reader, 3 + unread, ring.written - first - 3 - unread, 0, first);
    }
    // Everything was read, and a new chunk not begun.
    ring.finish(ring.written);
    {
        SnapshotReader reader(ring.memory(), cpu);
        Recorder(reader).snapshot();
    }
    SnapshotReader reader(ring.memory(), cpu);
    expect_counts(reader, 0, 0, 0, ring.written);
    EXPECT_FALSE(reader.next(reader.published()));
    const std::uint64_t before = ring.written;
    ring.write(4);
    expect_counts(reader, 0, 0, 4, before);
}

// Bursts, stops and snapshots in any order: whatever was recorded is in the recording, or
// counted as overwritten, or there to be read.
TEST(SnapshotReader, EveryRecordIsAccountedForWheneverSomebodyAsks) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 50; round++) {
        NumberedRing ring;
        SnapshotReader reader(ring.memory(), cpu);
        Recorder recorder(reader);
        std::uint64_t overwritten = 0;
        for (int step = 0; step < 100; step++) {
            switch (random() % 6) {
            case 0:
                ring.finish(ring.written);
                break;
            case 1:
                recorder.snapshot();
                EXPECT_EQ(reader.counts().unread, 0U);
                break;
            case 2:
                if (const std::optional<Chunk> chunk = reader.next(reader.published())) {
                    ring.write(random() % 50);
                    recorder.store(*chunk);
                }
                break;
            default:
                ring.write(random() % (random() % 4 == 0 ? 1000 : 30));
            }
            const SnapshotReader::Counts counts = reader.counts();
            const std::vector<std::uint64_t> records = recorder.records();
            ASSERT_EQ(counts.read, records.size());
            ASSERT_EQ(counts.read + counts.overwritten + counts.unread, ring.written);
            ASSERT_EQ(ring.written, reader.written());
            ASSERT_LE(counts.unread, ring_size / (TL_COMPACT_SIZE + 8));
            ASSERT_GE(counts.overwritten, overwritten);
            overwritten = counts.overwritten;
        }
        ring.finish(ring.written);
        recorder.snapshot();
        const SnapshotReader::Counts counts = reader.counts();
        EXPECT_EQ(counts.unread, 0U);
        EXPECT_EQ(counts.read + counts.overwritten, ring.written);
        EXPECT_GT(counts.overwritten, 0U);
    }
}

} // namespace
} // namespace trapline
