// SPDX-License-Identifier: GPL-2.0
// A stream read back: its events, what is missing, and what is damaged.
#include "recording/stream_reader.h"

#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recording_fixture.h"
#include "trace/fields.h"

using namespace trapline;
using namespace trapline::test;

namespace {

const std::vector<EventLayout> layouts = small_description().layouts;

struct Reading {
    std::vector<std::uint64_t> ticks;
    std::vector<std::uint64_t> stragglers;
    std::vector<std::string> damage;
    std::vector<Gap> gaps;
    std::uint32_t cpu = 0;
    bool any = false;

    explicit Reading(std::span<const std::byte> bytes, const std::string& name = "cpu_0") {
        UniqueFd file(memfd_create("stream", MFD_CLOEXEC));
        EXPECT_EQ(write(file.get(), bytes.data(), bytes.size()),
                  static_cast<ssize_t>(bytes.size()));
        StreamReader reader(std::move(file), name, layouts,
                            [this](const std::string& text) { damage.push_back(text); });
        while (const Event* event = reader.next()) {
            ticks.push_back(event->ticks);
            if (event->straggler)
                stragglers.push_back(event->ticks);
        }
        EXPECT_EQ(reader.next(), nullptr);
        gaps = reader.gaps();
        cpu = reader.cpu();
        any = reader.any();
    }

    std::string all_damage() const {
        std::string all;
        for (const std::string& one : damage)
            all += one + "\n";
        return all;
    }
};

std::vector<std::uint64_t> range(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> out;
    for (; from < to; from++)
        out.push_back(from);
    return out;
}

std::vector<std::uint64_t> operator+(std::vector<std::uint64_t> a,
                                     const std::vector<std::uint64_t>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// Three packets of 1 KiB: 46 events in each of the first two, from tick 1000 on.
constexpr std::uint64_t per_packet = 46;
std::vector<std::byte> three() {
    std::vector<std::byte> packets = numbered_packets(2, 100, 1000, 4096);
    EXPECT_EQ(packets.size(), 3072U);
    EXPECT_EQ(std::uint64_t{packet_at(packets, 1024).first_event}, per_packet) << "what tests know";
    return packets;
}

TEST(StreamReader, EventsAsTheyWereWritten) {
    TestRing ring(65536, 2);
    std::vector<std::uint8_t> fields = number_field(5);
    const std::vector<std::uint8_t> text = string_field("abc");
    fields.insert(fields.end(), text.begin(), text.end());
    ASSERT_TRUE(ring.write(text_id, 1000, task(7, 6, "cat"), fields, TL_IRQS_OFF));
    ASSERT_TRUE(ring.write(TL_ID_MARK, 1ULL << 40, task(8, 8, "sh"), string_field("here")));
    const std::vector<std::byte> packets = packets_of(ring);
    UniqueFd file(memfd_create("stream", MFD_CLOEXEC));
    ASSERT_EQ(write(file.get(), packets.data(), packets.size()),
              static_cast<ssize_t>(packets.size()));
    StreamReader reader(std::move(file), "cpu_2", layouts,
                        [](const std::string& damage) { FAIL() << damage; });
    EXPECT_EQ(reader.cpu(), 2U);
    const Event* event = reader.next();
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->id, text_id);
    EXPECT_EQ(event->ticks, 1000U);
    EXPECT_EQ(event->cpu, 2U);
    EXPECT_EQ(event->tid, 7U);
    EXPECT_EQ(event->tgid, 6U);
    EXPECT_EQ(event->flags, TL_IRQS_OFF);
    EXPECT_STREQ(event->comm.data(), "cat");
    FieldValues values;
    ASSERT_TRUE(decode_fields(layouts[1], event->fields, values));
    EXPECT_EQ(values.entry[0].number, 5U);
    EXPECT_EQ(values.entry[1].text, "abc");
    event = reader.next();
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(event->id, TL_ID_MARK);
    EXPECT_EQ(event->ticks, 1ULL << 40);
    ASSERT_TRUE(decode_fields(mark_layout(), event->fields, values));
    EXPECT_EQ(values.entry[0].text, "here");
    EXPECT_EQ(reader.next(), nullptr);
    EXPECT_TRUE(reader.gaps().empty());
}

TEST(StreamReader, PacketByPacket) {
    const Reading read(three());
    EXPECT_EQ(read.ticks, range(1000, 1100));
    EXPECT_EQ(read.all_damage(), "");
    EXPECT_TRUE(read.gaps.empty());
    EXPECT_EQ(read.cpu, 2U);
}

TEST(StreamReader, DroppedEventsAreGaps) {
    std::vector<std::byte> packets = three();
    packet_at(packets, 0).events_discarded = 3;
    packet_at(packets, 1024).events_discarded = 3;
    packet_at(packets, 2048).events_discarded = 10;
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(), "");
    ASSERT_EQ(read.gaps.size(), 2U);
    EXPECT_EQ(read.gaps[0].from, 0U);
    EXPECT_EQ(read.gaps[0].to, 1000 + per_packet - 1);
    EXPECT_EQ(read.gaps[0].dropped, 3U);
    EXPECT_EQ(read.gaps[0].overwritten, 0U);
    EXPECT_EQ(read.gaps[1].from, 1000 + 2 * per_packet - 1);
    EXPECT_EQ(read.gaps[1].to, 1099U);
    EXPECT_EQ(read.gaps[1].dropped, 7U);
}

