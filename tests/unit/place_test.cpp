// SPDX-License-Identifier: GPL-2.0
// What an address belongs to: the image, modules, pages made at run time, nothing.
#include "symbols/place.h"

#include <gtest/gtest.h>
#include <sstream>

using namespace trapline;

namespace {

constexpr const char* usual = "0000000000000000 A fixed_percpu_data\n"
                              "ffffffff81000000 T _text\n"
                              "ffffffff81000040 T ftrace_caller\n"
                              "ffffffff81000140 t helper\n"
                              "ffffffff82000000 B _end\n"
                              "ffffffffc0102100 t second\t[ext4]\n"
                              "ffffffffc0102000 t first\t[ext4]\n"
                              "ffffffffc0103000 d table\t[ext4]\n"
                              "ffffffffc0301000 t ftrace_trampoline\t[__builtin__ftrace]\n"
                              "ffffffffc0303000 t kprobe_insn_page\t[__builtin__kprobes]\n"
                              "ffffffffc0305000 t kprobe_optinsn_page\t[__builtin__kprobes]\n"
                              "ffffffffc0306000 t bpf_trampoline_1\t[bpf]\n";

std::string place(std::uint64_t address, const char* text = usual) {
    std::istringstream kallsyms(text);
    const auto found = find_place(address, kallsyms);
    return found ? found->text() : "none";
}

TEST(Place, InTheKernelImage) {
    EXPECT_EQ(place(0xffffffff81000040), "ftrace_caller");
    EXPECT_EQ(place(0xffffffff8100013f), "ftrace_caller+0xff");
    EXPECT_EQ(place(0xffffffff81000140), "helper");
}

TEST(Place, InAModuleWhateverTheOrder) {
    EXPECT_EQ(place(0xffffffffc01020ff), "first+0xff [ext4]");
    EXPECT_EQ(place(0xffffffffc0102100), "second [ext4]");
}

TEST(Place, InAModulesLastFunctionWhereItsDataIsElsewhere) {
    const char* text = "ffffffffc0102000 t first\t[ext4]\n"
                       "ffffffffc0102100 t last\t[ext4]\n"
                       "ffffffffc0003000 d table\t[ext4]\n";
    EXPECT_EQ(place(0xffffffffc0102123, text), "last+0x23 [ext4]");
    EXPECT_EQ(place(0xffffffffc0103100, text), "none"); // a page behind it
}

TEST(Place, LabelsOfTheAssemblerAreNoPlaces) {
    const char* text = "ffffffff00520000 t last\t[lab]\n"
                       "ffffffff00520000 t $xrv64i2p1_m2p0\t[lab]\n"
                       "ffffffff0052003e t set\t[lab]\n"
                       "ffffffff0052007e t .L11\t[lab]\n"
                       "ffffffff00520080 t $d\t[lab]\n";
    EXPECT_EQ(place(0xffffffff00520086, text), "set+0x48 [lab]");
    EXPECT_EQ(place(0xffffffff00520002, text), "last+0x2 [lab]");
}

TEST(Place, InAPageMadeAtRunTime) {
    EXPECT_EQ(place(0xffffffffc0301000), "ftrace_trampoline [__builtin__ftrace]");
    EXPECT_EQ(place(0xffffffffc0305fff), "kprobe_optinsn_page+0xfff [__builtin__kprobes]");
    EXPECT_EQ(place(0xffffffffc0306010), "bpf_trampoline_1+0x10 [bpf]");
}

TEST(Place, BehindWhatIsKnownThereIsNone) {
    EXPECT_EQ(place(0xffffffff82000000), "none"); // nothing shows that the image goes on
    EXPECT_EQ(place(0xffffffffc0103000), "none");
    EXPECT_EQ(place(0xffffffffc0302000), "none"); // a page behind the trampoline's
    EXPECT_EQ(place(0xffffffffc0304000), "none");
    EXPECT_EQ(place(0xffffffffc0307000), "none");
    EXPECT_EQ(place(0xffffffff80000000, "ffffffff81000000 T _text\n"), "none");
}

TEST(Place, HiddenOrOddLinesHoldNothing) {
    EXPECT_EQ(place(0xffffffff81000040, "0000000000000000 T _text\n0000000000000000 T helper\n"
                                        "0000000000000000 t page\t[__builtin__kprobes]\n"),
              "none");
    EXPECT_EQ(place(0xffffffff81000040, ""), "none");
    EXPECT_EQ(place(0x50, "zz\n40\n40 T\n40 T a\n60 T b\n"), "a+0x10");
}

} // namespace
