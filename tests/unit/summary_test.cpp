// SPDX-License-Identifier: GPL-2.0
// What a trace comes to: counts by probe, its description, its rings.
#include "output/summary.h"

#include <cstdlib>
#include <ctime>
#include <gtest/gtest.h>

#include "output_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

std::vector<std::byte> call(std::uint64_t duration, std::uint64_t returned) {
    return RecordBytes().number(duration).number(returned);
}

void add(EventSummary& summary, const EventLayout& layout, const std::vector<std::byte>& bytes) {
    Sample sample(bytes);
    sample.event.id = layout.id;
    sample.event.fields = sample.bytes;
    summary.add(sample.event, layout, sample.clock);
}

// With times as in UTC+1.
class SummaryDescription : public testing::Test {
protected:
    SummaryDescription() {
        setenv("TZ", "XYZ-1", 1);
        tzset();
        description.version = "0.1.0";
        description.kernel = {"Linux", "6.1.0-18-amd64", "#1 SMP", "x86_64", "box", ""};
        description.clock.anchor = ClockAnchor{0, 5'000'000'000, 1'700'000'000'000'000'000};
        description.probes.resize(2);
        description.totals.emplace();
        description.totals->stop = {0, 17'300'000'000, 0};
        description.totals->ended_by = "COMMAND ended";
    }
    ~SummaryDescription() override {
        unsetenv("TZ");
        tzset();
    }

    std::string text(std::optional<std::uint64_t> last = std::nullopt) const {
        return description_text(description, last);
    }

    TraceDescription description;
};

TEST(Summary, CountsByProbe) {
    EventLayout calls = make_layout(TRAPLINE_CALL, {}, {raw64});
    EventLayout entries = make_layout(TRAPLINE_ENTRY, {raw64});
    EventLayout returns = make_layout(TRAPLINE_RETURN, {}, {raw64});
    EventLayout silent = make_layout(TRAPLINE_CALL, {}, {raw64});
    entries.id = 2;
    entries.name = "ext4:\033ext4";
    returns.id = 70;
    silent.id = 5;
    silent.name = "silent";
    const std::vector<const EventLayout*> layouts{&calls, &entries, &silent, &returns};
    EventSummary summary(layouts);
    add(summary, calls, call(1000, 0));
    add(summary, calls, call(3000, -std::uint64_t{2}));
    add(summary, calls, call(500, 0xfffffffe));
    // Arguments are no errors.
    add(summary, entries, RecordBytes().number(-std::uint64_t{2}));
    add(summary, returns, RecordBytes().number(-std::uint64_t{4095}));
    EXPECT_EQ(summary.text(),
              "probe          kind    events  errors   total     min     avg     max\n"
              "vfs_read       call         3       2  4.5 us  500 ns  1.5 us  3.0 us\n"
              "ext4:\\033ext4  entry        1       -       -       -       -       -\n"
              "silent         call         0       0       -       -       -       -\n"
              "vfs_read       return       1       1       -       -       -       -\n");
}

TEST(Summary, MarksHaveARowIfThereAreAny) {
    const EventLayout entry = make_layout(TRAPLINE_ENTRY, {});
    const std::vector<const EventLayout*> layouts{&entry};
    EventSummary summary(layouts);
    EXPECT_EQ(summary.text().find("mark"), std::string::npos);
    add(summary, mark_layout(), RecordBytes().string(TL_STR_WHOLE, "x"));
    EXPECT_NE(summary.text().find("mark      mark        1       -"), std::string::npos)
        << summary.text();
}

TEST_F(SummaryDescription, Ended) {
    description.command = {"cat", "/etc/hostname"};
    EXPECT_EQ(text(), "  kernel    Linux 6.1.0-18-amd64 x86_64 on box\n"
                      "  recorded  2023-11-14T23:13:20+01:00, for 12.3 s\n"
                      "  by        trapline 0.1.0, 2 probes\n"
                      "  command   cat /etc/hostname\n"
                      "  mode      everything; what found no room was dropped\n"
                      "  ended     COMMAND ended\n");
}

TEST_F(SummaryDescription, FlightRecorderThatWasKilled) {
    description.totals.reset();
    description.overwrite = true;
    description.probes.resize(1);
    EXPECT_EQ(text(7'000'000'000),
              "  kernel    Linux 6.1.0-18-amd64 x86_64 on box\n"
              "  recorded  2023-11-14T23:13:20+01:00, at least for 2.0 s\n"
              "  by        trapline 0.1.0, 1 probe\n"
              "  mode      flight recorder: the newest events overwrote the oldest\n"
              "  ended     not yet, or it was killed: no totals\n");
    EXPECT_NE(text().find("+01:00\n"), std::string::npos);
    description.kernel = {};
    description.clock.anchor.reset();
    EXPECT_TRUE(text().starts_with("  recorded  ")) << text();
    EXPECT_NE(text().find("recorded  at an unknown time\n"), std::string::npos);
}

TEST_F(SummaryDescription, CommandsAsAShellTakesThem) {
    description.command = {"sh", "-c", "echo $x", "", "it's", "a\nb\033"};
    EXPECT_NE(text().find("command   sh -c 'echo $x' '' $'it\\'s' $'a\\nb\\033'\n"),
              std::string::npos)
        << text();
}

TEST_F(SummaryDescription, HostileNames) {
    description.kernel.release = "6.1\033[2J";
    description.kernel.nodename = "\n";
    description.version = "\b";
    description.totals->ended_by = "\a";
    const std::string shown = text();
    for (const char c : shown)
        EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
    EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'), 5);
}

TEST(Summary, Rings) {
    RingTotals first;
    first.cpu = 0;
    first.written = 100;
    first.read = 90;
    first.overwritten = 7;
    first.unread = 3;
    RingTotals idle;
    idle.cpu = 1;
    RingTotals full;
    full.cpu = 12;
    full.lost_full = 2000;
    full.lost_nested = 20;
    full.lost_too_big = 3;
    EXPECT_EQ(rings_text(std::vector{first, idle, full}),
              "ring    recorded  saved  overwritten  not saved  lost\n"
              "CPU 0        100     90            7          3     0\n"
              "CPU 12         0      0            0          0  2023\n"
              "total        100     90            7          3  2023\n");
    EXPECT_EQ(rings_text(std::vector{first, idle}),
              "ring   recorded  saved  overwritten  not saved  lost\n"
              "CPU 0       100     90            7          3     0\n");
    EXPECT_EQ(rings_text(std::vector{idle}), "");
}

} // namespace
