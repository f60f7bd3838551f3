// SPDX-License-Identifier: GPL-2.0
// The kernel's symbols: lookups, sizes, clones, near misses, hidden addresses; the blacklist.
#include "symbols/kallsyms.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "symbols/blacklist.h"
#include "util/error.h"

using namespace trapline;

namespace {

Kallsyms load(const std::string& text) {
    std::istringstream stream(text);
    return Kallsyms(stream);
}

constexpr const char* usual = "0000000000000000 A fixed_percpu_data\n"
                              "ffffffff81000000 T _text\n"
                              "ffffffff81000000 T startup\n"
                              "ffffffff81000040 T vfs_read\n"
                              "ffffffff81000140 t helper\n"
                              "ffffffff81000180 t do_work.isra.0\n"
                              "ffffffff810001c0 t do_work.constprop.0.cold\n"
                              "ffffffff810001e0 t do_workers\n"
                              "ffffffff81000200 W weak_one\n"
                              "ffffffff81000210 T vfs_write\n"
                              "ffffffff81000300 t helper\n"
                              "ffffffff81000400 D jiffies\n"
                              "ffffffffc0002000 t helper\t[snd_hda]\n"
                              "ffffffffc0001000 t first\t[snd_hda]\n"
                              "ffffffffc0003000 d table\t[snd_hda]\n"
                              "ffffffffc0004000 t bpf_prog_1_x\t[bpf]\n"
                              "ffffffffc0005000 t kprobe_insn_page\t[__builtin__kprobes]\n"
                              "ffffffffc0006000 t ftrace_trampoline\t[__builtin__ftrace]\n";

TEST(Kallsyms, FindsByName) {
    const Kallsyms kallsyms = load(usual);
    const auto found = kallsyms.find("vfs_read");
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].address, 0xffffffff81000040U);
    EXPECT_EQ(found[0].name, "vfs_read");
    EXPECT_EQ(found[0].module, "");
    EXPECT_EQ(found[0].type, 'T');
    EXPECT_TRUE(found[0].is_function());
    EXPECT_TRUE(kallsyms.find("vfs_rea").empty());
    EXPECT_TRUE(kallsyms.find("").empty());
    EXPECT_FALSE(kallsyms.addresses_hidden());
}

// Of arm64's and riscv64's modules.
TEST(Kallsyms, MarksBetweenCodeAndDataAreNoSymbols) {
    const Kallsyms kallsyms = load("ffff800080001000 t $x\t[netfs]\n"
                                   "ffff800080001000 t netfs_read\t[netfs]\n"
                                   "ffff800080001040 t $d\t[netfs]\n"
                                   "ffff800080001044 t $xrv64i2p1\t[netfs]\n"
                                   "ffff800080001048 t .L0\t[netfs]\n"
                                   "ffff800080001080 t netfs_write\t[netfs]\n");
    EXPECT_TRUE(kallsyms.find("$x").empty());
    EXPECT_TRUE(kallsyms.find(".L0").empty());
    ASSERT_EQ(kallsyms.find("netfs_read").size(), 1U);
    EXPECT_EQ(kallsyms.find("netfs_read")[0].size, 0x80U);
}

TEST(Kallsyms, SizeReachesTheNextHigherSymbol) {
    const Kallsyms kallsyms = load(usual);
    EXPECT_EQ(kallsyms.find("vfs_read")[0].size, 0x100U);
    // Two names of one place: both reach to the next place.
    EXPECT_EQ(kallsyms.find("_text")[0].size, 0x40U);
    EXPECT_EQ(kallsyms.find("startup")[0].size, 0x40U);
    EXPECT_EQ(kallsyms.find("jiffies")[0].size, 0U);
    // Modules aren't sorted, and end in data that is no neighbour.
    EXPECT_EQ(kallsyms.find("first")[0].size, 0x1000U);
    EXPECT_EQ(kallsyms.find("helper", "snd_hda")[0].size, 0U);
}

