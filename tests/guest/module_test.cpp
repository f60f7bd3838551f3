// SPDX-License-Identifier: GPL-2.0
// What the module counts and records, against what the workload did.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <gtest/gtest.h>
#include <poll.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "guest.h"
#include "machine.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

// Probes on write_null(file, buffer, length), which returns the length.
struct Variant {
    const char* name;
    trapline_probe_kind kind;
    std::vector<unsigned> args;
    bool interpreted = false; // a program that rejects calls with an odd length
};

Program program_of(const Variant& variant) {
    Program program = store_args(variant.args);
    if (variant.interpreted) {
        // The low bit, by way of the user's stack being no place to look at: length in slot 1,
        // 7 in slot 2; lengths below 8 are rejected.
        const Program head = {arg(1, 2), imm(2, 7), jump(TL_OP_JLT, 2, 1, 1), reject()};
        program.insert(program.begin(), head.begin(), head.end());
    }
    return program;
}

ProbeRequest request_of(const Variant& variant, std::uint16_t id) {
    if (variant.kind == TRAPLINE_RETURN)
        return return_of(id, "write_null");
    ProbeRequest request = variant.kind == TRAPLINE_ENTRY
                               ? entry_of(id, "write_null", program_of(variant))
                               : call_of(id, "write_null", program_of(variant));
    return request;
}

// The records of probe `id` are those of the workers' calls, all of them and in order.
void expect_records(const Traced& traced, std::uint16_t id, const Variant& variant,
                    const std::vector<Worker>& workers) {
    SCOPED_TRACE(variant.name);
    const std::vector<Event> events = traced.events(id);
    std::set<std::uint64_t> files;
    std::uint64_t wrong_flags = 0;
    for (const Worker& worker : workers) {
        SCOPED_TRACE(worker.comm);
        std::uint64_t number = variant.interpreted ? 7 : 0;
        for (const Event& event : events) {
            if (event.tid != static_cast<std::uint32_t>(worker.tid))
                continue;
            number++;
            const FieldValues values = traced.fields(event);
            ASSERT_EQ(values.entry.size(), variant.args.size());
            for (std::size_t i = 0; i < variant.args.size(); i++) {
                const std::uint64_t value = values.entry[i].number;
                if (variant.args[i] == 0) {
                    files.insert(value);
                } else if (variant.args[i] == 1) {
                    ASSERT_EQ(value, reinterpret_cast<std::uint64_t>(worker.buffer));
                } else {
                    ASSERT_EQ(value, number);
                }
            }
            if (variant.kind != TRAPLINE_ENTRY) {
                ASSERT_EQ(values.ret.size(), 1U);
                ASSERT_EQ(values.ret[0].number, number);
            }
            if (variant.kind == TRAPLINE_CALL) {
                ASSERT_GT(values.duration, 0U);
                ASSERT_LT(traced.milliseconds(values.duration), 2000);
            }
            ASSERT_EQ(event.tgid, static_cast<std::uint32_t>(getpid()));
            ASSERT_EQ(std::string(event.comm.data()), worker.comm);
            wrong_flags += (event.flags & ~TL_NEED_RESCHED) != 0;
        }
        EXPECT_EQ(number, worker.calls);
    }
    EXPECT_EQ(wrong_flags, 0U);
    // A file a worker.
    if (std::find(variant.args.begin(), variant.args.end(), 0U) != variant.args.end()) {
        EXPECT_EQ(files.size(), workers.size());
    }
    for (const std::uint64_t file : files)
        EXPECT_GE(file, kernel_begin);
}

const Variant variants[] = {
    {"Entry", TRAPLINE_ENTRY, {0, 1, 2}},
    {"EntryWithoutFields", TRAPLINE_ENTRY, {}},
    {"EntryRegistersInAnyOrder", TRAPLINE_ENTRY, {2, 0, 1, 2}},
    {"EntryInterpreted", TRAPLINE_ENTRY, {1, 2}, true},
    {"Call", TRAPLINE_CALL, {0, 1, 2}},
    {"CallRegistersInAnyOrder", TRAPLINE_CALL, {2, 0}},
    {"CallInterpreted", TRAPLINE_CALL, {0, 2, 1}, true},
    {"Return", TRAPLINE_RETURN, {}},
};

class Equations : public testing::TestWithParam<Variant> {};