TEST(StreamReader, OverwrittenEventsAreGaps) {
    std::vector<std::byte> packets = three();
    packets.erase(packets.begin() + 1024, packets.begin() + 2048);
    Reading read(packets);
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet) + range(1000 + 2 * per_packet, 1100));
    EXPECT_EQ(read.all_damage(), "") << "a recording may lack packets";
    ASSERT_EQ(read.gaps.size(), 1U);
    EXPECT_EQ(read.gaps[0].from, 1000 + per_packet - 1);
    EXPECT_EQ(read.gaps[0].to, 1099U);
    EXPECT_EQ(read.gaps[0].dropped, 0U);
    EXPECT_EQ(read.gaps[0].overwritten, per_packet);
    // The first that is left tells what was before it.
    packets.erase(packets.begin(), packets.begin() + 1024);
    read = Reading(packets);
    ASSERT_EQ(read.gaps.size(), 1U);
    EXPECT_EQ(read.gaps[0].from, 0U);
    EXPECT_EQ(read.gaps[0].overwritten, 2 * per_packet);
}

TEST(StreamReader, ALastPacketThatOnlyTellsOfLosses) {
    std::vector<std::byte> packets = three();
    const EmptyPacket end = empty_packet({.begin = 2000,
                                          .end = 2000,
                                          .events_discarded = 9,
                                          .sequence = 3,
                                          .first_event = 100,
                                          .cpu = 2});
    packets.insert(packets.end(), end.begin(), end.end());
    const Reading read(packets);
    EXPECT_EQ(read.ticks, range(1000, 1100));
    EXPECT_EQ(read.all_damage(), "");
    ASSERT_EQ(read.gaps.size(), 1U);
    EXPECT_EQ(read.gaps[0].from, 1099U);
    EXPECT_EQ(read.gaps[0].to, 2000U);
    EXPECT_EQ(read.gaps[0].dropped, 9U);
}

TEST(StreamReader, MoreGapsThanAnybodyReadsAreOne) {
    std::vector<std::byte> packets;
    for (std::uint64_t i = 1; i <= StreamReader::gaps_max + 5; i++) {
        const EmptyPacket packet =
            empty_packet({.begin = i, .end = i, .events_discarded = i, .sequence = i, .cpu = 2});
        packets.insert(packets.end(), packet.begin(), packet.end());
    }
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(), "");
    ASSERT_EQ(read.gaps.size(), StreamReader::gaps_max);
    EXPECT_EQ(read.gaps.back().dropped, 6U);
    EXPECT_EQ(read.gaps.back().to, StreamReader::gaps_max + 5);
}

// Where a record of event 46 + n lies in the second packet; the first names its task.
std::size_t record_at(std::size_t n) {
    return 1024 + TL_PACKET_SIZE + TL_COMPACT_SIZE + TL_TASK_FIELDS + n * (TL_COMPACT_SIZE + 8);
}

template <class T>
void poke(std::vector<std::byte>& bytes, std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
}

