// SPDX-License-Identifier: GPL-2.0
// What return addresses lead back into: on the machine itself, and by a recording's description.
#include "symbols/caller.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <vector>

#include "recording_fixture.h"
#include "trace/recorded_callers.h"

using namespace trapline;
using namespace trapline::test;

namespace {

constexpr const char* usual = "0000000000000000 A fixed_percpu_data\n"
                              "0000000000001000 A cpu_debug_store\n"
                              "ffffffff81000000 T _text\n"
                              "ffffffff81000000 T _stext\n"
                              "ffffffff81000040 T do_syscall_64\n"
                              "ffffffff81000040 T its_alias\n"
                              "ffffffff81000100 t helper\n"
                              "ffffffff81000200 D data\n"
                              "ffffffff81000300 B _end\n"
                              "ffffffffc0102000 t first\t[ext4]\n"
                              "ffffffffc0102100 t last\t[ext4]\n"
                              "ffffffffc0103000 d table\t[ext4]\n";

class CallersTest : public testing::Test {
protected:
    static Kallsyms load(const std::string& text) {
        std::istringstream stream(text);
        return Kallsyms(stream);
    }

    Callers callers{load(usual),
                    [this](std::uint64_t address) {
                        asked.push_back(address);
                        return elsewhere;
                    },
                    [this] {
                        times_asked++;
                        return newer.empty() ? std::nullopt : std::optional(load(newer));
                    }};
    std::optional<Place> elsewhere;
    std::vector<std::uint64_t> asked;
    std::string newer;
    unsigned times_asked = 0;
};

TEST_F(CallersTest, InTheKernelAndInModules) {
    EXPECT_EQ(callers.name(0xffffffff81000041), "do_syscall_64+0x1");
    EXPECT_EQ(callers.name(0xffffffffc01020ff), "first+0xff [ext4]");
    EXPECT_EQ(callers.find(0xffffffff81000041)->size, 0xc0U);
    EXPECT_TRUE(asked.empty());
}

// A function that ends in a call which never returns.
TEST_F(CallersTest, AReturnAddressMayLieBehindItsFunction) {
    EXPECT_EQ(callers.name(0xffffffff81000100), "do_syscall_64+0xc0");
    EXPECT_EQ(callers.name(0xffffffff81000101), "helper+0x1");
}

TEST_F(CallersTest, WhatIsNotKnownIsLookedForOnce) {
    elsewhere = Place{"bpf_prog_1", "bpf", 0x1f};
    EXPECT_EQ(callers.name(0xffffffffc0200020), "bpf_prog_1+0x20 [bpf]");
    EXPECT_EQ(callers.name(0xffffffffc0200020), "bpf_prog_1+0x20 [bpf]");
    EXPECT_EQ(callers.find(0xffffffffc0200020)->size, 0x20U);
    elsewhere = std::nullopt;
    EXPECT_EQ(callers.name(0xffffffffc0300000), "0xffffffffc0300000");
    EXPECT_EQ(asked, (std::vector<std::uint64_t>{0xffffffffc020001f, 0xffffffffc02fffff}));
}

TEST_F(CallersTest, HiddenAddressesHaveNoNames) {
    Callers hidden(load("0000000000000000 T _text\n0000000000000000 T helper\n"),
                   [this](std::uint64_t) { return elsewhere; });
    elsewhere = Place{"helper", "", 0};
    EXPECT_EQ(hidden.name(0xffffffff81000041), "0xffffffff81000041");
    EXPECT_EQ(hidden.symbol_name(0xffffffff81000041), "0xffffffff81000041");
}

TEST_F(CallersTest, SymbolsAreFunctionsAndData) {
    EXPECT_EQ(callers.symbol_name(0xffffffff81000040), "do_syscall_64");
    EXPECT_EQ(callers.symbol_name(0xffffffff81000041), "do_syscall_64+0x1");
    EXPECT_EQ(callers.symbol_name(0xffffffff81000100), "helper") << "no call is looked for";
    EXPECT_EQ(callers.symbol_name(0xffffffff81000210), "data+0x10");
    EXPECT_EQ(callers.symbol_name(0xffffffffc01020ff), "first+0xff [ext4]");
    EXPECT_EQ(callers.symbol_name(0xffffffffc0102100), "last [ext4]");
    EXPECT_EQ(callers.symbol_name(0xffffffffc0102110), "last+0x10 [ext4]") << "on its page";
    EXPECT_EQ(callers.symbol_name(0xffffffffc0103000), "table [ext4]");
    EXPECT_EQ(callers.find_symbol(0xffffffff81000041)->size, 0xc0U);
    EXPECT_EQ(callers.find_symbol(0xffffffffc0102110)->size, 0x11U);
    EXPECT_TRUE(asked.empty());
}

TEST_F(CallersTest, WhatNoSymbolFitsIsAnAddress) {
    EXPECT_EQ(callers.symbol_name(0), "0x0");
    EXPECT_EQ(callers.symbol_name(0x1010), "0x1010") << "an offset of per-CPU data";
    EXPECT_EQ(callers.symbol_name(0xffff888003c5a000), "0xffff888003c5a000");
    EXPECT_EQ(times_asked, 0U) << "no module is there";
    EXPECT_EQ(callers.symbol_name(0xffffffff81000301), "0xffffffff81000301") << "behind the end";
    EXPECT_EQ(callers.symbol_name(0xffffffffc0103001), "0xffffffffc0103001");
    EXPECT_EQ(callers.symbol_name(0xfffffffffffffff2), "0xfffffffffffffff2");
}

// From 6.4 on a module's data may be below its text, and what is between may be another's.
TEST_F(CallersTest, DataOfModulesDoesNotReachToTheirText) {
    Callers apart(
        load("ffffffff81000000 T _stext\n"
             "ffffffffc0102000 d table\t[a]\n"
             "ffffffffc0102040 d a_last\t[a]\n"
             "ffffffffc0202000 t a_first\t[a]\n"
             "ffffffffc0202040 t near\t[a]\n"
             "ffffffffc0202080 d data\t[a]\n"),
        [](std::uint64_t) { return std::nullopt; }, [] { return std::nullopt; });
    EXPECT_EQ(apart.symbol_name(0xffffffffc010203f), "table+0x3f [a]");
    EXPECT_EQ(apart.symbol_name(0xffffffffc0102048), "a_last+0x8 [a]");
    EXPECT_EQ(apart.find_symbol(0xffffffffc0102048)->size, 9U);
    EXPECT_EQ(apart.symbol_name(0xffffffffc0151000), "0xffffffffc0151000");
    EXPECT_EQ(apart.symbol_name(0xffffffffc020207f), "near+0x3f [a]");
    EXPECT_EQ(apart.symbol_name(0xffffffffc0202081), "0xffffffffc0202081");
}

// As without CONFIG_KALLSYMS_ALL.
TEST_F(CallersTest, DataThatIsNotListedIsInNoFunction) {
    Callers text(
        load("ffffffff81000000 T _stext\n"
             "ffffffff81000040 t f\n"
             "ffffffff81000100 T _etext\n"
             "ffffffff81800000 T _sinittext\n"
             "ffffffff81800010 t init\n"
             "ffffffff81800020 T _einittext\n"),
        [](std::uint64_t) { return std::nullopt; }, [] { return std::nullopt; });
    EXPECT_EQ(text.symbol_name(0xffffffff810000ff), "f+0xbf");
    EXPECT_EQ(text.symbol_name(0xffffffff81000100), "_etext");
    EXPECT_EQ(text.symbol_name(0xffffffff81400000), "0xffffffff81400000");
    EXPECT_EQ(text.symbol_name(0xffffffff81800012), "init+0x2");
    Callers all(
        load("ffffffff81000000 T _stext\n"
             "ffffffff81000100 T _etext\n"
             "ffffffff81000100 D _sdata\n"
             "ffffffff81000200 D table\n"),
        [](std::uint64_t) { return std::nullopt; }, [] { return std::nullopt; });
    EXPECT_EQ(all.symbol_name(0xffffffff81000110), "_sdata+0x10");
}

TEST_F(CallersTest, SymbolsOfModulesThatCameSince) {
    EXPECT_EQ(callers.symbol_name(0xffffffffc0300010), "0xffffffffc0300010");
    EXPECT_EQ(times_asked, 1U);
    newer = "ffffffffc0300000 t late\t[lately]\n";
    EXPECT_EQ(callers.symbol_name(0xffffffffc0300010), "late+0x10 [lately]");
    EXPECT_EQ(times_asked, 2U);
    EXPECT_EQ(callers.symbol_name(0xffffffffc0300000), "late [lately]");
    EXPECT_EQ(callers.symbol_name(0xffffffffc0102000), "first [ext4]") << "gone, and still known";
    EXPECT_EQ(times_asked, 2U);
}

TEST_F(CallersTest, SymbolsThatAreHiddenAreNotTaken) {
    newer = "ffffffffc0300000 t late\t[lately]\n";
    EXPECT_EQ(callers.symbol_name(0xffffffffc0300010), "late+0x10 [lately]");
    newer = "0000000000000000 T _stext\n0000000000000000 t late\t[lately]\n";
    EXPECT_EQ(callers.symbol_name(0xffffffffc0400000), "0xffffffffc0400000");
    EXPECT_EQ(times_asked, 2U);
    EXPECT_EQ(callers.symbol_name(0xffffffffc0300010), "late+0x10 [lately]");
}

TEST(NewerSymbols, AreThoseOfOtherModulesOrPlaces) {
    const TempDir dir;
    const auto write = [&](const char* text) { std::ofstream(dir / "modules") << text; };
    std::ofstream(dir / "kallsyms") << "ffffffffc0300000 t late\t[lately]\n";
    write("ext4 1024 3 - Live 0xffffffffc0102000\n");
    NewerSymbols newer(dir / "modules", dir / "kallsyms");
    EXPECT_FALSE(newer());
    write("ext4 1024 4 lately, Live 0xffffffffc0102000\n");
    EXPECT_FALSE(newer()) << "what uses it is no matter";
    write("ext4 1024 4 lately, Live 0xffffffffc0108000\n");
    const auto moved = newer();
    ASSERT_TRUE(moved) << "unloaded, and loaded again";
    EXPECT_EQ(moved->size(), 1U);
    EXPECT_FALSE(newer());
    write("");
    EXPECT_TRUE(newer());
}

TEST(RecordedCallers, SymbolsByTheDescription) {
    const std::vector<SymbolDescription> symbols{{0xffffffffc0102000, "ext4:first", 0x100},
                                                 {0xffffffff81000040, "do_syscall_64", 0xc0}};
    const RecordedCallers callers(symbols);
    EXPECT_EQ(callers.symbol_name(0xffffffff81000040), "do_syscall_64");
    EXPECT_EQ(callers.symbol_name(0xffffffff81000041), "do_syscall_64+0x1");
    EXPECT_EQ(callers.symbol_name(0xffffffff81000100), "0xffffffff81000100");
    EXPECT_EQ(callers.symbol_name(0xffffffffc0102000), "first [ext4]");
    EXPECT_EQ(callers.symbol_name(0), "0x0");
}

TEST(RecordedCallers, ByTheDescription) {
    const std::vector<SymbolDescription> symbols{{0xffffffffc0102000, "ext4:first", 0x100},
                                                 {0xffffffff81000000, "probed", 0},
                                                 {0xffffffff81000040, "do_syscall_64", 0xc0}};
    const RecordedCallers callers(symbols);
    EXPECT_EQ(callers.name(0xffffffff81000041), "do_syscall_64+0x1");
    EXPECT_EQ(callers.name(0xffffffff81000100), "do_syscall_64+0xc0") << "behind its last call";
    EXPECT_EQ(callers.name(0xffffffff81000101), "0xffffffff81000101");
    EXPECT_EQ(callers.name(0xffffffff81000040), "0xffffffff81000040") << "no call is before it";
    EXPECT_EQ(callers.name(0xffffffff81000001), "0xffffffff81000001") << "of unknown size";
    EXPECT_EQ(callers.name(0xffffffffc0102010), "first+0x10 [ext4]");
    EXPECT_EQ(callers.name(0), "0x0");
    EXPECT_EQ(RecordedCallers({}).name(0x10), "0x10");
}

} // namespace
