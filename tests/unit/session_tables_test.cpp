// SPDX-License-Identifier: GPL-2.0
// `trapline status`: its tables, and finding who holds a session.
#include "command/session_tables.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "command/holders.h"
#include "command/status.h"
#include "util/error.h"

using namespace trapline;

namespace {

SessionState traced() {
    SessionState state;
    state.report = {.number = 7,
                    .tgid = 4711,
                    .comm = "trapline",
                    .uid = 1000,
                    .started = true,
                    .probes = 2,
                    .ring_size = 1 << 20,
                    .recorded = 123,
                    .lost = 5,
                    .own = false,
                    .overwrite = false,
                    .silenced_ns = {}};
    state.holders = {{7, 4711, "trapline"}};
    ProbeReport read;
    read.symbol = "vfs_read";
    read.kind = TRAPLINE_CALL;
    read.technique = TRAPLINE_FTRACE;
    read.maxactive = 128;
    read.counters.hits = 10;
    read.counters.recorded = 3;
    read.counters.filtered = 1;
    read.counters.lost_full = 4;
    read.counters.entered = 5;
    read.counters.returned = 3;
    read.counters.missed_maxactive = 9;
    ProbeReport inside;
    inside.symbol = "ext4:ext4_sync_file";
    inside.offset = 0x1c;
    inside.kind = TRAPLINE_ENTRY;
    inside.technique = TRAPLINE_JUMP;
    inside.counters.hits = 2;
    inside.counters.recorded = 2;
    state.probes = {read, inside};
    return state;
}

TEST(SessionTables, ShowSessionsAndProbes) {
    EXPECT_EQ(
        session_tables(std::vector{traced()}),
        "session  opened by      uid   held by        state    mode    ring/CPU  probes  recorded  "
        "lost  overwritten\n"
        "7        trapline-4711  1000  trapline-4711  started  stream        1M       2       123  "
        "   5            -\n"
        "\n"
        "session  probe                     kind   technique  hits  recorded  filtered  dropped  "
        "inside  missed\n"
        "7        vfs_read                  call   ftrace       10         3         1        4   "
        "    2       9\n"
        "7        ext4:ext4_sync_file+0x1c  entry  jump          2         2         0        0   "
        "    -       0\n"
        "session 7, vfs_read: 4 dropped: 4 with the ring full (raise --buffer-size)\n"
        "session 7, vfs_read: at least 9 missed: 9 with more than maxactive=128 calls inside at "
        "once (raise with --maxactive)\n");
}

TEST(SessionTables, WhatWasLimited) {
    SessionState state = traced();
    state.probes.erase(state.probes.begin());
    state.probes.front().counters.hits = 9;
    state.probes.front().counters.limited = 7;
    const std::string text = session_tables(std::vector{state});
    EXPECT_EQ(
        text.substr(text.find("\n\n") + 2),
        "session  probe                     kind   technique  hits  recorded  filtered  limited  "
        "dropped  inside  missed\n"
        "7        ext4:ext4_sync_file+0x1c  entry  jump          9         2         0        7  "
        "      0       -       0\n"
        "session 7, ext4:ext4_sync_file+0x1c: 7 limited: beyond --max-rate, or at the end "
        "that --limit made\n");
}

// It is still started, but nothing comes any more: that isn't for lack of hits.
TEST(SessionTables, ACrashHasSilencedIt) {
    SessionState state = traced();
    state.report.silenced_ns = 12'345'678'901;
    state.probes.clear();
    EXPECT_EQ(session_tables(std::vector{state}),
              "session  opened by      uid   held by        state     mode    ring/CPU  probes  "
              "recorded  lost  overwritten\n"
              "7        trapline-4711  1000  trapline-4711  silenced  stream        1M       2  "
              "     123     5            -\n"
              "session 7: the kernel crashed at 12.345678, and nothing was recorded since "
              "(dump_on_oops); what came after that was not counted\n");
    state.report.started = false; // what comes now has nothing to do with it
    EXPECT_EQ(session_tables(std::vector{state}).find("crashed"), std::string::npos);
}

TEST(SessionTables, ASessionMayBeBare) {
    SessionState state;
    state.report.number = 1;
    state.report.tgid = 2;
    state.report.comm = "x";
    EXPECT_EQ(session_tables(std::vector{state}),
              "session  opened by  uid  held by  state        mode  ring/CPU  probes  recorded  "
              "lost  overwritten\n"
              "1        x-2        0    -        not started  -            -       0         0  "
              "   0            -\n");
}

TEST(SessionTables, NoHolderIsToldFromOneThatIsNotKnown) {
    SessionState state = traced();
    state.holders.clear();
    EXPECT_NE(session_tables(std::vector{state}).find("  -        started"), std::string::npos);
    state.all_holders = false;
    const std::string text = session_tables(std::vector{state});
    EXPECT_NE(text.find("  not known  started"), std::string::npos) << text;
}

TEST(SessionTables, AFlightRecordersOverwrittenAreNotKnown) {
    SessionState state = traced();
    state.report.overwrite = true;
    const std::string text = session_tables(std::vector{state});
    EXPECT_NE(text.find("flight recorder"), std::string::npos);
    EXPECT_NE(text.find("   5    not known\n"), std::string::npos) << text;
}

TEST(SessionTables, NamesAreEscapedAndHoldersAreCounted) {
    SessionState state = traced();
    state.report.comm = "a\n\x1b[1m";
    state.probes.resize(1);
    state.probes[0].symbol = "s\x01";
    state.holders = {{7, 1, "one\t"}, {7, 2, "two"}, {7, 3, "three"}, {7, 4, "four"}, {7, 5, "v"}};
    const std::string text = session_tables(std::vector{state});
    EXPECT_NE(text.find("a\\n\\033[1m-4711"), std::string::npos) << text;
    EXPECT_NE(text.find("\n7        s\\001"), std::string::npos) << text;
    EXPECT_NE(text.find(" one\\t-1, two-2, three-3, 2 more "), std::string::npos) << text;
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(SessionTables, AProbeMayHaveNoNameAndNoTrap) {
    SessionState state = traced();
    ProbeReport& probe = state.probes[0];
    probe.symbol.clear();
    probe.address = 0xffffffff81000010;
    probe.technique = TRAPLINE_NO_TRAP;
    probe.counters.late = 1;
    probe.counters.stale = 2;
    state.probes[1].technique = TRAPLINE_BREAKPOINT;
    const std::string text = session_tables(std::vector{state});
    EXPECT_NE(text.find("7        0xffffffff81000010        call   none  "), std::string::npos)
        << text;
    EXPECT_NE(text.find("entry  breakpoint  "), std::string::npos) << text;
    EXPECT_NE(text.find("inside 1 returned after a stop"), std::string::npos) << text;
    EXPECT_NE(text.find("inside 2 returned after another start"), std::string::npos) << text;
}

// A /proc of our own.
class HoldersTest : public testing::Test {
protected:
    void TearDown() override { std::filesystem::remove_all(proc_); }

    void add(const std::string& pid, const std::string& fd, const std::string& target,
             const std::string& info) {
        const std::filesystem::path process = proc_ / pid;
        std::filesystem::create_directories(process / "fd");
        std::filesystem::create_directories(process / "fdinfo");
        std::filesystem::create_symlink(target, process / "fd" / fd);
        std::ofstream(process / "fdinfo" / fd) << info;
        std::ofstream(process / "comm") << "comm of " << pid << '\n';
    }

    std::filesystem::path proc_ =
        std::filesystem::path(testing::TempDir()) / ("proc." + std::to_string(getpid()));
};

TEST_F(HoldersTest, AreThoseWithADescriptorOfTheDevice) {
    const std::string info = "pos:\t0\nflags:\t02\nsession:\t";
    add("30", "3", "/dev/trapline", info + "2\n");
    add("30", "4", "/dev/trapline", info + "1\n");
    add("30", "5", "/dev/trapline", info + "2\n"); // a duplicate
    add("4", "9", "/dev/trapline", info + "2\n");
    add("5", "0", "/dev/trapline2", info + "2\n");
    add("5", "1", "/dev/trap", info + "2\n");
    add("5", "2", "socket:[1234]", "");
    add("6", "3", "/dev/trapline", "pos:\t0\n"); // of an older module
    add("6", "4", "/dev/trapline", info + "x\n");
    add("self", "3", "/dev/trapline", info + "2\n");  // no number
    std::filesystem::create_directories(proc_ / "7"); // went away
    const Holders all = find_holders(proc_.string());
    const std::vector<Holder>& found = all.found;
    EXPECT_TRUE(all.complete);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].session, 1U);
    EXPECT_EQ(found[0].pid, 30U);
    EXPECT_EQ(found[0].comm, "comm of 30");
    EXPECT_EQ(found[1].session, 2U);
    EXPECT_EQ(found[1].pid, 4U);
    EXPECT_EQ(found[2].session, 2U);
    EXPECT_EQ(found[2].pid, 30U);
    EXPECT_TRUE(find_holders("/nowhere").found.empty());
}

TEST_F(HoldersTest, WhatCannotBeReadIsToldFromWhatIsNot) {
    add("30", "3", "/dev/trapline", "session:\t2\n");
    std::filesystem::create_directories(proc_ / "31");
    std::ofstream(proc_ / "31" / "fd"); // opening it as a directory fails
    const Holders all = find_holders(proc_.string());
    EXPECT_EQ(all.found.size(), 1U);
    EXPECT_FALSE(all.complete);
}

TEST(Status, TakesNoArgument) {
    EXPECT_THROW(status_command({"-x"}), UsageError);
    EXPECT_THROW(status_command({"7"}), UsageError);
}

} // namespace
