// SPDX-License-Identifier: GPL-2.0
// The table at the end: aligned, complete, and silent about what did not happen.
#include "output/accounting.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>

using namespace trapline;

namespace {

ProbeAccount account(const char* name, trapline_probe_kind kind, trapline_counters counters) {
    return {.name = name,
            .kind = kind,
            .counters = counters,
            .maxactive = 64,
            .pending = {},
            .pending_known = true};
}

std::string text(const ProbeAccount& probe) {
    return accounting_text({&probe, 1});
}

// What is below the header and the probe's own line.
std::string notes(const ProbeAccount& probe) {
    const std::string all = text(probe);
    return all.substr(all.find('\n', all.find('\n') + 1) + 1);
}

trapline_counters counters(std::uint64_t hits, std::uint64_t recorded) {
    trapline_counters c{};
    c.hits = hits;
    c.recorded = recorded;
    return c;
}

TEST(Accounting, OneProbeOneLine) {
    EXPECT_EQ(text(account("vfs_read", TRAPLINE_ENTRY, counters(12345, 12345))),
              "probe     kind    hits  recorded  filtered  dropped  inside\n"
              "vfs_read  entry  12345     12345         0        0       -\n");
}

TEST(Accounting, SeveralProbesAreAlignedAndSummed) {
    trapline_counters call = counters(100, 90);
    call.filtered = 4;
    call.lost_full = 3;
    call.entered = 96;
    call.returned = 93;
    const std::vector<ProbeAccount> probes{
        account("vfs_read", TRAPLINE_CALL, call),
        account("ext4:ext4_sync_file", TRAPLINE_ENTRY, counters(0, 0)),
        account("f", TRAPLINE_RETURN, counters(1234567890, 1234567890))};
    const std::string all = accounting_text(probes);
    EXPECT_EQ(all.substr(0, all.find("vfs_read: ")),
              "probe                kind          hits    recorded  filtered  dropped  inside\n"
              "vfs_read             call           100          90         4        3       3\n"
              "ext4:ext4_sync_file  entry            0           0         0        0       -\n"
              "f                    return  1234567890  1234567890         0        0       -\n"
              "total                        1234567990  1234567980         4        3       3\n");
}

TEST(Accounting, WhatWasLimitedHasAColumnAndALine) {
    trapline_counters call = counters(100, 60);
    call.filtered = 5;
    call.limited = 30;
    call.entered = 95;
    call.returned = 90;
    const std::vector<ProbeAccount> probes{account("f", TRAPLINE_CALL, call),
                                           account("g", TRAPLINE_ENTRY, counters(7, 7))};
    EXPECT_EQ(accounting_text(probes),
              "probe  kind   hits  recorded  filtered  limited  dropped  inside\n"
              "f      call    100        60         5       30        0       5\n"
              "g      entry     7         7         0        0        0       -\n"
              "total          107        67         5       30        0       5\n"
              "f: 30 limited: beyond --max-rate, or at the end that --limit made\n"
              "f: 5 calls still inside at the stop; none found on a sleeping task's stack\n");
}

TEST(Accounting, NothingToSayNothingSaid) {
    EXPECT_EQ(accounting_text({}), "");
    EXPECT_EQ(notes(account("f", TRAPLINE_CALL, counters(0, 0))), "");
    EXPECT_EQ(notes(account("f", TRAPLINE_ENTRY, counters(5, 5))), "");
}

TEST(Accounting, CausesOfDrops) {
    trapline_counters c = counters(10, 4);
    c.lost_full = 6;
    EXPECT_EQ(notes(account("f", TRAPLINE_ENTRY, c)),
              "f: 6 dropped: 6 with the ring full (raise --buffer-size)\n");
    c.lost_full = 3;
    c.lost_nested = 2;
    c.lost_too_big = 1;
    EXPECT_EQ(
        notes(account("f", TRAPLINE_ENTRY, c)),
        "f: 6 dropped: 3 with the ring full (raise --buffer-size), 2 nested in another record, "
        "1 too big for a chunk (raise --buffer-size)\n");
    EXPECT_EQ(lost_records(c), 6U);
}

TEST(Accounting, MissesAreALowerBound) {
    trapline_counters c = counters(1, 1);
    c.missed_maxactive = 5;
    EXPECT_EQ(
        notes(account("f", TRAPLINE_RETURN, c)),
        "f: at least 5 missed: 5 with more than maxactive=64 calls inside at once (raise with "
        "--maxactive)\n");
    c.missed_recursion = 2;
    EXPECT_EQ(notes(account("f", TRAPLINE_RETURN, c)),
              "f: at least 7 missed: 2 by recursion (hit inside another probe's handler), 5 with "
              "more than maxactive=64 calls inside at once (raise with --maxactive)\n");
}

TEST(Accounting, CallsStillInside) {
    trapline_counters c = counters(10, 7);
    c.entered = 10;
    c.returned = 7;
    c.late = 1;
    ProbeAccount probe = account("f", TRAPLINE_CALL, c);
    EXPECT_EQ(notes(probe), "f: 3 calls still inside at the stop, 1 returned since; none found on "
                            "a sleeping task's stack\n");
    trapline_pending pending{.tid = 77, .tgid = 70, .age = 12'345'000'000, .comm = "ca\033t"};
    probe.pending.push_back(pending);
    EXPECT_EQ(notes(probe), "f: 3 calls still inside at the stop, 1 returned since; 1 found on "
                            "sleeping tasks' stacks\n"
                            "    f  ca\\033t-77  entered 12.3 s ago\n");
    std::memcpy(pending.comm, "exactly16letters", sizeof(pending.comm));
    pending.age = 999;
    probe.pending.push_back(pending);
    EXPECT_EQ(notes(probe), "f: 3 calls still inside at the stop, 1 returned since\n"
                            "    f  ca\\033t-77  entered 12.3 s ago\n"
                            "    f  exactly16letters-77  entered 999 ns ago\n");
}

// An empty list there is no answer.
TEST(Accounting, CallsInsideOnAKernelThatDoesNotTellOfThem) {
    trapline_counters c = counters(3, 0);
    c.entered = 3;
    c.late = 1;
    ProbeAccount probe = account("f", TRAPLINE_CALL, c);
    probe.pending_known = false;
    EXPECT_EQ(notes(probe), "f: 3 calls still inside at the stop, 1 returned since; this kernel "
                            "doesn't show in which tasks\n");
    probe.counters.late = 3;
    EXPECT_EQ(notes(probe), "f: 3 calls still inside at the stop, 3 returned since\n");
}

TEST(Accounting, OneCallInside) {
    trapline_counters c = counters(1, 0);
    c.entered = 1;
    c.late = 1;
    EXPECT_EQ(notes(account("f", TRAPLINE_CALL, c)),
              "f: 1 call still inside at the stop, 1 returned since\n");
}

TEST(Accounting, StaleReturns) {
    trapline_counters c = counters(0, 0);
    c.stale = 2;
    EXPECT_EQ(notes(account("f", TRAPLINE_CALL, c)),
              "f: 2 returns of calls from before the start, not recorded\n");
}

TEST(Accounting, TrapsThatWereGone) {
    const std::string line = gone_text("f\033");
    EXPECT_TRUE(line.starts_with("trapline: f\\033: its trap was gone at the end")) << line;
    EXPECT_EQ(line.back(), '\n');
}

TEST(Accounting, ContradictionsAreNotHidden) {
    EXPECT_NE(notes(account("f", TRAPLINE_ENTRY, counters(3, 2))).find("do not add up"),
              std::string::npos);
    EXPECT_NE(notes(account("f", TRAPLINE_CALL, counters(2, 3))).find("do not add up"),
              std::string::npos);
}

} // namespace