TEST(Kallsyms, SortsDuplicatesByAddress) {
    const Kallsyms kallsyms = load(usual);
    const auto found = kallsyms.find("helper");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].address, 0xffffffff81000140U);
    EXPECT_EQ(found[1].address, 0xffffffff81000300U);
    EXPECT_EQ(found[2].address, 0xffffffffc0002000U);
}

TEST(Kallsyms, ModuleNarrows) {
    const Kallsyms kallsyms = load(usual);
    EXPECT_EQ(kallsyms.find("helper", "kernel").size(), 2U);
    EXPECT_EQ(kallsyms.find("helper", "vmlinux").size(), 2U);
    ASSERT_EQ(kallsyms.find("helper", "snd-hda").size(), 1U);
    EXPECT_EQ(kallsyms.find("helper", "snd-hda")[0].module, "snd_hda");
    EXPECT_TRUE(kallsyms.find("helper", "snd").empty());
    EXPECT_TRUE(kallsyms.has_module("snd_hda"));
    EXPECT_TRUE(kallsyms.has_module("kernel"));
    EXPECT_FALSE(kallsyms.has_module("snd"));
    EXPECT_FALSE(kallsyms.has_module(""));
}

TEST(Kallsyms, KnowsDataFromFunctions) {
    const Kallsyms kallsyms = load(usual);
    EXPECT_FALSE(kallsyms.find("jiffies")[0].is_function());
    EXPECT_TRUE(kallsyms.find("weak_one")[0].is_function());
}

TEST(Kallsyms, LeavesOutWhatTheKernelGenerates) {
    const Kallsyms kallsyms = load(usual);
    EXPECT_EQ(kallsyms.size(), 15U);
    EXPECT_TRUE(kallsyms.find("bpf_prog_1_x").empty());
    EXPECT_TRUE(kallsyms.find("kprobe_insn_page").empty());
    EXPECT_TRUE(kallsyms.find("ftrace_trampoline").empty());
}

bool all(std::string_view) {
    return true;
}

// "name#number@address" of what is visited.
std::vector<std::string> visited(const Kallsyms& kallsyms, std::string_view module = {}) {
    std::vector<std::string> lines;
    kallsyms.for_each_function(module, all, [&](const NumberedFunction& function) {
        std::ostringstream line;
        line << function.symbol.name << '#' << function.number << '@' << std::hex
             << (function.symbol.address & 0xfffff);
        lines.push_back(line.str());
    });
    return lines;
}

TEST(Kallsyms, VisitsFunctionsByAddressWithTheirNumbers) {
    const Kallsyms kallsyms = load("ffffffff81000040 T one\n"
                                   "ffffffff81000050 t helper\n"
                                   "ffffffff81000050 t alias\n"
                                   "ffffffff81000050 t helper\n" // the same place again
                                   "ffffffff81000060 d helper\n" // data
                                   "ffffffff81000070 W helper\n"
                                   "ffffffffc0002000 t helper\t[b]\n"
                                   "ffffffffc0003000 t two\t[b]\n"
                                   "ffffffffc0001000 t helper\t[a]\n"
                                   "ffffffffc0001000 t helper\t[a]\n");
    using Lines = std::vector<std::string>;
    EXPECT_EQ(visited(kallsyms), (Lines{"one#0@40", "helper#1@50", "alias#0@50", "helper#2@70",
                                        "helper#3@1000", "helper#4@2000", "two#0@3000"}));
    EXPECT_EQ(visited(kallsyms, "b"), (Lines{"helper#4@2000", "two#0@3000"}));
    EXPECT_EQ(visited(kallsyms, "kernel"),
              (Lines{"one#0@40", "helper#1@50", "alias#0@50", "helper#2@70"}));
    EXPECT_EQ(visited(kallsyms, "c"), Lines{});
    EXPECT_EQ(visited(load("")), Lines{});
}

