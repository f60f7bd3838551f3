// SPDX-License-Identifier: GPL-2.0
// The ring between two threads, under ThreadSanitizer: it must stay silent, and
// every record be read as it was written, or be counted as lost.
#include "tests/model/test_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
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

        // Stops in the middle: the rest is unread.
        while (!wrong && std::chrono::steady_clock::now() < end) {
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
    EXPECT_GT(live, 100u);
    EXPECT_GT(ring.control.head, 4 * setting.size); // often around
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

} // namespace
