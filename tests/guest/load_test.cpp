// SPDX-License-Identifier: GPL-2.0
// The guard: probes that take too much of a CPU are stopped and lifted by the module itself.
#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "guest.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

SessionReport own(Traced& traced) {
    for (const SessionReport& session : traced.session().sessions())
        if (session.own)
            return session;
    return {};
}

SessionConfig guarded(std::uint32_t percent) {
    SessionConfig config;
    config.guard = percent;
    return config;
}

// Three probes on each call, so that most of the time is theirs.
void add_probes(Traced& traced) {
    traced.add(entry_of(1, "write_null", store_args({0, 1, 2})));
    traced.add(call_or_entry_of(2, "write_null", store_args({0, 1, 2})));
    traced.add(entry_of(3, "write_null", {arg(0, 2), imm(1, 0), put(0), put(1), accept()}));
}

// Calls without a pause, on CPU 0, until the run has ended or the time is up.
void burst(Traced& traced, Clock::duration longest) {
    const Pinned pinned(0);
    NullWriter writer;
    const auto end = Clock::now() + longest;
    while (Clock::now() < end && polled(traced.session(), POLLPRI, 0) == 0)
        writer.write(2000);
}

// Of an emulated CPU that waits for this machine's, most of the time is nobody's.
TEST(Guard, EndsABurstAndLiftsItsProbes) {
    constexpr std::uint32_t limit = 10;
    Traced traced(guarded(limit));
    add_probes(traced);
    traced.start();
    burst(traced, 20s);
    EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_GUARD);
    EXPECT_GT(own(traced).load_percent, limit);
    EXPECT_EQ(own(traced).load_cpu, 0U);
    EXPECT_TRUE(wait_for([] { return planted().empty(); })) << "nobody asked for that";
    traced.stop();
    for (const ProbeReport& report : traced.session().probes())
        EXPECT_TRUE(report.lifted);
    for (std::uint16_t id = 1; id <= 3; id++) {
        const trapline_counters counts = traced.counters(id);
        EXPECT_EQ(counts.hits,
                  counts.recorded + counts.lost_full + counts.entered - counts.returned);
    }
}

// What is filtered takes time too.
TEST(Guard, CountsWhatIsFiltered) {
    SessionConfig config = guarded(10);
    config.only_comms = {"nobody"};
    Traced traced(config);
    add_probes(traced);
    traced.start();
    burst(traced, 20s);
    EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_GUARD);
    traced.stop();
    EXPECT_EQ(traced.counters(1).hits, traced.counters(1).filtered);
}

TEST(Guard, LetsAUsualLoadAlone) {
    Traced traced(guarded(25));
    add_probes(traced);
    traced.start();
    NullWriter writer;
    for (int i = 0; i < 250; i++) {
        writer.write(20);
        usleep(10'000);
    }
    EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_NOT);
    EXPECT_GT(own(traced).spent_ns, 0U);
    traced.stop();
    EXPECT_EQ(traced.counters(1).recorded, 5000U);
}

TEST(Guard, IsOffUnlessAskedFor) {
    Traced traced;
    add_probes(traced);
    traced.start();
    burst(traced, 2s);
    EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_NOT);
    EXPECT_EQ(own(traced).spent_ns, 0U);
    traced.stop();
}

// A session may be started again, and closed while its probes are being lifted.
TEST(Guard, OfAnotherRunAndOfASessionThatIsClosed) {
    {
        Traced traced(guarded(5));
        add_probes(traced);
        traced.start();
        burst(traced, 20s);
        EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_GUARD);
    }
    EXPECT_TRUE(planted().empty());
    Traced traced(guarded(100));
    traced.add(entry_of(1, "write_null"));
    for (int run = 0; run < 2; run++) {
        traced.start();
        NullWriter writer;
        writer.write(100);
        EXPECT_EQ(own(traced).ended, TRAPLINE_ENDED_NOT);
        traced.stop();
    }
    EXPECT_EQ(traced.counters().recorded, 200U);
}

} // namespace