TEST(Kallsyms, NumbersDontDependOnWhatIsWanted) {
    const Kallsyms kallsyms = load("ffffffff81000040 T one\n"
                                   "ffffffff81000050 t helper\n"
                                   "ffffffff81000060 t two\n"
                                   "ffffffff81000070 t helper\n");
    std::vector<unsigned> numbers;
    kallsyms.for_each_function(
        {}, [](std::string_view name) { return name == "helper"; },
        [&](const NumberedFunction& function) {
            EXPECT_EQ(function.symbol.name, "helper");
            numbers.push_back(function.number);
        });
    EXPECT_EQ(numbers, (std::vector<unsigned>{1, 2}));
}

// Nothing tells those of one name apart then, so there is no number to give to trace.
TEST(Kallsyms, VisitsHiddenFunctionsWithoutNumbers) {
    const Kallsyms kallsyms = load("0000000000000000 T b\n"
                                   "0000000000000000 T a\n"
                                   "0000000000000000 d a\n"
                                   "0000000000000000 t b\t[m]\n");
    EXPECT_EQ(visited(kallsyms), (std::vector<std::string>{"b#0@0", "a#0@0", "b#0@0"}));
}

// By their symbols' numbers for_each_function() and find() agree.
TEST(Kallsyms, NumbersAreThoseOfFind) {
    const Kallsyms kallsyms = load(usual);
    const auto found = kallsyms.find("helper");
    unsigned seen = 0;
    kallsyms.for_each_function({}, all, [&](const NumberedFunction& function) {
        if (function.symbol.name != "helper")
            return;
        ASSERT_GE(function.number, 1U);
        ASSERT_LE(function.number, found.size());
        EXPECT_EQ(function.symbol.address, found[function.number - 1].address);
        EXPECT_EQ(function.symbol.size, found[function.number - 1].size);
        seen++;
    });
    EXPECT_EQ(seen, 3U);
}

TEST(Symbol, KnowsPaddingAndColdParts) {
    const auto named = [](std::string_view name) {
        Symbol symbol;
        symbol.name = name;
        return symbol;
    };
    for (const char* name : {"f.cold", "f.isra.0.cold", "f.cold.12"})
        EXPECT_TRUE(named(name).is_cold_part()) << name;
    for (const char* name : {"f", "cold", "f.colder", "f.isra.0", "f.part.1", "f.constprop.0"})
        EXPECT_FALSE(named(name).is_cold_part()) << name;
    EXPECT_TRUE(named("__pfx_vfs_read").is_padding());
    EXPECT_TRUE(named("__cfi_vfs_read").is_padding());
    EXPECT_FALSE(named("vfs_read").is_padding());
}

TEST(Kallsyms, FindsClones) {
    const Kallsyms kallsyms = load(usual);
    const auto found = kallsyms.clones("do_work");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].name, "do_work.isra.0");
    EXPECT_EQ(found[1].name, "do_work.constprop.0.cold");
    EXPECT_TRUE(load(usual).clones("do_work", "snd_hda").empty());
    EXPECT_TRUE(load(usual).clones("vfs_read").empty());
    EXPECT_TRUE(load("ffffffff81000000 t a.part.3\n").clones("a").size() == 1);
    EXPECT_TRUE(load("ffffffff81000000 t a.cold\n").clones("a").size() == 1);
    EXPECT_TRUE(load("ffffffff81000000 t a.b\n").clones("a").empty());
    EXPECT_TRUE(load("ffffffff81000000 d a.cold\n").clones("a").empty());
}

TEST(Kallsyms, SuggestsSimilarFunctions) {
    using Names = std::vector<std::string_view>;
    const Kallsyms kallsyms = load(usual);
    EXPECT_EQ(kallsyms.similar("vfs_raed"), Names{"vfs_read"});
    EXPECT_EQ(kallsyms.similar("helpr"), Names{"helper"}); // once, though there are three
    EXPECT_EQ(kallsyms.similar("jiffie"), Names{});        // data
    EXPECT_EQ(kallsyms.similar("zzzzzzzz"), Names{});
    EXPECT_EQ(kallsyms.similar(""), Names{});
    EXPECT_EQ(kallsyms.similar(std::string(10000, 'v')), Names{});
    EXPECT_EQ(kallsyms.similar("vfs_raed", "snd_hda"), Names{});
}

