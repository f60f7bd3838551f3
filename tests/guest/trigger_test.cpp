// SPDX-License-Identifier: GPL-2.0
// Probes whose hits are announced, or end the run.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include "guest.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

using Clock = std::chrono::steady_clock;

ProbeRequest with(trapline_trigger trigger, ProbeRequest request) {
    request.trigger = trigger;
    return request;
}

bool announced(Traced& traced, int milliseconds = 0) {
    return polled(traced.session(), POLLPRI, milliseconds) == POLLPRI;
}

// Lets the write of length 50 pass, and no other.
const Program only_50_in = {arg(0, 2), imm(1, 50), jump(TL_OP_JEQ, 0, 1, 1),
                            reject(),  put(0),     accept()};
const Program only_50_out = {retval(0), imm(1, 50), jump(TL_OP_JEQ, 0, 1, 1),
                             reject(),  put(0),     accept()};

// write_null() with each kind of probe, as it could have fast handlers.
class TriggerTest : public testing::TestWithParam<trapline_probe_kind> {
protected:
    static ProbeRequest on_write(std::uint16_t id = 1) {
        switch (GetParam()) {
        case TRAPLINE_ENTRY:
            return entry_of(id, "write_null", store_args({0, 1, 2}));
        case TRAPLINE_RETURN:
            return return_of(id, "write_null");
        default:
            return call_of(id, "write_null", store_args({2}));
        }
    }

    static ProbeRequest on_write_of_50() {
        switch (GetParam()) {
        case TRAPLINE_ENTRY:
            return entry_of(1, "write_null", only_50_in);
        case TRAPLINE_RETURN:
            return return_of(1, "write_null", only_50_out);
        default:
            return call_of(1, "write_null", store_args({2}), only_50_out);
        }
    }
};

INSTANTIATE_TEST_SUITE_P(Kinds, TriggerTest,
                         testing::Values(TRAPLINE_ENTRY, TRAPLINE_RETURN, TRAPLINE_CALL));

