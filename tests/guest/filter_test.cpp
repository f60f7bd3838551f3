// SPDX-License-Identifier: GPL-2.0
// Which tasks are recorded: named processes, their descendants, and nobody who only has the
// process id of one that is gone.
#include <csignal>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "guest.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

void writes(unsigned times) {
    NullWriter writer;
    writer.write(times);
}

// Two generations, threads, and a daemon: 100 calls, all told. With `done` given by the daemon.
void family(const Gate& done) {
    writes(10);
    std::thread thread([] { writes(20); });
    thread.join();
    Child child([&] {
        writes(15);
        std::thread([] { writes(5); }).join();
        Child grandchild([&] {
            writes(25);
            return 0;
        });
        grandchild.wait();
        // The daemon: its parent is gone when it runs on.
        if (fork() == 0) {
            setsid();
            if (fork() == 0) {
                while (getppid() != 1)
                    usleep(1000);
                writes(25);
                done.give();
                _exit(0);
            }
            _exit(0);
        }
        wait(nullptr);
        return 0;
    });
    child.wait();
}

TEST(Filter, FollowsDescendantsAndNobodyElse) {
    Gate go;
    Gate done;
    Child root([&] {
        go.take();
        family(done);
        return 0;
    });
    Gate other_go;
    Child other([&] { // born before, and no relation
        other_go.take();
        writes(30);
        return 0;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(root.pid())};
    config.follow = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.add(call_or_entry_of(2, "write_null", store_args({2})));
    traced.add(traps_returns() ? return_of(3, "write_null") : entry_of(3, "write_null"));
    traced.start();
    go.give();
    other_go.give();
    Child sibling([] { // born after
        writes(40);
        return 0;
    });
    writes(7);
    EXPECT_EQ(root.wait(), 0);
    EXPECT_EQ(other.wait(), 0);
    EXPECT_EQ(sibling.wait(), 0);
    done.take();
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 3; id++) {
        const trapline_counters counts = traced.counters(id);
        EXPECT_EQ(counts.hits, 177U);
        EXPECT_EQ(counts.recorded, 100U);
        EXPECT_EQ(counts.filtered, 77U);
    }
}