TEST(Kallsyms, SuggestsThreeAtMostTheBestFirst) {
    const Kallsyms kallsyms = load("ffffffff81000000 T ksys_raad\n"
                                   "ffffffff81000010 T __x64_sys_read\n"
                                   "ffffffff81000020 T sys_readlink\n"
                                   "ffffffff81000030 T sys_readahead_of_all\n"
                                   "ffffffff81000040 T __pfx___x64_sys_read\n");
    const std::vector<std::string_view> expected{"__x64_sys_read", "ksys_raad", "sys_readlink"};
    EXPECT_EQ(kallsyms.similar("sys_read"), expected);
}

TEST(Kallsyms, SeesThatAddressesAreHidden) {
    const Kallsyms kallsyms = load("0000000000000000 T a\n"
                                   "0000000000000000 T b\n"
                                   "0000000000000000 t b\t[m]\n");
    EXPECT_TRUE(kallsyms.addresses_hidden());
    EXPECT_EQ(kallsyms.find("b").size(), 2U);
    EXPECT_EQ(kallsyms.find("a")[0].address, 0U);
    EXPECT_EQ(kallsyms.find("a")[0].size, 0U);
}

TEST(Kallsyms, SkipsWhatIsNoSymbol) {
    const Kallsyms kallsyms = load("\n"
                                   "garbage\n"
                                   "ffff\n"
                                   "ffff T \n"
                                   " T x\n"
                                   "ffffffff81000000 T good\r\n"
                                   "ffffffff81000010 T last");
    EXPECT_EQ(kallsyms.size(), 2U);
    EXPECT_EQ(kallsyms.find("last").size(), 1U);
    EXPECT_EQ(load("").size(), 0U);
    EXPECT_FALSE(load("").addresses_hidden());
    EXPECT_TRUE(load("").find("x").empty());
}

// Lines cross the pieces that a file is read in, and a line may be longer than one.
TEST(Kallsyms, ReadsFilesOfAnySize) {
    const std::string path = testing::TempDir() + "kallsyms." + std::to_string(getpid());
    {
        std::ofstream file(path);
        for (int i = 0; i < 20000; i++)
            file << "ffffffff8" << std::to_string(1000000 + i) << " T function_" << i << '\n';
        file << "ffffffff90000000 T " << std::string(200000, 'x') << '\n';
        file << "ffffffff90000010 T end\n";
    }
    const Kallsyms kallsyms(path);
    std::remove(path.c_str());
    EXPECT_EQ(kallsyms.size(), 20001U); // no symbol has 200,000 characters
    for (int i = 0; i < 20000; i++)
        ASSERT_EQ(kallsyms.find("function_" + std::to_string(i)).size(), 1U) << i;
    EXPECT_EQ(kallsyms.find("end").size(), 1U);
}

TEST(Kallsyms, SaysWhyAFileIsNoUse) {
    try {
        const Kallsyms kallsyms(std::string("/nowhere/kallsyms"));
        FAIL();
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "cannot read the kernel's symbols from /nowhere/kallsyms: "
                                   "No such file or directory");
    }
    EXPECT_THROW(Kallsyms(std::string("/dev/null")), Error);
    EXPECT_THROW(Kallsyms(std::string("/")), Error);
}

Blacklist blacklist(const std::string& text) {
    std::istringstream stream(text);
    return Blacklist(stream);
}

// ---- System.map

constexpr const char* hidden_symbols = "0000000000000000 A per_cpu_start\n"
                                       "0000000000000000 T _stext\n"
                                       "0000000000000000 T vfs_read\n"
                                       "0000000000000000 t twice\n"
                                       "0000000000000000 t twice\n"
                                       "0000000000000000 t many\n"
                                       "0000000000000000 T _etext\n"
                                       "0000000000000000 D table\n"
                                       "0000000000000000 D _end\n"
                                       "0000000000000000 t twice\t[ext4]\n"
                                       "0000000000000000 t only\t[ext4]\n";
