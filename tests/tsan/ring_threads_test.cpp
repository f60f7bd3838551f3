// SPDX-License-Identifier: GPL-2.0
// The ring between two threads, under ThreadSanitizer: it must stay silent, and
// every record be read as it was written, or be counted as lost or overwritten.
#include "tests/model/test_ring.h"

#include "ring/snapshot_reader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace {

// The time is the number of the attempt, so a reader knows which one it sees.
Attempt attempt(__u64 number) {
    const __u32 seq = static_cast<__u32>(number);
    const __u32 dice = field_word(seq, 99);

    return {seq, dice / 2 % 9, 1 + (dice >> 20) % 16 / 15, number};
}

struct Setting {
    __u64 size;
    __u32 chunk_size;
    bool hurried;  // the writer never waits, so that much is lost
    bool finishes; // and stops now and then
    const char* name;
};

class RingThreads : public testing::TestWithParam<Setting> {};

TEST_P(RingThreads, WrittenIsReadAndUnread) {
    const Setting setting = GetParam();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    const auto latest = end + std::chrono::seconds(60); // where others keep the machine busy
    constexpr __u64 enough = 100;
    TestRing ring(setting.size, setting.chunk_size);
    std::atomic<bool> stop = false;
    __u64 tried = 0;
    __u64 dropped = 0;
    __u64 read = 0;
    __u64 seen_lost = 0;
    const char* wrong = nullptr;
    Parser parser;
    auto check = [&](const Seen& seen) {
        read++;
        return compare(seen, attempt(seen.time));
    };

    std::thread writer([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            if (write_record(&ring.writer, attempt(tried++)) != TL_DROP_NONE) {
                dropped++;
                if (!setting.hurried)
                    std::this_thread::yield();
            }
            if (setting.finishes && tried % 257 == 0)
                tl_ring_finish(&ring.writer, tried);
        }
    });
    std::thread reader([&] {
        tl_ring_span span;

        const auto goes_on = [&] {
            const auto now = std::chrono::steady_clock::now();
            const bool often_around = tl_load(&ring.control.head) > 4 * setting.size;
            return now < end || ((read <= enough || !often_around) && now < latest);
        };
        // Stops in the middle: the rest is unread.
        while (!wrong && goes_on()) {
            const int got = tl_ring_peek(&ring.reader, &span);

            if (got < 0)
                wrong = "the ring contradicts itself";
            if (got != 1) {
                std::this_thread::yield();
                continue;
            }
            wrong = parser.span(span, check);
            if (tl_load(&ring.control.written) < read)
                wrong = "more was read than written";
            if (ring.lost() < seen_lost)
                wrong = "a loss was undone";
            seen_lost = ring.lost();
            tl_ring_release(&ring.reader, &span);
        }
        stop = true;
    });
    writer.join();
    reader.join();
    ASSERT_EQ(wrong, nullptr) << wrong << ", after " << read << " records";

    const __u64 live = read;
    wrong = ring.drain(parser, check);
    ASSERT_EQ(wrong, nullptr) << wrong << ", in what was left";
    EXPECT_EQ(ring.control.written, read);
    EXPECT_EQ(ring.control.lost_full, dropped);
    EXPECT_EQ(ring.lost(), dropped);
    EXPECT_EQ(read + dropped, tried);
    EXPECT_GT(live, enough);
    EXPECT_GT(ring.control.head, 4 * setting.size);
    RecordProperty("live", std::to_string(live));
    RecordProperty("unread", std::to_string(read - live));
    RecordProperty("lost", std::to_string(dropped));
}

INSTANTIATE_TEST_SUITE_P(Settings, RingThreads,
                         testing::Values(Setting{1 << 10, 1 << 8, false, false, "tiny"},
                                         Setting{1 << 12, 1 << 10, true, true, "hurried"},
                                         Setting{1 << 14, 1 << 12, false, true, "finishing"},
                                         Setting{1 << 16, 1 << 14, false, false, "smallest_real"}),
                         [](const testing::TestParamInfo<Setting>& p) {
                             return std::string(p.param.name);
                         });

// Snapshots of a ring in overwrite mode, checked chunk by chunk. What was overwritten is also
// counted here, from the numbers of the records that came.
class Recorder {
public:
    explicit Recorder(const TestRing& ring, trapline::SnapshotReader& reader)
        : ring_(ring), reader_(reader) {}

    // All that is published now; false after a complaint.
    bool snapshot() {
        const __u64 end = reader_.published();

        while (const std::optional<trapline::SnapshotReader::Chunk> chunk = reader_.next(end)) {
            take(*chunk);
            sample();
        }
        sample();
        return !wrong;
    }