TEST_P(Equations, HoldAndEveryCallIsRecorded) {
    const Variant& variant = GetParam();
    Traced traced;
    traced.add(request_of(variant, 1));
    traced.start();
    const std::vector<Worker> workers = write_everywhere(700);
    traced.stop();
    traced.drain();
    traced.expect_exact();

    std::uint64_t calls = 0;
    for (const Worker& worker : workers)
        calls += worker.calls;
    const trapline_counters counts = traced.counters();
    const std::uint64_t rejected = variant.interpreted ? 7 * workers.size() : 0;
    EXPECT_EQ(calls, 700U * (online_cpus() + 1));
    EXPECT_EQ(counts.hits, calls);
    EXPECT_EQ(counts.filtered, rejected);
    EXPECT_EQ(counts.recorded, calls - rejected);
    if (variant.kind == TRAPLINE_CALL) {
        EXPECT_EQ(counts.entered, calls - rejected);
        EXPECT_EQ(counts.returned, counts.entered);
    }
    expect_records(traced, 1, variant, workers);
    for (const Traced::Ring& ring : traced.rings())
        EXPECT_GT(ring.reader.written(), 0U) << "CPU " << ring.reader.cpu();
}

INSTANTIATE_TEST_SUITE_P(Module, Equations, testing::ValuesIn(variants),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Module, SeveralProbesOnOneFunctionAllSeeEveryCall) {
    Traced traced;
    std::uint16_t id = 0;
    for (const Variant& variant : variants)
        traced.add(request_of(variant, ++id));
    traced.start();
    const std::vector<Worker> workers = write_everywhere(200);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    id = 0;
    for (const Variant& variant : variants) {
        id++;
        EXPECT_EQ(traced.counters(id).hits, 200U * workers.size());
        expect_records(traced, id, variant, workers);
    }
}

TEST(Module, NothingIsCountedBeforeStartOrAfterStop) {
    Traced traced;
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.add(call_of(2, "write_null", store_args({2})));
    traced.add(return_of(3, "write_null"));
    NullWriter writer;
    writer.write(10);
    traced.start();
    writer.write(20);
    traced.stop();
    writer.write(40);
    for (std::uint16_t id = 1; id <= 3; id++)
        EXPECT_EQ(traced.counters(id).hits, 20U) << id;
    traced.start(); // counters go on
    writer.write(5);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 3; id++)
        EXPECT_EQ(traced.counters(id).hits, 25U) << id;
}

TEST(Module, DurationIsTheTimeSpentInside) {
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(getpid())};
    Traced traced(config);
    traced.add(call_of(1, "hrtimer_nanosleep", store_args({0})));
    traced.start();
    const timespec time = {0, 20'000'000};
    for (int i = 0; i < 3; i++)
        nanosleep(&time, nullptr);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), 3U);
    for (const Event& event : events) {
        const FieldValues values = traced.fields(event);
        EXPECT_EQ(values.entry[0].number, 20'000'000U);
        EXPECT_EQ(values.ret[0].number, 0U);
        EXPECT_GE(traced.milliseconds(values.duration), 20);
        EXPECT_LE(traced.milliseconds(values.duration), 500);
    }
}