constexpr const char* map_of_it = "0000000000000000 D per_cpu_start\n"
                                  "ffffffff81000000 T _stext\n"
                                  "ffffffff81000100 T vfs_read\n"
                                  "ffffffff81000180 t twice\n"
                                  "ffffffff81000200 t twice\n"
                                  "ffffffff81000280 t many\n"
                                  "ffffffff81000290 t many\n"
                                  "ffffffff81000300 T _etext\n"
                                  "ffffffff81001000 D table\n"
                                  "ffffffff81002000 D _end\n";

TEST(SystemMap, GivesTheKernelImageItsAddresses) {
    Kallsyms kallsyms = load(hidden_symbols);
    EXPECT_TRUE(kallsyms.modules_hidden());
    kallsyms.take_addresses(load(map_of_it), 0x1000000);
    EXPECT_FALSE(kallsyms.addresses_hidden());
    EXPECT_TRUE(kallsyms.modules_hidden());
    EXPECT_EQ(kallsyms.find("vfs_read").at(0).address, 0xffffffff82000100U);
    EXPECT_EQ(kallsyms.find("vfs_read").at(0).size, 0x80U);
    const auto twice = kallsyms.find("twice", "kernel");
    ASSERT_EQ(twice.size(), 2U);
    EXPECT_EQ(twice[0].address, 0xffffffff82000180U);
    EXPECT_EQ(twice[1].address, 0xffffffff82000200U);
    EXPECT_EQ(kallsyms.find("twice", "ext4").at(0).address, 0U);
    EXPECT_EQ(kallsyms.find("many").at(0).address, 0U) << "which of the two isn't known";
    EXPECT_EQ(kallsyms.find("many").at(0).size, 0U);
    EXPECT_EQ(kallsyms.find("per_cpu_start").at(0).address, 0U);
    EXPECT_EQ(kallsyms.function_at(0xffffffff82000110)->name, "vfs_read");
    EXPECT_EQ(kallsyms.symbol_at(0xffffffff82001010)->name, "table");
    EXPECT_FALSE(kallsyms.symbol_at(0xffffffffc0000000));
}

TEST(SystemMap, NumbersNeedAllAddressesOfAName) {
    Kallsyms kallsyms = load(hidden_symbols);
    kallsyms.take_addresses(load(map_of_it), 0);
    std::vector<unsigned> numbers;
    const auto note = [&](const NumberedFunction& one) { numbers.push_back(one.number); };
    kallsyms.for_each_function(
        {}, [](std::string_view name) { return name == "twice"; }, note);
    EXPECT_EQ(numbers, (std::vector<unsigned>{0, 0, 0})) << "the module's may be before or behind";
    std::string text = hidden_symbols;
    text.resize(text.find("0000000000000000 t twice\t"));
    kallsyms = load(text);
    kallsyms.take_addresses(load(map_of_it), 0);
    numbers.clear();
    kallsyms.for_each_function(
        {}, [](std::string_view name) { return name == "twice"; }, note);
    EXPECT_EQ(numbers, (std::vector<unsigned>{1, 2}));
}

