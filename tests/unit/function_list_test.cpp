// SPDX-License-Identifier: GPL-2.0
// Which functions can be probed, and the lines of `trapline list`.
#include "spec/function_list.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "command/list.h"

using namespace trapline;

namespace {

constexpr const char* usual = "ffffffff80000000 t too_low\n"
                              "ffffffff81000000 T _stext\n"
                              "ffffffff81000010 T vfs_read\n"
                              "ffffffff81000100 T vfs_write\n"
                              "ffffffff81000110 t vfs_write.cold\n"
                              "ffffffff81000120 t helper\n"
                              "ffffffff81000130 t work.isra.0\n"
                              "ffffffff81000140 t work.constprop.0.cold\n"
                              "ffffffff81000150 t __pfx_helper\n"
                              "ffffffff81000160 t do_int3\n"
                              "ffffffff81000168 t do_int3_alias\n"
                              "ffffffff81000170 T end_of_text\n"
                              "ffffffff81000180 T _etext\n"
                              "ffffffff81000200 D vfs_table\n"
                              "ffffffff81000300 D __init_begin\n"
                              "ffffffff81000300 T _sinittext\n"
                              "ffffffff81000310 t vfs_init\n"
                              "ffffffff81000400 T _einittext\n"
                              "ffffffff81000410 t vfs_exit\n"
                              "ffffffff81000500 D __init_end\n"
                              "ffffffffc0001000 t helper\t[ext4]\n"
                              "ffffffffc0001100 t ext4_sync_file\t[ext4]\n";

constexpr const char* blacklisted = "0xffffffff81000160-0xffffffff81000170\tdo_int3\n";

std::string hidden(std::string text) {
    std::istringstream in(text);
    std::string out;
    for (std::string line; std::getline(in, line);)
        out += "0000000000000000" + line.substr(16) + '\n';
    return out;
}

Kallsyms symbols(const std::string& text) {
    std::istringstream stream(text);
    return Kallsyms(stream);
}

Blacklist blacklist(const std::string& text) {
    std::istringstream stream(text);
    return Blacklist(stream);
}

struct Listed {
    std::vector<std::string> probed;
    std::vector<std::string> refused; // "name: reason"
};

Listed list(const char* glob, const std::string& text = usual,
            const std::string& black = blacklisted) {
    Listed listed;
    const FunctionCount count =
        list_functions(parse_function_glob(glob), symbols(text), blacklist(black),
                       [&](const NumberedFunction& function, Obstacle obstacle) {
                           const std::string_view reason = obstacle_text(obstacle);
                           std::string name(function.symbol.name);
                           if (function.number != 0)
                               name += fmt::format("#{}", function.number);
                           if (obstacle == Obstacle::none)
                               listed.probed.push_back(name);
                           else
                               listed.refused.push_back(
                                   fmt::format("{}: {}", name, reason.substr(0, reason.find(' '))));
                       });
    EXPECT_EQ(count.probed, listed.probed.size());
    EXPECT_EQ(count.refused, listed.refused.size());
    return listed;
}

using Names = std::vector<std::string>;

TEST(FunctionList, TellsWhatCanBeProbedFromWhatCant) {
    const Listed all = list("*");
    EXPECT_EQ(all.probed, (Names{"_stext", "vfs_read", "vfs_write", "helper#1", "work.isra.0",
                                 "end_of_text", "helper#2", "ext4_sync_file"}));
    EXPECT_EQ(all.refused,
              (Names{"too_low: outside", "vfs_write.cold: cold", "work.constprop.0.cold: cold",
                     "__pfx_helper: padding",
                     "do_int3: blacklisted:", "do_int3_alias: blacklisted:", "_etext: outside",
                     "_sinittext: ran", "vfs_init: ran", "_einittext: ran", "vfs_exit: ran"}));
}

TEST(FunctionList, MatchesAsAShellDoes) {
    EXPECT_EQ(list("vfs_*").probed, (Names{"vfs_read", "vfs_write"}));
    EXPECT_EQ(list("vfs_????").probed, Names{"vfs_read"});
    EXPECT_EQ(list("[!v_]*r").probed, (Names{"helper#1", "helper#2"}));
    EXPECT_EQ(list("work[.]isra[.][[:digit:]]").probed, Names{"work.isra.0"});
    EXPECT_EQ(list("vfs_read").probed, Names{"vfs_read"});
    EXPECT_EQ(list("vfs").probed, Names{});
    EXPECT_EQ(list("").probed, Names{});
}

TEST(FunctionList, AModuleNarrowsAndKeepsTheNumbers) {
    EXPECT_EQ(list("ext4:*").probed, (Names{"helper#2", "ext4_sync_file"}));
    EXPECT_EQ(list("kernel:h*").probed, Names{"helper#1"});
    EXPECT_EQ(list("vmlinux:h*").probed, Names{"helper#1"});
    EXPECT_EQ(list("xfs:*").probed, Names{});
    const FunctionGlob glob = parse_function_glob("[[:alpha:]]*");
    EXPECT_EQ(glob.module, "");
    EXPECT_EQ(glob.name, "[[:alpha:]]*");
    EXPECT_EQ(parse_function_glob("snd-hda:a*").module, "snd-hda");
    EXPECT_EQ(parse_function_glob("snd-hda:a*").name, "a*");
    EXPECT_EQ(parse_function_glob(":a").name, ":a");
}

// What is kept for a pattern is enough to number, to judge, and to see that nothing is hidden.
TEST(FunctionList, OfTheSymbolsItNeedsItIsTheSame) {
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / fmt::format("kallsyms.{}", getpid());
    std::ofstream(path) << usual;
    for (const char* text : {"*", "vfs_*", "helper", "ext4:*", "do_int3*", "nothing*"}) {
        const FunctionGlob glob = parse_function_glob(text);
        const Kallsyms some = load_symbols(glob, path.string());
        EXPECT_FALSE(some.addresses_hidden()) << text;
        std::string lines;
        list_functions(glob, some, blacklist(blacklisted),
                       [&](const NumberedFunction& function, Obstacle obstacle) {
                           append_function(lines, listed_name(function), function, obstacle, false);
                       });
        std::string expected;
        list_functions(glob, symbols(usual), blacklist(blacklisted),
                       [&](const NumberedFunction& function, Obstacle obstacle) {
                           append_function(expected, listed_name(function), function, obstacle,
                                           false);
                       });
        EXPECT_EQ(lines, expected) << text;
    }
    EXPECT_EQ(load_symbols(parse_function_glob("vfs_*"), path.string()).size(),
              6U + 6U); // with bounds
    std::ofstream(path) << "no symbols\n";
    EXPECT_THROW(load_symbols(parse_function_glob("vfs_*"), path.string()), Error);
    std::filesystem::remove(path);
}

TEST(FunctionList, HiddenAddressesLeaveTheNames) {
    const Listed all = list("*", hidden(usual));
    // Where they lie isn't known, so only names tell.
    EXPECT_EQ(all.refused, (Names{"vfs_write.cold: cold", "work.constprop.0.cold: cold",
                                  "__pfx_helper: padding", "do_int3: blacklisted:"}));
    EXPECT_EQ(std::count(all.probed.begin(), all.probed.end(), "helper"), 2);
}

TEST(FunctionList, WithoutABlacklistAllIsListed) {
    EXPECT_EQ(list("do_int3*", usual, "").probed, (Names{"do_int3", "do_int3_alias"}));
}

// All of one name, and one blacklisted range around many others: nothing here is quadratic.
TEST(FunctionList, IsFastWhateverTheNames) {
    constexpr int count = 100'000;
    std::string text;
    std::string black;
    for (int i = 0; i < count; i++)
        text += fmt::format("{:016x} t same\n", 0xffffffff81000000 + static_cast<unsigned>(i) * 16);
    for (int i = 0; i < count; i++)
        text += fmt::format("{:016x} t function_{}\n",
                            0xffffffff82000000 + static_cast<unsigned>(i) * 16, i);
    for (int i = 0; i < 2000; i++)
        black += fmt::format("{0:#x}-{0:#x}\tname_{1}\n",
                             0xffffffff82000008 + static_cast<unsigned>(i) * 16, i);
    const std::clock_t begun = std::clock();
    const Listed all = list("*", text, black);
    const double seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
    EXPECT_EQ(all.probed.size(), 2U * count);
    EXPECT_EQ(all.probed[count - 1], fmt::format("same#{}", count));
    EXPECT_LT(seconds, 5) << "quadratic would be minutes";
}

std::string line(const NumberedFunction& function, Obstacle obstacle, bool is_hidden) {
    std::string out;
    append_function(out, listed_name(function), function, obstacle, is_hidden);
    return out;
}

TEST(ListLines, HaveColumnsWithTabsBetween) {
    NumberedFunction function{
        .symbol = {.address = 0xffffffff81000010, .name = "vfs_read", .module = {}}, .number = 0};
    EXPECT_EQ(line(function, Obstacle::none, false), "vfs_read\t\t0xffffffff81000010\n");
    EXPECT_EQ(line(function, Obstacle::freed, false),
              "vfs_read\t\t0xffffffff81000010\tran at boot, and its memory was given back since\n");
    function.number = 12;
    function.symbol.module = "ext4";
    function.symbol.address = 0;
    EXPECT_EQ(line(function, Obstacle::none, true), "vfs_read#12\text4\thidden\n");
    function.symbol.name = "a\x1b[31m";
    EXPECT_EQ(line(function, Obstacle::none, true), "a\\033[31m#12\text4\thidden\n");
}

TEST(ListOptions, Parsed) {
    EXPECT_EQ(parse_list_options({}).glob, "*");
    EXPECT_FALSE(parse_list_options({}).all);
    const ListOptions options = parse_list_options({"--all", "ext4:*"});
    EXPECT_TRUE(options.all);
    EXPECT_EQ(options.glob, "ext4:*");
    EXPECT_TRUE(parse_list_options({"vfs_*", "-a"}).all);
    EXPECT_TRUE(parse_list_options({"-h"}).help);
    EXPECT_EQ(parse_list_options({"--", "-x"}).glob, "-x");
    EXPECT_THROW(parse_list_options({"vfs_read", "vfs_write"}), UsageError);
    EXPECT_THROW(parse_list_options({"--al"}), UsageError);
    EXPECT_THROW(parse_list_options({"-x"}), UsageError);
}

Error nothing(const char* glob) {
    ListOptions options;
    options.glob = glob;
    const Kallsyms kallsyms = symbols(usual);
    const FunctionCount count =
        list_functions(parse_function_glob(glob), kallsyms, blacklist(blacklisted),
                       [](const NumberedFunction&, Obstacle) {});
    EXPECT_EQ(count.probed, 0U);
    return nothing_listed(options, count, kallsyms);
}

TEST(ListNothing, SaysWhatMayHaveBeenMeant) {
    for (const char* glob : {"vfs_raed", "do_int3", "xfs:*", "ext4:nothing", "*zzz*"})
        EXPECT_EQ(nothing(glob).exit_code(), 1) << glob;
    EXPECT_STREQ(nothing("vfs_raed").what(), "no function matches 'vfs_raed'");
    EXPECT_EQ(nothing("vfs_raed").hint(), "did you mean vfs_read?");
    EXPECT_EQ(nothing("vfs_raed*").hint(), "did you mean vfs_read?");
    EXPECT_EQ(nothing("ext4:ext4_sync_fiel").hint(), "did you mean ext4_sync_file?");
    EXPECT_NE(nothing("*zzz*").hint().find("inlined"), std::string::npos);
    EXPECT_STREQ(nothing("do_int3*").what(),
                 "none of the 2 functions that match 'do_int3*' can be probed");
    EXPECT_EQ(nothing("do_int3*").hint(), "see why: trapline list --all 'do_int3*'");
    EXPECT_NE(std::string(nothing("xfs:*").what()).find("xfs is not loaded"), std::string::npos);
}

} // namespace