TEST(SleepingCalls, AreShownWhileInsideAndCountedWhenTheyReturnTooLate) {
    constexpr unsigned count = 100;
    Traced traced;
    traced.add(call_of(1, "eventfd_read", store_args({0, 1})));
    traced.start();
    Sleepers sleepers(count);
    ASSERT_TRUE(sleepers.asleep());
    ASSERT_TRUE(wait_for([&] { return traced.counters().entered == count; }));
    usleep(50'000);
    traced.stop();
    trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.entered - counts.returned, count);
    EXPECT_EQ(counts.hits, count);
    EXPECT_EQ(counts.late, 0U);
    EXPECT_EQ(counts.missed_maxactive, 0U);

    const ProbeReport report = traced.session().probes(true).front();
    EXPECT_EQ(report.pending.size(), std::min<std::size_t>(count, TRAPLINE_PENDING_MAX));
    const std::vector<pid_t>& tids = sleepers.tids();
    std::set<std::uint32_t> seen;
    for (const trapline_pending& call : report.pending) {
        const auto found = std::find(tids.begin(), tids.end(), static_cast<pid_t>(call.tid));
        ASSERT_NE(found, tids.end());
        EXPECT_EQ(std::string(call.comm), "tl-sleeper-" + std::to_string(found - tids.begin()));
        EXPECT_EQ(call.tgid, static_cast<std::uint32_t>(getpid()));
        EXPECT_GE(call.age, 50'000'000U);
        EXPECT_LE(call.age, 60'000'000'000U);
        EXPECT_TRUE(seen.insert(call.tid).second) << "listed twice";
    }
    EXPECT_TRUE(traced.session().probes(false).front().pending.empty());

    sleepers.release();
    counts = traced.counters();
    EXPECT_EQ(counts.late, count);
    EXPECT_EQ(counts.returned, 0U);
    EXPECT_EQ(counts.recorded, 0U);
    EXPECT_TRUE(traced.session().probes(true).front().pending.empty());

    // The session can go on.
    traced.start();
    Sleepers others(10);
    ASSERT_TRUE(others.asleep());
    others.release();
    traced.stop();
    traced.drain();
    traced.expect_exact();
    counts = traced.counters();
    EXPECT_EQ(counts.recorded, 10U);
    EXPECT_EQ(counts.returned, 10U);
    EXPECT_EQ(counts.late, count);
    EXPECT_EQ(counts.stale, 0U);
}

TEST(SleepingCalls, OfAnEarlierRunAreStaleAndNotRecorded) {
    Traced traced;
    traced.add(call_of(1, "eventfd_read"));
    traced.start();
    Sleepers first(12);
    ASSERT_TRUE(first.asleep());
    ASSERT_TRUE(wait_for([&] { return traced.counters().entered == 12; }));
    traced.stop();
    traced.start();
    Sleepers second(5);
    ASSERT_TRUE(second.asleep());
    ASSERT_TRUE(wait_for([&] { return traced.counters().entered == 17; }));
    EXPECT_EQ(traced.session().probes(true).front().pending.size(), 5U) << "only this run's";
    first.release();
    second.release();
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.stale, 12U);
    EXPECT_EQ(counts.late, 0U);
    EXPECT_EQ(counts.recorded, 5U);
    EXPECT_EQ(counts.entered - counts.returned, 12U);
}

// A child's end is the one call of it.
constexpr const char* never_returns = "do_exit";

// Who is in a call is not who was in one with the same instance before.
TEST(SleepingCalls, ThatNeverReturnAreNotTheNextTasks) {
    Gate end;
    Child rejected([&] {
        end.take();
        return 0;
    });
    SessionConfig config;
    config.exclude_tgid = static_cast<std::uint32_t>(rejected.pid());
    Traced traced(config);
    ProbeRequest probe = call_of(1, never_returns, store_args({0}));
    probe.maxactive = 1;
    traced.add(probe);
    traced.start();
    EXPECT_EQ(Child([] { return 0; }).wait(), 0);
    ASSERT_TRUE(wait_for([&] { return traced.counters().entered == 1; }));
    // Its instance is another's now, whose call was rejected: a zombie until it is waited for.
    end.give();
    siginfo_t ended{};
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(rejected.pid()), &ended, WEXITED | WNOWAIT), 0);
    // Kernels that give the instance back only after a grace period had none for it.
    EXPECT_EQ(traced.counters().filtered + traced.counters().missed_maxactive, 1U);
    traced.stop();
    for (const trapline_pending& call : traced.session().probes(true).front().pending)
        EXPECT_NE(call.tid, static_cast<std::uint32_t>(rejected.pid()));
    EXPECT_EQ(rejected.wait(), 0);
    EXPECT_TRUE(traced.session().probes(true).front().pending.empty());
}

// A task that got the pid, and maybe the memory, of one that ended inside.
TEST(SleepingCalls, ThatNeverReturnAreNotThoseOfTheSamePid) {
    Traced traced;
    traced.add(call_of(1, never_returns, store_args({0})));
    traced.start();
    for (int turn = 1; turn <= 40; turn++) {
        Child first([] { return 0; });
        const pid_t pid = first.pid();
        EXPECT_EQ(first.wait(), 0);
        traced.session().sync(); // the memory is freed by RCU
        ASSERT_TRUE(write_file("/proc/sys/kernel/ns_last_pid", std::to_string(pid - 1)));
        Gate end;
        Child second([&] {
            end.take();
            return 0;
        });
        ASSERT_EQ(second.pid(), pid);
        usleep(2000);
        for (const trapline_pending& call : traced.session().probes(true).front().pending)
            ASSERT_NE(call.tid, static_cast<std::uint32_t>(pid)) << "turn " << turn;
        end.give();
        EXPECT_EQ(second.wait(), 0);
    }
}