    const char* wrong = nullptr;
    __u64 read = 0; // each record once
    __u64 overwritten = 0;
    __u64 replaced = 0;

private:
    void take(const trapline::SnapshotReader::Chunk& chunk) {
        const auto* bytes = reinterpret_cast<const __u8*>(chunk.packet.data());
        const auto* packet = reinterpret_cast<const tl_packet*>(bytes);
        __u64 number = chunk.first_event;
        Parser parser;
        const char* complaint =
            parser.span({bytes, bytes + TL_PACKET_SIZE, chunk.packet.size() - TL_PACKET_SIZE, 0},
                        [&](const Seen& seen) {
                            return seen.time == number ? compare(seen, attempt(number++))
                                                       : "a record is missing";
                        });

        if (complaint)
            wrong = complaint;
        if (chunk.position != packet->packet_seq_num * ring_.control.chunk_size)
            wrong = "a chunk is from elsewhere";
        if (chunk.finished && (packet->content_size != chunk.packet.size() * 8 ||
                               packet->timestamp_end != parser.time()))
            wrong = "a finished chunk's header isn't complete";
        if (chunk.position == open_position_) {
            replaced++;
            read -= open_;
            if (number < chunk.first_event + open_)
                wrong = "a chunk lost records";
        }
        if (chunk.first_event < read)
            wrong = "a record came twice";
        overwritten = chunk.first_event - read;
        open_ = number - chunk.first_event;
        open_position_ = chunk.finished ? ~0ULL : chunk.position;
        read += open_;
        reader_.count(open_);
    }

    // While the writer writes.
    void sample() {
        const __u64 before = reader_.written();
        const trapline::SnapshotReader::Counts counts = reader_.counts();
        const __u64 after = reader_.written();
        const __u64 sum = counts.read + counts.overwritten + counts.unread;

        if (sum < before || sum > after || counts.unread > after || counts.before != 0)
            wrong = "read + overwritten + unread is not what was written";
        if (counts.read != read)
            wrong = "what was read was counted wrongly";
        if (counts.overwritten < overwritten || counts.overwritten < last_overwritten_)
            wrong = "a record came back";
        last_overwritten_ = counts.overwritten;
    }

    const TestRing& ring_;
    trapline::SnapshotReader& reader_;
    __u64 open_ = 0; // records in the chunk that came last
    __u64 open_position_ = ~0ULL;
    __u64 last_overwritten_ = 0;
};

class SnapshotThreads : public testing::TestWithParam<Setting> {};

TEST_P(SnapshotThreads, WrittenIsReadAndOverwritten) {
    const Setting setting = GetParam();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1500);
    const auto latest = end + std::chrono::seconds(60); // where others keep the machine busy
    TestRing ring(setting.size, setting.chunk_size, 0, true);
    trapline::SnapshotReader reader({&ring.control, &ring.consumer, ring.data, setting.size}, 0);
    Recorder recorder(ring, reader);
    std::atomic<bool> stop = false;
    __u64 tried = 0;
    __u64 snapshots = 0;

    std::thread writer([&] {
        while (!stop.load(std::memory_order_relaxed)) {
            write_record(&ring.writer, attempt(tried++));
            if (setting.finishes && tried % 257 == 0)
                tl_ring_finish(&ring.writer, tried);
            // Now within a chunk, now after several.
            if (!setting.hurried && field_word(static_cast<__u32>(tried), 98) / 2 % 16 == 0)
                std::this_thread::yield();
        }
    });
    std::thread copier([&] {
        const auto head = [&] { return tl_load(&ring.control.head); };
        const auto goes_on = [&] {
            const auto now = std::chrono::steady_clock::now();
            const bool seen = recorder.read > 100 && recorder.overwritten > 0 &&
                              (recorder.replaced > 0 || setting.hurried) &&
                              head() > 4 * setting.size;
            return now < end || (!seen && now < latest);
        };

        while (goes_on() && recorder.snapshot()) {
            snapshots++;
            std::this_thread::yield();
            // It mustn't always keep up: now and then it sleeps for a turn of the ring.
            for (const __u64 asleep = head();
                 snapshots % 16 == 0 && head() - asleep <= setting.size && goes_on();)
                std::this_thread::yield();
        }
        stop = true;
    });
    writer.join();
    copier.join();
    ASSERT_EQ(recorder.wrong, nullptr) << recorder.wrong << ", after " << recorder.read;

    const __u64 live = recorder.read;
    tl_ring_finish(&ring.writer, tried);
    recorder.snapshot();
    ASSERT_EQ(recorder.wrong, nullptr) << recorder.wrong << ", in what was left";
    const trapline::SnapshotReader::Counts counts = reader.counts();
    EXPECT_EQ(ring.control.written, tried);
    EXPECT_EQ(ring.lost(), 0u);
    EXPECT_EQ(counts.unread, 0u);
    EXPECT_EQ(counts.read, recorder.read);
    EXPECT_EQ(counts.overwritten, recorder.overwritten);
    EXPECT_EQ(counts.read + counts.overwritten, tried);
    EXPECT_GT(live, 100u);
    EXPECT_GT(counts.overwritten, 0u);
    EXPECT_TRUE(recorder.replaced > 0 || setting.hurried);
    EXPECT_GT(ring.control.head, 4 * setting.size); // often around
    RecordProperty("snapshots", std::to_string(snapshots));
    RecordProperty("live", std::to_string(live));
    RecordProperty("overwritten", std::to_string(counts.overwritten));
    RecordProperty("replaced", std::to_string(recorder.replaced));
}

INSTANTIATE_TEST_SUITE_P(Settings, SnapshotThreads,
                         testing::Values(Setting{1 << 9, 1 << 8, false, false, "two_chunks"},
                                         Setting{1 << 10, 1 << 8, false, true, "finishing"},
                                         Setting{1 << 12, 1 << 10, true, true, "hurried"},
                                         Setting{1 << 16, 1 << 14, true, false, "smallest_real"}),
                         [](const testing::TestParamInfo<Setting>& p) {
                             return std::string(p.param.name);
                         });

} // namespace