TEST_P(TriggerTest, IsAnnouncedUntilSyncOrStop) {
    Traced traced;
    Traced other;
    traced.add(with(TRAPLINE_TRIGGER_ANNOUNCE, on_write()));
    traced.add(entry_of(2, "eventfd_write"));
    other.add(on_write());
    EXPECT_FALSE(announced(traced));
    traced.start();
    other.start();
    const int event = eventfd(0, EFD_CLOEXEC);
    eventfd_write(event, 1); // something to read is no trigger
    EXPECT_FALSE(announced(traced, 60));

    NullWriter writer;
    auto least = Clock::duration::max();
    for (int turn = 0; turn < 5; turn++) {
        Clock::time_point hit;
        std::thread hitting([&] {
            usleep(30'000);
            hit = Clock::now();
            writer.write(1);
        });
        EXPECT_TRUE(announced(traced, 10'000));
        const auto told = Clock::now();
        hitting.join();
        least = std::min(least, told - hit);
        EXPECT_EQ(polled(traced.session(), POLLIN | POLLPRI, 0), POLLIN | POLLPRI);
        traced.session().sync();
        EXPECT_FALSE(announced(traced, turn == 0 ? 60 : 0));
    }
    EXPECT_LT(least, std::chrono::milliseconds(100)) << "the best of five";
    EXPECT_FALSE(announced(other));

    writer.write(1);
    EXPECT_TRUE(announced(traced));
    traced.stop();
    EXPECT_FALSE(announced(traced, 60));
    writer.write(1);
    EXPECT_FALSE(announced(traced, 60));
    close(event);
    other.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().hits, 6U);
    EXPECT_EQ(traced.counters().recorded, 6U);
}

// Each hit is in what a SYNC vouches for, or is announced after it.
TEST_P(TriggerTest, NoneIsLostWhereverASyncIs) {
    constexpr std::uint64_t hits = 800;
    Traced traced;
    traced.add(with(TRAPLINE_TRIGGER_ANNOUNCE, on_write()));
    traced.start();
    std::atomic<std::uint64_t> done{0};
    std::thread hitting([&] {
        std::mt19937 random(1);
        NullWriter writer;
        while (done < hits) {
            usleep(random() % 1000);
            writer.write(1);
            done++;
        }
    });
    std::uint64_t seen = 0;
    std::uint64_t between = 0;
    for (bool lost = false; seen < hits && !lost;) {
        const std::uint64_t until = traced.session().sync().ticks;
        const std::uint64_t until_now = done;
        const bool told = announced(traced);
        traced.drain();
        const std::vector<Event> events = traced.events();
        seen = static_cast<std::uint64_t>(std::count_if(
            events.begin(), events.end(), [&](const Event& event) { return event.ticks < until; }));
        lost = seen < until_now && !told;
        between += seen < until_now ? 1 : 0;
        EXPECT_FALSE(lost) << "seen " << seen << " of " << until_now;
    }
    hitting.join();
    if (online_cpus() > 1) {
        EXPECT_GT(between, 10U) << "hits while a SYNC was on its way";
    }
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, hits);
}

TEST_P(TriggerTest, AHitThatItsProgramsRejectIsNone) {
    for (const trapline_trigger trigger : {TRAPLINE_TRIGGER_ANNOUNCE, TRAPLINE_TRIGGER_STOP}) {
        SCOPED_TRACE(trigger);
        Traced traced;
        traced.add(with(trigger, on_write_of_50()));
        traced.start();
        NullWriter writer;
        writer.write(49);
        EXPECT_FALSE(announced(traced, 60));
        writer.write(1);
        EXPECT_TRUE(announced(traced, 10'000));
        writer.write(30);
        traced.stop();
        traced.drain();
        traced.expect_exact();
        const std::uint64_t hits = trigger == TRAPLINE_TRIGGER_STOP ? 50 : 80;
        EXPECT_EQ(traced.counters().hits, hits);
        EXPECT_EQ(traced.counters().filtered, hits - 1);
        EXPECT_EQ(traced.counters().recorded, 1U);
    }
}

TEST_P(TriggerTest, AHitOfAnotherProcessIsNone) {
    SessionConfig config;
    config.exclude_tgid = static_cast<std::uint32_t>(getpid());
    Traced traced(config);
    traced.add(with(TRAPLINE_TRIGGER_STOP, on_write()));
    traced.start();
    NullWriter writer;
    writer.write(20);
    EXPECT_FALSE(announced(traced, 60));
    Child child([] {
        NullWriter inside;
        inside.write(1);
        return 0;
    });
    child.wait();
    EXPECT_TRUE(announced(traced, 10'000));
    writer.write(20);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    // A return probe has looked at nothing when the call begins.
    EXPECT_EQ(traced.counters().filtered, 20U);
    EXPECT_EQ(traced.counters().recorded, 1U);
}

TEST_P(TriggerTest, AHitWithoutRoomForItsRecordIsOne) {
    for (const trapline_trigger trigger : {TRAPLINE_TRIGGER_ANNOUNCE, TRAPLINE_TRIGGER_STOP}) {
        SCOPED_TRACE(trigger);
        const Pinned here(0);
        SessionConfig config;
        config.ring_size = TRAPLINE_RING_MIN;
        Traced traced(config);
        traced.add(entry_of(2, "eventfd_write"));
        traced.add(with(trigger, on_write()));
        traced.start();
        const int event = eventfd(0, EFD_CLOEXEC);
        const std::uint64_t one = 1;
        while (traced.rings()[0].reader.lost_full() == 0)
            ASSERT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
        EXPECT_FALSE(announced(traced));
        NullWriter writer;
        writer.write(1);
        EXPECT_TRUE(announced(traced));
        EXPECT_EQ(traced.counters().lost_full, 1U) << "what had no room was smaller";
        writer.write(5);
        EXPECT_EQ(traced.counters().hits, trigger == TRAPLINE_TRIGGER_STOP ? 1U : 6U);
        EXPECT_EQ(traced.counters().recorded, 0U);
        close(event);
        traced.stop();
        traced.drain();
        traced.expect_exact();
    }
}

TEST_P(TriggerTest, StopsTheRunOnAllCpusUntilStop) {
    Traced traced;
    traced.add(call_of(2, "write_null", store_args({0, 1, 2})));
    traced.add(entry_of(3, "write_null", store_args({2})));
    ProbeRequest last = on_write();
    last.symbol = "eventfd_write";
    traced.add(with(TRAPLINE_TRIGGER_STOP, last));
    traced.start();

    std::atomic<bool> end{false};
    std::vector<std::uint64_t> calls(online_cpus());
    std::vector<std::thread> threads;
    for (unsigned cpu = 0; cpu < online_cpus(); cpu++)
        threads.emplace_back([&, cpu] {
            pin(cpu);
            NullWriter writer;
            while (!end) {
                writer.write(20);
                usleep(200);
            }
            calls[cpu] = writer.calls();
        });
    EXPECT_FALSE(announced(traced, 100));
    const int event = eventfd(0, EFD_CLOEXEC);
    const std::uint64_t one = 1;
    std::thread([&] {
        pin(online_cpus() - 1);
        EXPECT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    }).join();
    EXPECT_TRUE(announced(traced, 10'000));
    traced.session().sync(); // what was being written is
    const std::uint64_t written = traced.written();
    EXPECT_TRUE(announced(traced)) << "until STOP: no other will come";
    EXPECT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    usleep(50'000);
    EXPECT_EQ(traced.written(), written);
    traced.session().sync();
    EXPECT_TRUE(announced(traced));

    EXPECT_TRUE(traced.session().sessions().back().started);
    EXPECT_EQ(refusal([&] { traced.session().start(); }).code, EALREADY);
    end = true;
    for (std::thread& thread : threads)
        thread.join();
    traced.stop();
    EXPECT_FALSE(traced.session().sessions().back().started);
    EXPECT_EQ(refusal([&] { traced.session().stop(); }).code, EALREADY);
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.written(), written);

    EXPECT_EQ(traced.counters(1).hits, 1U);
    EXPECT_EQ(traced.counters(1).recorded, 1U);
    const Traced::Ring& ring = traced.rings()[online_cpus() - 1];
    ASSERT_FALSE(ring.batch.events.empty());
    EXPECT_EQ(ring.batch.events.back().id, 1U) << "the trigger's record is its CPU's last";
    std::uint64_t all = 0;
    for (const std::uint64_t each : calls)
        all += each;
    EXPECT_GT(traced.counters(3).hits, 0U);
    EXPECT_LT(traced.counters(3).hits, all);
    const trapline_counters inside = traced.counters(2);
    EXPECT_EQ(inside.entered, inside.returned + inside.late);
    EXPECT_EQ(inside.stale, 0U);

    // And another run.
    const std::uint64_t before = traced.counters(3).hits;
    traced.start();
    NullWriter writer;
    writer.write(10);
    EXPECT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    writer.write(10);
    close(event);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(3).hits, before + 10);
    EXPECT_EQ(traced.counters(1).recorded, 2U);
}

// A handler that was late to end a run doesn't end the next.
TEST_P(TriggerTest, EndsItsOwnRunOnly) {
    constexpr std::uint64_t runs = 60;
    Traced traced;
    traced.add(with(TRAPLINE_TRIGGER_STOP, on_write()));
    traced.add(entry_of(2, "eventfd_write"));
    const int event = eventfd(0, EFD_CLOEXEC);
    const std::uint64_t one = 1;
    std::atomic<bool> end{false};
    std::vector<std::thread> threads;
    traced.start();
    for (unsigned cpu = 0; cpu < online_cpus(); cpu++)
        threads.emplace_back([&, cpu] {
            pin(cpu);
            NullWriter writer;
            while (!end) {
                writer.write(10);
                usleep(100);
            }
        });
    for (std::uint64_t run = 1;; run++) {
        ASSERT_TRUE(announced(traced, 10'000)) << "run " << run;
        traced.stop();
        traced.drain();
        if (run == runs)
            break;
        traced.session().start();
    }
    end = true;
    for (std::thread& thread : threads)
        thread.join();
    // Nothing is hit when this run begins, so nothing may end it.
    traced.session().start();
    for (int n = 0; n < 10; n++)
        EXPECT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    traced.stop();
    close(event);
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(2).recorded, 10U);
    EXPECT_GE(traced.counters(1).recorded, runs);
    for (const Traced::Ring& ring : traced.rings()) {
        const auto own = std::count_if(ring.batch.events.begin(), ring.batch.events.end(),
                                       [](const Event& each) { return each.id == 1; });
        EXPECT_LE(own, static_cast<std::ptrdiff_t>(runs)) << "one a run and CPU at most";
    }
}

TEST(Trigger, IsTheEndOfAFlightRecorder) {
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    config.overwrite = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.add(with(TRAPLINE_TRIGGER_STOP, call_of(2, "eventfd_write", store_args({2}))));
    traced.start();
    const Pinned here(0);
    NullWriter writer;
    writer.write(8000);
    const int event = eventfd(0, EFD_CLOEXEC);
    const std::uint64_t one = 1;
    EXPECT_EQ(write(event, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    close(event);
    EXPECT_EQ(polled(traced.session(), POLLIN | POLLPRI, 10'000), POLLPRI);
    writer.write(8000);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(1).recorded, 8000U);
    const std::vector<Event> events = traced.events();
    ASSERT_GT(events.size(), 1000U);
    EXPECT_EQ(events.back().id, 2U);
    const Event& before = events[events.size() - 2];
    EXPECT_EQ(traced.fields(before).entry.at(0).number, 8000U);
}

} // namespace