TEST(SleepingCalls, OutliveTheProbeAndTheSession) {
    Sleepers* sleepers = nullptr;
    {
        Traced traced;
        traced.add(call_of(1, "eventfd_read", store_args({0, 1, 2})));
        traced.add(return_of(2, "eventfd_read"));
        traced.start();
        sleepers = new Sleepers(20); // NOLINT(cppcoreguidelines-owning-memory)
        ASSERT_TRUE(sleepers->asleep());
        ASSERT_TRUE(wait_for([&] { return traced.counters().entered == 20; }));
        traced.session().delete_probe(1);
        traced.session().probes(true);
        traced.stop();
    }
    EXPECT_TRUE(none_planted());
    sleepers->release();
    delete sleepers; // NOLINT(cppcoreguidelines-owning-memory)
}

TEST(Maxactive, IsNeverZeroAndCallsBeyondItAreCounted) {
    Traced traced;
    EXPECT_GT(traced.geometry().maxactive, 0U);
    EXPECT_EQ(traced.geometry().maxactive, traced.session().info().maxactive);
    ProbeRequest one = call_of(1, "eventfd_read");
    one.maxactive = 1;
    traced.add(one);
    traced.add(call_of(2, "eventfd_read"));
    traced.start();
    Sleepers sleepers(8);
    ASSERT_TRUE(sleepers.asleep());
    ASSERT_TRUE(wait_for([&] { return traced.counters(2).entered == 8; }));
    sleepers.release();
    traced.stop();
    traced.drain();
    traced.expect_exact(true);
    EXPECT_EQ(traced.counters(1).hits, 1U);
    EXPECT_EQ(traced.counters(1).recorded, 1U);
    EXPECT_EQ(traced.counters(1).missed_maxactive, 7U);
    EXPECT_EQ(traced.counters(2).recorded, 8U);
    EXPECT_EQ(traced.counters(2).missed_maxactive, 0U);
    for (const ProbeReport& report : traced.session().probes())
        EXPECT_EQ(report.maxactive, report.event_id == 1 ? 1 : traced.geometry().maxactive);
}

TEST(Maxactive, OfTheSessionIsThatOfItsProbes) {
    SessionConfig config;
    config.maxactive = 3;
    Traced traced(config);
    EXPECT_EQ(traced.geometry().maxactive, 3U);
    traced.add(return_of(1, "eventfd_read"));
    traced.start();
    Sleepers sleepers(5);
    ASSERT_TRUE(sleepers.asleep());
    usleep(20'000);
    sleepers.release();
    traced.stop();
    traced.drain();
    traced.expect_exact(true);
    EXPECT_EQ(traced.counters().hits, 3U);
    EXPECT_EQ(traced.counters().missed_maxactive, 2U);
}

TEST(Maxactive, ARejectedCallGivesItsPlaceBack) {
    Traced traced;
    // Rejects every call but the one with length 50.
    ProbeRequest request =
        call_of(1, "write_null",
                {arg(0, 2), imm(1, 50), jump(TL_OP_JEQ, 0, 1, 1), reject(), put(0), accept()});
    request.maxactive = 1;
    traced.add(request);
    traced.start();
    NullWriter writer;
    writer.write(100);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.hits, 100U);
    EXPECT_EQ(counts.filtered, 99U);
    EXPECT_EQ(counts.entered, 1U);
    ASSERT_EQ(counts.recorded, 1U);
    EXPECT_EQ(traced.fields(traced.events().front()).entry[0].number, 50U);
}