TEST(StreamReader, ADamagedPacketIsReadUpToTheDamage) {
    std::vector<std::byte> packets = three();
    poke<std::uint16_t>(packets, record_at(4), 77);
    Reading read(packets);
    EXPECT_EQ(read.all_damage(),
              "cpu_0: packet at byte 1024, offset 180: event id 77 is unknown\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet + 4) + range(1000 + 2 * per_packet, 1100));
    EXPECT_TRUE(read.gaps.empty()) << "damage is not what was overwritten";

    packets = three();
    poke<std::uint32_t>(packets, record_at(4) + 2, 5); // before the one before: 2^32 later
    read = Reading(packets);
    EXPECT_EQ(read.all_damage(), "cpu_0: packet at byte 1024, offset 180: its time 4294967301 is "
                                 "after the packet's end, 1091\n");
    EXPECT_EQ(read.ticks.size(), 100 - per_packet + 4);
}

TEST(StreamReader, AHeaderThatIsNoneIsPassedOver) {
    std::vector<std::byte> packets = three();
    poke<std::uint32_t>(packets, 1024, 0xdead);
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(), "cpu_0: packet at byte 1024: it begins with 0xdead instead of "
                                 "0xc1fc1fc1; the next one is at byte 2048\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet) + range(1000 + 2 * per_packet, 1100));
    EXPECT_TRUE(read.gaps.empty());
}

TEST(StreamReader, GarbageBeforeTheFirstPacket) {
    for (const std::size_t length : {std::size_t{4}, std::size_t{1001}, std::size_t{65535},
                                     std::size_t{65533}, std::size_t{300'000}}) {
        std::vector<std::byte> bytes(length, std::byte{0xc1});
        const std::vector<std::byte> packets = three();
        bytes.insert(bytes.end(), packets.begin(), packets.end());
        const Reading read(bytes);
        EXPECT_EQ(read.all_damage(),
                  "cpu_0: packet at byte 0: it begins with 0xc1c1c1c1 instead of 0xc1fc1fc1; "
                  "the next one is at byte " +
                      std::to_string(length) + "\n");
        EXPECT_EQ(read.ticks, range(1000, 1100));
    }
}

// What looks like a packet's begin and is none, or another CPU's, is not taken for one.
TEST(StreamReader, ScanningLooksAtWholeHeaders) {
    std::vector<std::byte> packets = three();
    poke<std::uint32_t>(packets, 1024, 0);
    poke<std::uint32_t>(packets, 1100, TL_CTF_MAGIC);
    const EmptyPacket other = empty_packet({.begin = 1, .end = 1, .cpu = 3});
    std::copy(other.begin(), other.end(), packets.begin() + 1300);
    const Reading read(packets);
    EXPECT_TRUE(contains(read.all_damage(), "the next one is at byte 2048")) << read.all_damage();
}

TEST(StreamReader, APacketOfAnotherCpu) {
    std::vector<std::byte> packets = three();
    packet_at(packets, 1024).cpu_id = 3;
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(),
              "cpu_0: packet at byte 1024: it is of CPU 3, and the stream of CPU 2\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet) + range(1000 + 2 * per_packet, 1100));
}

// One wrong number in the first must not put all others in the wrong.
TEST(StreamReader, TheFirstPacketOfAnotherCpuThanTheNameAndTheSecondSay) {
    std::vector<std::byte> packets = three();
    packet_at(packets, 0).cpu_id = 7;
    const Reading read(packets, "cpu_2");
    EXPECT_EQ(read.cpu, 2U);
    EXPECT_EQ(read.all_damage(),
              "cpu_2: packet at byte 0: it is of CPU 7, and the stream of CPU 2\n");
    EXPECT_EQ(read.ticks, range(1000 + per_packet, 1100));
    EXPECT_EQ(Reading(three(), "cpu_7").all_damage(), "") << "a renamed file";
    EXPECT_EQ(Reading(three(), "cpu_7").cpu, 2U);
}

TEST(StreamReader, HolesAreNotSearched) {
    UniqueFd file(memfd_create("stream", MFD_CLOEXEC));
    const std::vector<std::byte> packets = three();
    const off_t far = off_t{1} << 40;
    ASSERT_EQ(ftruncate(file.get(), far), 0);
    ASSERT_EQ(pwrite(file.get(), packets.data(), packets.size(), far / 2),
              static_cast<ssize_t>(packets.size()));
    std::size_t damages = 0;
    StreamReader reader(std::move(file), "cpu_2", layouts, [&](const std::string&) { damages++; });
    std::size_t events = 0;
    while (reader.next())
        events++;
    EXPECT_EQ(events, 100U);
    EXPECT_EQ(damages, 2U);
}

TEST(StreamReader, ATruncatedPacketIsReadAsFarAsItGoes) {
    const std::vector<std::byte> packets = three();
    const auto cut = [&](std::size_t size) { return Reading(std::span(packets).first(size)); };
    Reading read = cut(record_at(10) + 5);
    EXPECT_EQ(
        read.all_damage(),
        "cpu_0: packet at byte 1024: truncated: 305 of 1024 bytes, can be read to offset 300\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet + 10));
    read = cut(record_at(10)); // between two records
    EXPECT_EQ(read.all_damage(), "cpu_0: packet at byte 1024: truncated: 300 of 1024 bytes\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet + 10));
    read = cut(1024 + 20);
    EXPECT_EQ(read.all_damage(), "cpu_0: packet at byte 1024: truncated: 20 of 68 bytes of a "
                                 "header; none follows\n");
    EXPECT_EQ(read.ticks, range(1000, 1000 + per_packet));
    read = cut(3071); // of the last one's padding
    EXPECT_EQ(read.all_damage(), "") << "nothing is missing";
    EXPECT_EQ(read.ticks, range(1000, 1100));
}

TEST(StreamReader, AFileWithNoPacket) {
    Reading read(std::vector<std::byte>(200'000));
    EXPECT_EQ(read.all_damage(),
              "cpu_0: packet at byte 0: it begins with 0x0 instead of 0xc1fc1fc1; none follows\n");
    EXPECT_FALSE(read.any);
    EXPECT_TRUE(read.ticks.empty());
    read = Reading(std::vector<std::byte>(3));
    EXPECT_FALSE(read.any);
    EXPECT_EQ(read.damage.size(), 1U);
}

TEST(StreamReader, TimeThatGoesBackIsDamageAndMarked) {
    std::vector<std::byte> packets = three();
    const std::vector<std::byte> first(packets.begin(), packets.begin() + 1024);
    packets.insert(packets.end(), first.begin(), first.end());
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(),
              "cpu_0: packet at byte 3072: its begin, 1000, is before the end of the one before, "
              "1099\n"
              "cpu_0: packet at byte 3072: it begins with event 0, and 100 are before it\n");
    EXPECT_EQ(read.ticks, range(1000, 1100) + range(1000, 1000 + per_packet));
    EXPECT_EQ(read.stragglers, range(1000, 1000 + per_packet));
    EXPECT_TRUE(read.gaps.empty());
}

TEST(StreamReader, CountsThatGoBackAreDamage) {
    std::vector<std::byte> packets = three();
    packet_at(packets, 0).events_discarded = 7;
    packet_at(packets, 1024).events_discarded = 6;
    packet_at(packets, 2048).events_discarded = 8;
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(),
              "cpu_0: packet at byte 1024: 6 events were discarded until it, and 7 before\n");
    ASSERT_EQ(read.gaps.size(), 2U);
    EXPECT_EQ(read.gaps[1].dropped, 2U);
}

// Times so late that adding to them wraps.
TEST(StreamReader, TimeThatWrapsIsDamage) {
    std::vector<std::byte> packets = three();
    packets.resize(1024);
    packet_at(packets, 0).timestamp_begin = ~0ULL;
    packet_at(packets, 0).timestamp_end = ~0ULL;
    const Reading read(packets);
    EXPECT_EQ(read.all_damage(), "cpu_0: packet at byte 0, offset 68: its time 1000 is before "
                                 "18446744073709551615\n");
    EXPECT_TRUE(read.ticks.empty());
}

TEST(StreamReader, MemoryDoesNotGrowWithTheStream) {
    const TempDir dir;
    const std::string path = dir / "stream";
    std::vector<std::byte> packets = numbered_packets(2, 12'000, 1000, 262144);
    const auto held = [&] {
        UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
        StreamReader reader(std::move(file), "cpu_2", layouts,
                            [](const std::string& damage) { FAIL() << damage; });
        std::size_t events = 0;
        while (reader.next() != nullptr)
            events++;
        // What is allocated at the end, when everything was read.
        return std::pair(events, mallinfo2().uordblks + mallinfo2().hblkhd);
    };
    std::ofstream(path, std::ios::binary) << as_string(packets);
    const auto [few, short_memory] = held();
    {
        std::ofstream file(path, std::ios::binary);
        const std::size_t count = packets.size() / 65536;
        for (std::uint64_t round = 0; round < 100; round++) {
            for (std::size_t i = 0; i < count; i++) {
                tl_packet& packet = packet_at(packets, i * 65536);
                packet.first_event += round == 0 ? 0 : 12'000;
                // 2^32 ticks later the records' low halves are the same.
                packet.timestamp_begin += round == 0 ? 0 : 1ULL << 32;
                packet.timestamp_end += round == 0 ? 0 : 1ULL << 32;
            }
            file << as_string(packets);
        }
    }
    const auto [many, long_memory] = held();
    EXPECT_EQ(few, 12'000U);
    EXPECT_EQ(many, 1'200'000U);
    EXPECT_LT(long_memory, short_memory + 65536);
}

} // namespace
