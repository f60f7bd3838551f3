// SPDX-License-Identifier: GPL-2.0
// A run that ends after so many records, and probes that record so many a second.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <poll.h>
#include <unistd.h>

#include "guest.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

trapline_ended ended(Traced& traced) {
    for (const SessionReport& session : traced.session().sessions())
        if (session.own)
            return session.ended;
    return TRAPLINE_ENDED_NOT;
}

SessionConfig limited_to(std::uint64_t limit) {
    SessionConfig config;
    config.limit = limit;
    return config;
}

TEST(Limit, EndsTheRunWithThatRecord) {
    Traced traced(limited_to(50));
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    NullWriter writer;
    writer.write(49);
    EXPECT_EQ(ended(traced), TRAPLINE_ENDED_NOT);
    EXPECT_EQ(polled(traced.session(), POLLPRI, 0), 0);
    writer.write(30);
    EXPECT_EQ(ended(traced), TRAPLINE_ENDED_LIMIT);
    EXPECT_EQ(polled(traced.session(), POLLPRI, 1000), POLLPRI);
    traced.session().sync();
    EXPECT_EQ(polled(traced.session(), POLLPRI, 1000), POLLPRI) << "until STOP";
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().hits, 50U) << "none is counted after the end";
    EXPECT_EQ(traced.counters().recorded, 50U);
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), 50U);
    EXPECT_EQ(traced.fields(events.back()).entry.at(0).number, 50U);
}

TEST(Limit, IsOfEachRun) {
    Traced traced(limited_to(3));
    traced.add(entry_of(1, "write_null", store_args({2})));
    NullWriter writer;
    for (std::uint64_t run = 1; run <= 2; run++) {
        traced.start();
        EXPECT_EQ(ended(traced), TRAPLINE_ENDED_NOT);
        writer.write(10);
        traced.stop();
        EXPECT_EQ(traced.counters().recorded, 3 * run);
    }
}

// All CPUs at once, calls and entries: neither more nor fewer.
TEST(Limit, IsExactOnAllCpus) {
    for (int repetition = 0; repetition < 5; repetition++) {
        Traced traced(limited_to(1000));
        traced.add(entry_of(1, "write_null", store_args({2})));
        traced.add(call_or_entry_of(2, "write_null", store_args({2})));
        traced.start();
        write_everywhere(1000);
        EXPECT_EQ(ended(traced), TRAPLINE_ENDED_LIMIT);
        traced.stop();
        traced.drain();
        traced.expect_exact();
        EXPECT_EQ(traced.counters(1).recorded + traced.counters(2).recorded, 1000U);
        EXPECT_EQ(traced.events().size(), 1000U);
    }
}

// What found no room is no record: the run goes on until there are as many.
TEST(Limit, CountsNoneThatWasDropped) {
    SessionConfig config = limited_to(20000);
    config.ring_size = TRAPLINE_RING_MIN;
    Traced traced(config);
    traced.add(entry_of(1, "write_null", store_args({0, 1, 2})));
    traced.start();
    const Pinned pinned(0);
    NullWriter writer;
    while (ended(traced) == TRAPLINE_ENDED_NOT && writer.calls() < 200000) {
        writer.write(5000); // more than the ring holds
        traced.drain();
    }
    EXPECT_EQ(ended(traced), TRAPLINE_ENDED_LIMIT);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, 20000U);
    EXPECT_GT(traced.counters().lost_full, 0U);
}

TEST(Limit, OfARecorderThatOverwrites) {
    SessionConfig config = limited_to(5);
    config.overwrite = true;
    Traced traced(config);
    traced.add(call_or_entry_of(1, "write_null", store_args({2})));
    traced.start();
    NullWriter writer;
    writer.write(10);
    EXPECT_EQ(polled(traced.session(), POLLPRI, 1000), POLLPRI);
    traced.stop();
    traced.drain();
    EXPECT_EQ(traced.events().size(), 5U);
}

ProbeRequest at_most(std::uint32_t rate, ProbeRequest request) {
    request.max_rate = rate;
    return request;
}

// By the records' own times: no second since the start has more, and the full ones have as many.
TEST(MaxRate, OfEachSecondAndAllCpus) {
    constexpr std::uint32_t most = 40;
    Traced traced;
    traced.add(at_most(most, entry_of(1, "write_null", store_args({2}))));
    traced.add(at_most(most, call_or_entry_of(2, "write_null", store_args({2}))));
    traced.add(entry_of(3, "write_null", store_args({2})));
    const ClockAnchor start = traced.session().start();
    for (int i = 0; i < 30; i++) {
        write_everywhere(20);
        usleep(100'000);
    }
    const ClockAnchor end = traced.session().sync();
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::uint64_t hz = traced.session().info().clock_hz;
    for (std::uint16_t id = 1; id <= 2; id++) {
        std::map<std::uint64_t, std::uint64_t> seconds;
        for (const Event& event : traced.events(id))
            seconds[(event.ticks - start.ticks) / hz]++;
        const std::uint64_t whole = (end.ticks - start.ticks) / hz;
        ASSERT_GE(whole, 3U);
        for (const auto& [second, events] : seconds)
            EXPECT_LE(events, most) << "second " << second;
        for (std::uint64_t second = 0; second < whole; second++)
            EXPECT_EQ(seconds[second], most) << "second " << second;
        const trapline_counters counts = traced.counters(id);
        EXPECT_EQ(counts.hits, counts.recorded + counts.limited);
        EXPECT_GT(counts.limited, 0U);
    }
    EXPECT_EQ(traced.counters(3).limited, 0U);
    EXPECT_EQ(traced.counters(3).recorded, traced.counters(3).hits);
}

// What a condition rejects takes nothing from those that it lets pass.
TEST(MaxRate, CountsWhatPassesItsProgram) {
    Traced traced;
    traced.add(at_most(5, entry_of(1, "write_null",
                                   {arg(0, 2), imm(1, 90), jump(TL_OP_JLT, 1, 0, 1), reject(),
                                    put(0), accept()})));
    traced.start();
    NullWriter writer;
    writer.write(100); // all within a second, or the next takes some
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.filtered, 90U);
    EXPECT_GE(counts.recorded, 5U);
    EXPECT_EQ(counts.recorded + counts.limited, 10U);
}

} // namespace