TEST(Filter, WithoutFollowIsTheProcessWithItsThreadsAlone) {
    Gate go;
    Gate done;
    Child root([&] {
        go.take();
        family(done);
        return 0;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(root.pid())};
    Traced traced(config);
    traced.add(entry_of(1, "write_null"));
    traced.start();
    go.give();
    EXPECT_EQ(root.wait(), 0);
    done.take();
    traced.stop();
    EXPECT_EQ(traced.counters().recorded, 30U);
    EXPECT_EQ(traced.counters().filtered, 70U);
}

TEST(Filter, ExcludesAProcessAndNamesItByAnyOfItsThreads) {
    Gate tid;
    Gate go;
    Child child([&] {
        std::thread thread([&] {
            tid.give(static_cast<std::uint32_t>(gettid()));
            go.take();
            writes(10);
        });
        thread.join();
        writes(5);
        return 0;
    });
    const std::uint32_t thread = tid.take();
    SessionConfig excluding;
    excluding.exclude_tgid = thread;
    SessionConfig only;
    only.tgids = {thread};
    SessionConfig neither;
    neither.tgids = {thread, static_cast<std::uint32_t>(getpid())};
    neither.exclude_tgid = thread;
    Traced without(excluding);
    Traced with(only);
    Traced mine(neither);
    for (Traced* traced : {&without, &with, &mine}) {
        traced->add(entry_of(1, "write_null"));
        traced->start();
    }
    go.give();
    EXPECT_EQ(child.wait(), 0);
    writes(3);
    for (Traced* traced : {&without, &with, &mine}) {
        traced->stop();
        traced->drain();
        traced->expect_exact();
    }
    EXPECT_EQ(without.counters().recorded, 3U);
    EXPECT_EQ(without.counters().filtered, 15U);
    EXPECT_EQ(with.counters().recorded, 15U);
    EXPECT_EQ(with.counters().filtered, 3U);
    EXPECT_EQ(mine.counters().recorded, 3U);
    EXPECT_EQ(mine.counters().filtered, 15U);
}

// Exec by a thread that isn't the leader gives it the leader's id; the group goes on.
TEST(Filter, KeepsAProcessWhoseOtherThreadExecs) {
    Gate go;
    Child child([&] {
        go.take();
        std::thread thread([] {
            execl("/bin/busybox", "sh", "-c",
                  "for i in 1 2 3 4 5 6 7 8 9 10; do printf x >/dev/null; done", nullptr);
        });
        pause();
        return 1;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(child.pid())};
    config.follow = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null"));
    traced.start();
    go.give();
    EXPECT_EQ(child.wait(), 0);
    traced.stop();
    EXPECT_EQ(traced.counters().recorded, 10U);
    EXPECT_EQ(traced.counters().filtered, 0U);
}

// A process of ours with the id `wanted`, which must be free: makes `times` calls.
bool write_as(pid_t wanted, unsigned times) {
    for (int attempt = 0; attempt < 50; attempt++) {
        if (!write_file("/proc/sys/kernel/ns_last_pid", std::to_string(wanted - 1)))
            return false;
        Child child([&] {
            if (getpid() == wanted)
                writes(times);
            return getpid() == wanted ? 0 : 1;
        });
        if (child.wait() == 0)
            return true;
    }
    return false;
}

TEST(FilterAndReusedIds, ADeadDescendantsIdIsNotFollowed) {
    Gate go;
    Gate dead;
    Gate end;
    Child root([&] {
        go.take();
        Child member([] {
            writes(10);
            return 0;
        });
        const pid_t pid = member.pid();
        member.wait();
        dead.give(static_cast<std::uint32_t>(pid));
        end.take();
        writes(1);
        return 0;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(root.pid())};
    config.follow = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null"));
    traced.start();
    go.give();
    ASSERT_TRUE(write_as(static_cast<pid_t>(dead.take()), 20));
    end.give();
    EXPECT_EQ(root.wait(), 0);
    traced.stop();
    EXPECT_EQ(traced.counters().recorded, 11U);
    EXPECT_EQ(traced.counters().filtered, 20U);
}

// The same where the process ends with its leader first, its parent not waiting for it: the
// kernel releases the leader together with the last thread.
TEST(FilterAndReusedIds, ADeadDescendantsIdIsNotFollowedWhoseLeaderEndedFirst) {
    Gate go;
    Gate dead;
    Gate end;
    Child root([&] {
        std::signal(SIGCHLD, SIG_IGN);
        go.take();
        Child member([&] {
            std::thread([&] {
                // Until the leader is a zombie.
                wait_for([] {
                    return read_file(fmt::format("/proc/{}/task/{}/stat", getpid(), getpid()))
                               .find(") Z") != std::string::npos;
                });
                writes(10);
                _exit(0); // of the last thread
            }).detach();
            syscall(SYS_exit, 0); // of this thread only
            return 1;
        });
        const pid_t pid = member.pid();
        member.wait(); // nothing to wait for: until it is gone
        dead.give(static_cast<std::uint32_t>(pid));
        end.take();
        writes(1);
        return 0;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(root.pid())};
    config.follow = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null"));
    traced.start();
    go.give();
    ASSERT_TRUE(write_as(static_cast<pid_t>(dead.take()), 20));
    end.give();
    EXPECT_EQ(root.wait(), 0);
    traced.stop();
    EXPECT_EQ(traced.counters().recorded, 11U);
    EXPECT_EQ(traced.counters().filtered, 20U);
}

TEST(FilterAndReusedIds, ADeadProcessIdIsNotRecordedWithoutFollowEither) {
    Gate go;
    Child root([&] {
        go.take();
        writes(10);
        return 0;
    });
    const pid_t pid = root.pid();
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(pid)};
    Traced traced(config);
    traced.add(entry_of(1, "write_null"));
    traced.start();
    go.give();
    EXPECT_EQ(root.wait(), 0);
    ASSERT_TRUE(write_as(pid, 20));
    traced.stop();
    EXPECT_EQ(traced.counters().recorded, 10U);
    EXPECT_EQ(traced.counters().filtered, 20U);
}

} // namespace
