// SPDX-License-Identifier: GPL-2.0
// What --comm, --cpu, --uid and --cgroup name.
#include "command/task_filter.h"

#include <gtest/gtest.h>

#include "command/run_options.h"
#include "util/error.h"

namespace trapline {
namespace {

using Numbers = std::vector<std::uint32_t>;

TEST(TaskFilter, ANameIsCutAsTheKernelCutsIt) {
    EXPECT_EQ(task_name("dd"), "dd");
    EXPECT_EQ(task_name("123456789012345"), "123456789012345");
    EXPECT_EQ(task_name("1234567890123456"), "123456789012345");
}

TEST(TaskFilter, UsersByNumberOrName) {
    EXPECT_EQ(user_id("0"), 0U);
    EXPECT_EQ(user_id("4294967294"), 4294967294U);
    EXPECT_EQ(user_id("root"), 0U);
    for (const char* none : {"no such user", "4294967295", "4294967296", "-1", "1x"})
        EXPECT_THROW(user_id(none), Error) << none;
}

TEST(TaskFilter, CpusThatThereAre) {
    const Numbers possible = {0, 1, 2, 8};
    EXPECT_NO_THROW(expect_cpus(Numbers{0, 8}, possible));
    EXPECT_NO_THROW(expect_cpus(Numbers{77}, Numbers{})) << "nothing tells";
    try {
        expect_cpus(Numbers{2, 3}, possible);
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "--cpu: there is no CPU 3");
        EXPECT_EQ(error.hint(), "this machine can have 0-2,8");
    }
}

TEST(TaskFilter, WhereCgroupsAreMounted) {
    EXPECT_EQ(cgroup_mount("24 30 0:22 / /proc rw - proc proc rw\n"
                           "30 24 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"),
              "/sys/fs/cgroup");
    EXPECT_EQ(cgroup_mount("31 24 0:28 / /a - b rw - cgroup cgroup2 rw,cpu\n"), "");
    EXPECT_EQ(cgroup_mount(""), "");
}

RunOptions options_of(const std::vector<std::string>& arguments) {
    RunCommandLine line("trace");
    line.parse(arguments);
    return line.run_options();
}

TEST(TaskFilter, ListsAndRepetitionsOfOptions) {
    const TaskFilter only =
        options_of({"vfs_read", "--cpu", "3,0-1", "--cpu=1,5", "--uid", "1000,root", "--uid=7",
                    "--comm", "a,b", "--comm", "c", "--cgroup", "x/y"})
            .only;
    EXPECT_EQ(only.cpus, Numbers({0, 1, 3, 5}));
    EXPECT_EQ(only.users, std::vector<std::string>({"1000", "root", "7"}));
    EXPECT_EQ(only.comms, std::vector<std::string>({"a,b", "c"}));
    EXPECT_EQ(only.cgroups, std::vector<std::string>({"x/y"}));
}

TEST(TaskFilter, WhatIsNoList) {
    for (const std::string option :
         {"--cpu=1-", "--cpu=two", "--cpu=", "--uid=1,", "--uid=,1", "--comm=", "--cgroup="})
        EXPECT_THROW(options_of({"vfs_read", option}), UsageError) << option;
}

TEST(Limits, OfEventsAndOfTheirRate) {
    EXPECT_EQ(options_of({"vfs_read"}).limit, 0U);
    EXPECT_EQ(options_of({"vfs_read", "--limit", "5"}).limit, 5U);
    EXPECT_EQ(options_of({"vfs_read", "--max-rate", "100"}).max_rate, 100U);
    EXPECT_EQ(options_of({"vfs_read", "--max-rate", "100/s"}).max_rate, 100U);
    for (const std::string option : {"--limit=0", "--limit=-1", "--limit=x", "--max-rate=0",
                                     "--max-rate=/s", "--max-rate=5/m", "--max-rate=1.5"})
        EXPECT_THROW(options_of({"vfs_read", option}), UsageError) << option;
}

TEST(Limits, WhatIsRightIsHinted) {
    const auto hint_of = [](const std::vector<std::string>& words) {
        try {
            options_of(words);
        } catch (const UsageError& error) {
            return error.hint();
        }
        return std::string("accepted");
    };
    EXPECT_EQ(hint_of({"vfs_read", "--max-rate", "5/min"}),
              "a second is meant without saying it: --max-rate 5");
    EXPECT_EQ(hint_of({"vfs_read", "--max-rate", "x/s"}), "see: trapline trace --help");
    EXPECT_EQ(hint_of({"--stack", "5", "vfs_read"}),
              "the number of frames is joined to it: --stack=5");
    EXPECT_EQ(hint_of({"--stack", "vfs_read"}), "accepted");
    EXPECT_EQ(hint_of({"vfs_read", "--stack"}), "accepted");
    EXPECT_EQ(hint_of({"vfs_read", "--stack=5"}), "accepted");
}

TEST(ProbeHelp, ListsWhatTheCommandTakes) {
    const auto has = [](ProbeForms forms, const char* form) {
        return probe_help(forms).find(form) != std::string::npos;
    };
    for (const char* form : {"'PATTERN*'", "0xADDRESS", "@SET"}) {
        EXPECT_TRUE(has(ProbeForms::all, form)) << form;
        EXPECT_FALSE(has(ProbeForms::compiled, form)) << form;
    }
    EXPECT_FALSE(has(ProbeForms::one, "@SET"));
    EXPECT_FALSE(has(ProbeForms::one, "'PATTERN*'"));
    EXPECT_TRUE(has(ProbeForms::one, "0xADDRESS"));
    EXPECT_TRUE(has(ProbeForms::compiled, "FUNC+0x1c/0x80"));
}

} // namespace
} // namespace trapline
