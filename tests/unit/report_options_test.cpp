// SPDX-License-Identifier: GPL-2.0
// The command line of `trapline report`, and which events its options choose.
#include "report/report_options.h"

#include <gtest/gtest.h>

#include "output_fixture.h"
#include "report/filter.h"
#include "util/error.h"

using namespace trapline;
using namespace trapline::test;

namespace {

using Words = std::vector<std::string>;

ReportOptions parse(const Words& words) {
    return parse_report_options(words);
}

std::string refusal(const Words& words) {
    try {
        parse(words);
    } catch (const UsageError& error) {
        EXPECT_FALSE(error.hint().empty());
        return error.what();
    }
    return "";
}

TEST(ReportOptions, Defaults) {
    const ReportOptions options = parse({});
    EXPECT_EQ(options.directories, Words{"trapline-data"});
    EXPECT_EQ(options.form, ReportOptions::Form::text);
    EXPECT_FALSE(options.summary || options.help);
    EXPECT_TRUE(options.wanted.probes.empty() && options.wanted.pids.empty() &&
                options.wanted.comms.empty() && options.wanted.times.empty());
    EXPECT_TRUE(options.warnings.empty());
}

TEST(ReportOptions, Everything) {
    const ReportOptions options = parse({"a", "--json", "--probe", "vfs_*", "-p", "1,22",
                                         "--pid=333", "--comm", "cat", "--probe", "mark", "b"});
    EXPECT_EQ(options.directories, (Words{"a", "b"}));
    EXPECT_EQ(options.form, ReportOptions::Form::json);
    EXPECT_EQ(options.wanted.probes, (Words{"vfs_*", "mark"}));
    EXPECT_EQ(options.wanted.pids, (std::vector<std::uint32_t>{1, 22, 333}));
    EXPECT_EQ(options.wanted.comms, Words{"cat"});
    EXPECT_EQ(parse({"--csv"}).form, ReportOptions::Form::csv);
    EXPECT_TRUE(parse({"--summary"}).summary);
    EXPECT_TRUE(parse({"--help"}).help);
}

TEST(ReportOptions, OneForm) {
    EXPECT_NE(refusal({"--json", "--csv"}).find("exclude each other"), std::string::npos);
    EXPECT_NE(refusal({"--summary", "--json"}).find("--json"), std::string::npos);
    EXPECT_NE(refusal({"--summary", "--csv"}).find("--csv"), std::string::npos);
    EXPECT_NE(refusal({"--nonsense"}).find("nonsense"), std::string::npos);
}

TEST(ReportOptions, Pids) {
    for (const char* list : {"", "1,", ",1", "x", "1x", "-1", "4294967296", "1,,2", "1\033"})
        EXPECT_NE(refusal({"--pid", list}).find("--pid: '"), std::string::npos) << list;
    EXPECT_EQ(refusal({"--pid", "1\033"}).find('\033'), std::string::npos);
    EXPECT_EQ(parse({"-p", "0"}).wanted.pids, std::vector<std::uint32_t>{0}); // the idle tasks
}

TEST(ReportOptions, CommsAreCutAsTheKernelCutsThem) {
    const ReportOptions whole = parse({"--comm", "exactly15letter"});
    EXPECT_EQ(whole.wanted.comms, Words{"exactly15letter"});
    EXPECT_TRUE(whole.warnings.empty());
    const ReportOptions cut = parse({"--comm", "exactly15letters"});
    EXPECT_EQ(cut.wanted.comms, Words{"exactly15letter"});
    ASSERT_EQ(cut.warnings.size(), 1U);
    EXPECT_NE(cut.warnings[0].find("'exactly15letter'"), std::string::npos);
}

TEST(ReportOptions, Times) {
    const auto range = [](const std::string& text) {
        return parse({"--time", text}).wanted.times.at(0);
    };
    EXPECT_EQ(range("9.119394,9.5").from_ns, 9'119'394'000U);
    // What is shown as 9.500000 is before 9.5 or at it.
    EXPECT_EQ(range("9.119394,9.5").to_ns, 9'500'000'999U);
    EXPECT_EQ(range("9,10.123456789").to_ns, 10'123'456'789U);
    EXPECT_EQ(range(",10").from_ns, 0U);
    EXPECT_EQ(range("9,").to_ns, UINT64_MAX);
    EXPECT_EQ(range("1700000000.000001,").from_ns, 1'700'000'000'000'001'000U);
    EXPECT_EQ(parse({"--time", "1,2", "--time", "3,4"}).wanted.times.size(), 2U);
}

TEST(ReportOptions, WrongTimes) {
    for (const char* text : {"", "1", "1,2,3", "x,", ",1x", "-1,", "1.,2", ".5,", "1e9,", "2,1",
                             "1.0123456789,", "99999999999,", ",", "1.-5,"})
        EXPECT_NE(refusal({"--time", text}).find("--time: '"), std::string::npos) << text;
}

TEST(ReportOptions, HelpNamesEveryOption) {
    const std::string help = report_help();
    for (const char* name :
         {"--probe", "--pid", "--comm", "--time", "--json", "--csv", "--summary", "trapline-data"})
        EXPECT_NE(help.find(name), std::string::npos) << name;
}

class ReportFilter : public testing::Test {
protected:
    ReportFilter() {
        layouts.push_back(make_layout(TRAPLINE_CALL, {}, {raw64}));
        layouts.push_back(make_layout(TRAPLINE_ENTRY, {}));
        layouts[1].id = 7;
        layouts[1].name = "ext4:ext4_sync_file";
    }

    bool passes(const Words& words, std::uint16_t id = 1, std::uint64_t ns = 0) {
        const ReportOptions options = parse(words);
        Sample sample;
        sample.event.id = id;
        return EventFilter(options.wanted, layouts).passes(sample.event, ns);
    }

    std::string refused(const Words& globs) {
        const std::vector<std::span<const EventLayout>> traces{layouts};
        try {
            check_globs(globs, traces);
        } catch (const Error& error) {
            return error.what() + ("|" + error.hint());
        }
        return "";
    }

    std::vector<EventLayout> layouts;
};

TEST_F(ReportFilter, NothingAskedEverythingPasses) {
    EXPECT_TRUE(passes({}));
    EXPECT_TRUE(passes({}, 7));
    EXPECT_TRUE(passes({}, TL_ID_MARK));
}

TEST_F(ReportFilter, Probes) {
    EXPECT_TRUE(passes({"--probe", "vfs_*"}));
    EXPECT_FALSE(passes({"--probe", "vfs"}));
    EXPECT_FALSE(passes({"--probe", "vfs_*"}, 7));
    EXPECT_TRUE(passes({"--probe", "vfs_*", "--probe", "ext4:*"}, 7));
    EXPECT_FALSE(passes({"--probe", "vfs_*"}, TL_ID_MARK));
    EXPECT_TRUE(passes({"--probe", "m*"}, TL_ID_MARK));
}

TEST_F(ReportFilter, TasksAndTimes) {
    EXPECT_TRUE(passes({"--pid", "1,4710"}));
    EXPECT_FALSE(passes({"--pid", "4711"})); // the thread's, not the process'
    EXPECT_TRUE(passes({"--comm", "cat"}));
    EXPECT_FALSE(passes({"--comm", "ca"}));
    EXPECT_FALSE(passes({"--comm", "cats"}));
    EXPECT_FALSE(passes({"--time", "2,3"}, 1, 1'999'999'999));
    EXPECT_TRUE(passes({"--time", "2,3"}, 1, 2'000'000'000));
    EXPECT_TRUE(passes({"--time", "2,3"}, 1, 3'000'000'999));
    EXPECT_FALSE(passes({"--time", "2,3"}, 1, 3'000'001'000));
    EXPECT_TRUE(passes({"--time", "2,3", "--time", "5,"}, 1, 6'000'000'000));
}

TEST_F(ReportFilter, EachMustHold) {
    EXPECT_TRUE(passes({"--probe", "vfs_read", "--pid", "4710", "--comm", "cat"}));
    EXPECT_FALSE(passes({"--probe", "vfs_read", "--pid", "4710", "--comm", "dd"}));
    EXPECT_FALSE(passes({"--probe", "vfs_read", "--pid", "1", "--comm", "cat"}));
}

TEST_F(ReportFilter, GlobsThatFitNothing) {
    EXPECT_EQ(refused({"vfs_*", "mark"}), "");
    const std::string few = refused({"vfs_*", "vfs_wri*"});
    EXPECT_NE(few.find("'vfs_wri*' fits no event"), std::string::npos) << few;
    EXPECT_NE(few.find("there are ext4:ext4_sync_file, mark, vfs_read"), std::string::npos) << few;
    for (int i = 0; i < 20; i++) {
        EventLayout other = make_layout(TRAPLINE_ENTRY, {});
        other.name = "other" + std::to_string(i);
        layouts.push_back(other);
    }
    const std::string many = refused({"*vfs_write*"});
    EXPECT_NE(many.find("near it: vfs_read; "), std::string::npos) << many;
    EXPECT_EQ(many.find("other"), std::string::npos) << many;
    const std::string nothing = refused({"q\033"});
    EXPECT_EQ(nothing.find("near"), std::string::npos) << nothing;
    EXPECT_NE(nothing.find("--summary lists all"), std::string::npos) << nothing;
    EXPECT_EQ(nothing.find('\033'), std::string::npos);
}

TEST_F(ReportFilter, NamesInHintsAreMadeSafe) {
    layouts[0].name = "vfs\033[2J";
    EXPECT_EQ(refused({"x"}).find('\033'), std::string::npos);
}

} // namespace