TEST(SystemMap, OfAnotherKernelIsRefused) {
    const auto refusal = [](std::string from, std::string to) {
        std::string map = map_of_it;
        map.replace(map.find(from), from.size(), to);
        Kallsyms kallsyms = load(hidden_symbols);
        try {
            kallsyms.take_addresses(load(map), 0);
        } catch (const Error& error) {
            EXPECT_TRUE(kallsyms.addresses_hidden());
            EXPECT_EQ(kallsyms.find("vfs_read").at(0).address, 0U);
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_EQ(refusal("T vfs_read", "T vfs_rread"), "the kernel that runs has 1 functions that are "
                                                    "not in it, such as vfs_read");
    EXPECT_EQ(refusal("T vfs_read", "D vfs_read"), "the kernel that runs has 1 functions that are "
                                                   "not in it, such as vfs_read");
    EXPECT_EQ(refusal("ffffffff81000100", "ffffffff81000190"),
              "in the kernel that runs twice is further up");
    EXPECT_EQ(refusal("D table", "D tabel"), "taken") << "not all data has to be listed";
}

TEST(SystemMap, AddressesThatAreShownStay) {
    Kallsyms kallsyms = load("ffffffff90000000 T vfs_read\n");
    kallsyms.take_addresses(load(map_of_it), 0);
    EXPECT_EQ(kallsyms.find("vfs_read").at(0).address, 0xffffffff90000000U);
}

TEST(Blacklist, FindsTheRangeOfAnAddress) {
    const Blacklist list = blacklist("0xffffffff81000000-0xffffffff81000040\tnotify_die\n"
                                     "0xffffffff81000100-0xffffffff81000140\tdo_int3\n");
    EXPECT_TRUE(list.known());
    EXPECT_EQ(list.find(0xffffffff81000000, ""), "notify_die");
    EXPECT_EQ(list.find(0xffffffff8100003f, ""), "notify_die");
    EXPECT_EQ(list.find(0xffffffff81000040, "notify_die"), std::nullopt);
    EXPECT_EQ(list.find(0xffffffff81000110, ""), "do_int3");
    EXPECT_EQ(list.find(0xffffffff80ffffff, ""), std::nullopt);
}

// A range may lie in another, and the file is in no order.
TEST(Blacklist, RangesMayOverlap) {
    const Blacklist list = blacklist("0xffffffff81000300-0xffffffff81000310\tlast\n"
                                     "0xffffffff81000000-0xffffffff81000200\twhole_section\n"
                                     "0xffffffff81000040-0xffffffff81000050\tinner\n"
                                     "0xffffffff81000060-0xffffffff81000060\tempty\n");
    EXPECT_EQ(list.find(0xffffffff81000048, ""), "inner");
    EXPECT_EQ(list.find(0xffffffff81000050, ""), "whole_section");
    EXPECT_EQ(list.find(0xffffffff81000060, ""), "whole_section");
    EXPECT_EQ(list.find(0xffffffff810001ff, ""), "whole_section");
    EXPECT_EQ(list.find(0xffffffff81000200, ""), std::nullopt);
    EXPECT_EQ(list.find(0xffffffff81000305, ""), "last");
}

TEST(Blacklist, FallsBackOnNames) {
    const Blacklist list = blacklist("0x0000000000000000-0x0000000000000000\tdo_int3\n");
    EXPECT_EQ(list.find(0, "do_int3"), "do_int3");
    EXPECT_EQ(list.find(0, "do_int"), std::nullopt);
}

TEST(Blacklist, IsUnknownWithoutItsFile) {
    const Blacklist missing(std::string("/nowhere/blacklist"));
    EXPECT_FALSE(missing.known());
    EXPECT_EQ(missing.find(1, "x"), std::nullopt);
    EXPECT_FALSE(blacklist("0x1\n0x1-\n0x1-0x2\n0x1-0xg\tx\nx\n\n").known());
}

TEST(Kallsyms, FindsTheFunctionAtAnAddress) {
    const Kallsyms kallsyms = load(usual);
    const auto name = [&](std::uint64_t address) {
        const auto found = kallsyms.function_at(address);
        return found ? std::string(found->name) : "none";
    };
    EXPECT_EQ(name(0xffffffff80ffffff), "none");
    EXPECT_EQ(name(0xffffffff81000000), "_text") << "the first of two names";
    EXPECT_EQ(name(0xffffffff8100003f), "_text");
    EXPECT_EQ(name(0xffffffff81000040), "vfs_read");
    EXPECT_EQ(name(0xffffffff8100013f), "vfs_read");
    EXPECT_EQ(name(0xffffffff81000140), "helper");
    EXPECT_EQ(name(0xffffffff810003ff), "helper");
    EXPECT_EQ(name(0xffffffff81000400), "none") << "data";
    EXPECT_EQ(name(0xffffffffc0001fff), "first");
    EXPECT_EQ(name(0xffffffffc0002000), "none") << "nothing says where the module's code ends";
    EXPECT_FALSE(load("0000000000000000 T a\n0000000000000000 T b\n").function_at(0).has_value());
}

} // namespace