TEST(Sessions, TwoOnOneFunctionEachSeeEveryCall) {
    Traced a;
    a.add(entry_of(1, "write_null", store_args({0, 1, 2})));
    a.add(call_of(2, "write_null", store_args({0, 1, 2})));
    a.start();
    NullWriter writer;
    std::vector<Worker> workers;
    {
        Traced b;
        b.add(call_of(1, "write_null", store_args({0, 1, 2})));
        b.start();
        workers = write_everywhere(100);
        b.stop();
        b.drain();
        b.expect_exact();
        expect_records(b, 1, variants[4], workers);

        // While threads call, one session stops, goes on, and ends.
        std::thread calling([&] { writer.write(3000); });
        b.start();
        b.stop();
        b.session().delete_probe();
        calling.join();
    }
    Gate gate;
    Child child([&] {
        Traced c;
        c.add(call_of(1, "write_null", store_args({0, 1, 2})));
        c.add(return_of(2, "write_null"));
        c.start();
        gate.give();
        pause();
        return 0;
    });
    gate.take();
    std::thread calling([&] { writer.write(3000); });
    child.kill(SIGKILL);
    calling.join();
    a.stop();
    a.drain();
    a.expect_exact();
    const std::uint64_t calls = 100 * workers.size() + writer.calls();
    EXPECT_EQ(a.counters(1).recorded, calls);
    EXPECT_EQ(a.counters(2).recorded, calls);
    expect_records(a, 1, variants[0], workers);
    EXPECT_EQ(planted().size(), listed(2, 1));
}

TEST(Sessions, AreListedWithTheirOwners) {
    Traced own;
    own.add(entry_of(1, "write_null"));
    own.start();
    NullWriter writer;
    writer.write(7);
    own.stop();
    Session bare;
    const std::vector<SessionReport> list = bare.sessions();
    ASSERT_EQ(list.size(), 2U);
    EXPECT_EQ(list[0].tgid, static_cast<std::uint32_t>(getpid()));
    EXPECT_EQ(list[0].comm, "tl-module-test");
    EXPECT_EQ(list[0].uid, 0U);
    EXPECT_FALSE(list[0].started);
    EXPECT_FALSE(list[0].own);
    EXPECT_EQ(list[0].probes, 1U);
    EXPECT_EQ(list[0].ring_size, own.geometry().ring_size);
    EXPECT_EQ(list[0].recorded, 7U);
    EXPECT_EQ(list[0].lost, 0U);
    EXPECT_TRUE(list[1].own);
    EXPECT_EQ(list[1].ring_size, 0U);
    EXPECT_EQ(list[1].probes, 0U);
}

TEST(Module, MissesInsideOurOwnHandlersAreShown) {
    // Its handler reads kernel memory with the very function that the other traps.
    Traced reading;
    reading.add(
        entry_of(1, "write_null",
                 {imm(0, address_of("linux_banner")), load_kernel(0, 0, 8), put(0), accept()}));
    Traced inner;
    inner.add(entry_of(1, "copy_from_kernel_nofault"));
    reading.start();
    inner.start();
    NullWriter writer;
    writer.write(50);
    reading.stop();
    inner.stop();
    reading.drain();
    inner.drain();
    reading.expect_exact();
    inner.expect_exact(true);
    EXPECT_EQ(reading.counters().recorded, 50U);
    EXPECT_EQ(inner.counters().missed_recursion, 50U);
}

// Many pollers, some of whom come while the timer that wakes them runs.
TEST(Module, PollersAreWokenHoweverManyTheyAre) {
    Traced traced;
    traced.add(entry_of(1, "write_null"));
    traced.start();
    std::atomic<bool> end{false};
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; n++)
        threads.emplace_back([&, n] {
            pollfd waiting = {traced.session().fd(), POLLIN, 0};
            while (!end)
                poll(&waiting, 1, n == 0 ? 5 : 0);
        });
    std::atomic<int> events{0};
    std::thread waiter([&] {
        pollfd waiting = {traced.session().fd(), POLLIN, 0};
        if (poll(&waiting, 1, 10'000) == 1)
            events = waiting.revents;
    });
    usleep(1'500'000);
    EXPECT_EQ(events, 0) << "nothing was written yet";
    NullWriter writer;
    writer.write(1);
    waiter.join();
    EXPECT_EQ(events, POLLIN);
    end = true;
    for (std::thread& thread : threads)
        thread.join();
    traced.stop();
    traced.drain();
    traced.expect_exact();
    pollfd waiting = {traced.session().fd(), POLLIN, 0};
    EXPECT_EQ(poll(&waiting, 1, 0), 0) << "everything was read";
}

} // namespace
