// SPDX-License-Identifier: GPL-2.0
// Which tasks are recorded: named processes, their descendants, and nobody who only has the
// process id of one that is gone.
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "guest.h"
#include "util/fd.h"
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

// An entry, a call and a return: each is told in the same way.
void add_all_kinds(Traced& traced) {
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.add(call_or_entry_of(2, "write_null", store_args({2})));
    traced.add(traps_returns() ? return_of(3, "write_null") : entry_of(3, "write_null"));
    // Interpreted, and with a comparison before that.
    traced.add(entry_of(4, "write_null", {arg(0, 2), imm(1, 0), put(0), put(1), accept()}));
    traced.add(
        entry_of(5, "write_null",
                 {arg(0, 2), imm(1, 0), jump(TL_OP_JNE, 0, 1, 1), reject(), put(0), accept()}));
}

void expect_counts(Traced& traced, std::uint64_t recorded, std::uint64_t filtered) {
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 5; id++) {
        const trapline_counters counts = traced.counters(id);
        EXPECT_EQ(counts.hits, recorded + filtered) << id;
        EXPECT_EQ(counts.recorded, recorded) << id;
        EXPECT_EQ(counts.filtered, filtered) << id;
    }
}

void write_as_name(const char* name, unsigned times) {
    char before[16] = {};
    prctl(PR_GET_NAME, before);
    prctl(PR_SET_NAME, name);
    writes(times);
    prctl(PR_SET_NAME, before);
}

TEST(FilterByName, TheWholeNameAndNothingElse) {
    SessionConfig config;
    config.only_comms = {"one", "123456789012345"};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    write_as_name("a-long-name-now", 1); // leaves its letters behind shorter ones
    write_as_name("one", 10);
    write_as_name("on", 2);
    write_as_name("one1", 3);
    write_as_name("One", 4);
    write_as_name("123456789012345", 20);
    write_as_name("12345678901234", 5);
    write_as_name("1234567X9012345", 6);
    writes(7);
    expect_counts(traced, 30, 28);
}

TEST(FilterByName, TheEmptyNameIsOne) {
    SessionConfig config;
    config.only_comms = {""};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    write_as_name("", 5);
    write_as_name("x", 2);
    expect_counts(traced, 5, 2);
}

TEST(FilterByCpu, OnThemAlone) {
    if (online_cpus() < 2)
        GTEST_SKIP() << "needs two CPUs";
    SessionConfig config;
    config.only_cpus = {1};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    {
        const Pinned pinned(0);
        writes(3);
    }
    {
        const Pinned pinned(1);
        writes(10);
    }
    expect_counts(traced, 10, 3);
    EXPECT_TRUE(traced.rings()[0].packets.empty());
}

TEST(FilterByUser, TheRealOne) {
    SessionConfig config;
    config.only_uids = {1234, 77};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    writes(2);
    for (const uid_t uid : {1234U, 77U, 1235U}) {
        Child child([uid] {
            // The effective one counts for nothing.
            if (syscall(SYS_setresuid, uid, 0, 0) != 0)
                return 1;
            writes(uid == 1235 ? 3 : 10);
            return 0;
        });
        EXPECT_EQ(child.wait(), 0);
    }
    expect_counts(traced, 20, 5);
}

// cgroup v2, mounted for as long as it lasts, and a cgroup of ours with one below.
class Cgroups {
public:
    Cgroups() {
        mkdir(top(), 0700);
        mounted_ = mount("none", top(), "cgroup2", 0, nullptr) == 0;
        mkdir(path("tl").c_str(), 0700);
        mkdir(path("tl/below").c_str(), 0700);
        mkdir(path("tl2").c_str(), 0700);
    }
    Cgroups(const Cgroups&) = delete;
    Cgroups& operator=(const Cgroups&) = delete;
    ~Cgroups() {
        for (const char* name : {"tl/below", "tl", "tl2"})
            rmdir(path(name).c_str());
        umount2(top(), MNT_DETACH);
        rmdir(top());
    }

    static const char* top() { return "/tmp/cgroup2"; }
    static std::string path(const std::string& name) { return std::string(top()) + "/" + name; }
    bool mounted() const { return mounted_; }

    // Calls by a process in it.
    static void write_in(const std::string& name, unsigned times) {
        Child child([&] {
            if (!write_file(path(name) + "/cgroup.procs", "0"))
                return 1;
            writes(times);
            return 0;
        });
        EXPECT_EQ(child.wait(), 0) << name;
    }

private:
    bool mounted_ = false;
};

TEST(FilterByCgroup, InItAndBelow) {
    const Cgroups cgroups;
    if (!cgroups.mounted())
        GTEST_SKIP() << "this kernel has no cgroup v2";
    const UniqueFd fd(open(Cgroups::path("tl").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    SessionConfig config;
    config.only_cgroups = {static_cast<std::uint32_t>(fd.get())};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    writes(2);
    Cgroups::write_in("tl", 10);
    Cgroups::write_in("tl/below", 20);
    Cgroups::write_in("tl2", 3);
    expect_counts(traced, 30, 5);
}

TEST(FilterByCgroup, ADescriptorOfSomethingElseIsRefused) {
    Session session;
    SessionConfig config;
    config.only_cgroups = {static_cast<std::uint32_t>(session.fd())};
    const Refusal refused = refusal([&] { session.configure(config); });
    EXPECT_TRUE(refused.code == EBADF || refused.code == EOPNOTSUPP) << refused.code;
    EXPECT_NE(refused.text.find("cgroup"), std::string::npos);
    EXPECT_NO_THROW(session.configure({})) << "it is as bare as before";
}

TEST(FilterRefusals, CpusUsersAndNames) {
    Session session;
    SessionConfig config;
    config.only_cpus = {0, session.info().cpus};
    EXPECT_EQ(refusal([&] { session.configure(config); }).code, ENXIO);
    config = {};
    config.only_uids = {UINT32_MAX};
    EXPECT_EQ(refusal([&] { session.configure(config); }).code, EINVAL);
    Channel channel;
    for (const auto& [type, bytes] :
         {std::pair(TRAPLINE_A_ONLY_CPUS, 3), std::pair(TRAPLINE_A_ONLY_UIDS, 0),
          std::pair(TRAPLINE_A_ONLY_COMMS, 15)}) {
        Message message = new_request(channel.family(), TRAPLINE_C_CONFIGURE, session.fd(), 4096);
        nla_put(message.get(), type, bytes, "xxxxxxxxxxxxxxxx");
        EXPECT_EQ(refusal(channel, std::move(message)).code, EINVAL) << type;
    }
    // A name without its NUL.
    Message message = new_request(channel.family(), TRAPLINE_C_CONFIGURE, session.fd(), 4096);
    nla_put(message.get(), TRAPLINE_A_ONLY_COMMS, 16, "xxxxxxxxxxxxxxxx");
    EXPECT_EQ(refusal(channel, std::move(message)).code, EINVAL);
    EXPECT_NO_THROW(session.configure({}));
}

TEST(FilterTogether, EachKindMustHold) {
    Gate go;
    Child child([&] {
        go.take();
        {
            const Pinned pinned(0);
            write_as_name("both", 10);
            write_as_name("other", 2);
        }
        if (syscall(SYS_setresuid, 5, 0, 0) == 0)
            write_as_name("both", 3);
        return 0;
    });
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(child.pid())};
    config.only_comms = {"both"};
    config.only_uids = {0};
    config.only_cpus = {0};
    Traced traced(config);
    add_all_kinds(traced);
    traced.start();
    go.give();
    EXPECT_EQ(child.wait(), 0);
    {
        const Pinned pinned(0);
        write_as_name("both", 4); // another process
    }
    expect_counts(traced, 10, 9);
}

} // namespace
