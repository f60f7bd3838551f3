// SPDX-License-Identifier: GPL-2.0
// From a probe to a place in the kernel, and every reason why there may be none.
#include "spec/resolve.h"

#include <gtest/gtest.h>
#include <sstream>

#include "util/error.h"

using namespace trapline;

namespace {

Kallsyms symbols(const std::string& text) {
    std::istringstream stream(text);
    return Kallsyms(stream);
}

Blacklist blacklist(const std::string& text = {}) {
    std::istringstream stream(text);
    return Blacklist(stream);
}

constexpr const char* kernel = "ffffffff81000000 T vfs_read\n"
                               "ffffffff81000080 T vfs_write\n"
                               "ffffffff81000100 t helper\n"
                               "ffffffff81000120 t inlined.isra.0\n"
                               "ffffffff81000160 t inlined.cold\n"
                               "ffffffff81000180 t helper\n"
                               "ffffffff810001c0 t twice\n"
                               "ffffffff810001c0 t twice\n"
                               "ffffffff81000200 t do_int3\n"
                               "ffffffff81000280 t shared\n"
                               "ffffffff81000300 T end_of_text\n"
                               "ffffffff81000400 D jiffies\n"
                               "ffffffff81000500 T _sinittext\n"
                               "ffffffff81000500 T start_kernel\n"
                               "ffffffff81000600 T _einittext\n"
                               "ffffffffc0001000 t shared\t[ext4]\n"
                               "ffffffffc0001100 t ext4_sync_file\t[ext4]\n"
                               "ffffffffc0001180 t ext4_last\t[ext4]\n";

ResolvedProbe place(const char* probe, const char* text = kernel) {
    return resolve(parse_probe(probe), symbols(text), blacklist());
}

struct Refusal {
    std::string what;
    std::string hint;
};

Refusal refusal(const char* probe, const char* text = kernel, const char* blacklisted = "") {
    try {
        resolve(parse_probe(probe), symbols(text), blacklist(blacklisted));
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_code(), 125);
        EXPECT_FALSE(error.hint().empty());
        return {error.what(), error.hint()};
    }
    return {"accepted", ""};
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST(Resolve, FunctionOfTheKernel) {
    const ResolvedProbe probe = place("vfs_read");
    EXPECT_EQ(probe.symbol, "vfs_read");
    EXPECT_EQ(probe.offset, 0U);
    EXPECT_EQ(probe.address, 0xffffffff81000000U);
    EXPECT_EQ(probe.function_size, 0x80U);
    EXPECT_EQ(place("kernel:vfs_read").symbol, "vfs_read");
}

TEST(Resolve, FunctionOfAModule) {
    EXPECT_EQ(place("ext4:ext4_sync_file").symbol, "ext4:ext4_sync_file");
    // The module is named to the kernel even if the user didn't.
    EXPECT_EQ(place("ext4_sync_file").symbol, "ext4:ext4_sync_file");
    EXPECT_EQ(place("ext4_sync_file").address, 0xffffffffc0001100U);
}

TEST(Resolve, OffsetIsPartOfTheAddress) {
    const ResolvedProbe probe = place("vfs_read+0x1c/0x80");
    EXPECT_EQ(probe.symbol, "vfs_read");
    EXPECT_EQ(probe.offset, 0x1cU);
    EXPECT_EQ(probe.address, 0xffffffff8100001cU);
}

TEST(Resolve, UnknownFunctionComesWithSuggestions) {
    const Refusal r = refusal("kprobe:vfs_raed");
    EXPECT_EQ(r.what, "probe 'kprobe:vfs_raed': there is no function vfs_raed in this kernel");
    EXPECT_TRUE(contains(r.hint, "did you mean vfs_read?")) << r.hint;
    EXPECT_FALSE(contains(refusal("zzzzzz").hint, "did you mean"));
}

TEST(Resolve, ClonesAreNamed) {
    const Refusal r = refusal("inlined");
    EXPECT_EQ(r.what, "probe 'inlined': there is no function inlined in this kernel: this kernel's "
                      "compiler inlined it or made clones of it");
    EXPECT_TRUE(contains(r.hint, "probe inlined.isra.0 instead")) << r.hint;
}

TEST(Resolve, DataIsNoFunction) {
    EXPECT_EQ(refusal("jiffies").what,
              "probe 'jiffies': jiffies is data (type D in kallsyms), not a function");
}

TEST(Resolve, ModuleThatIsNotLoaded) {
    const Refusal r = refusal("xfs:xfs_read");
    EXPECT_EQ(r.what, "probe 'xfs:xfs_read': the module xfs is not loaded");
    EXPECT_EQ(r.hint, "load it first: modprobe xfs");
    const Refusal builtin = refusal("fs:vfs_read");
    EXPECT_TRUE(contains(builtin.what, "the module fs is not loaded, or it is built into"));
    EXPECT_TRUE(contains(builtin.hint, "or trace vfs_read"));
    EXPECT_EQ(refusal("ext3:ext4_sync_file").hint.substr(0, 36),
              "did you mean ext4:ext4_sync_file? lo");
    EXPECT_EQ(refusal("kprobes:vfs_read").hint.substr(0, 32), "did you mean kprobe:vfs_read? lo");
}

TEST(Resolve, FunctionOfAnotherModule) {
    const Refusal r = refusal("ext4:vfs_read");
    EXPECT_EQ(r.what, "probe 'ext4:vfs_read': there is no function vfs_read in ext4");
    EXPECT_EQ(r.hint, "there is: vfs_read");
    EXPECT_EQ(refusal("kernel:ext4_sync_file").hint, "there is: ext4:ext4_sync_file");
}

TEST(Resolve, AmbiguousNamesAreListed) {
    const Refusal r = refusal("helper");
    EXPECT_EQ(r.what, "probe 'helper': 2 functions have this name:\n"
                      "    helper#1  0xffffffff81000100  kernel\n"
                      "    helper#2  0xffffffff81000180  kernel");
    EXPECT_EQ(r.hint, "choose one: helper#1 for the first by address, and so on");
    const Refusal mixed = refusal("shared");
    EXPECT_TRUE(contains(mixed.what, "shared#1  0xffffffff81000280  kernel\n"
                                     "    shared#2  0xffffffffc0001000  ext4"));
    EXPECT_TRUE(contains(mixed.hint, "MODULE:shared (kernel:shared for the kernel image)"));
}

TEST(Resolve, ChoosesAmongDuplicates) {
    EXPECT_EQ(place("helper#1").address, 0xffffffff81000100U);
    EXPECT_EQ(place("helper#2+4").address, 0xffffffff81000184U);
    EXPECT_EQ(place("vfs_read#1").address, 0xffffffff81000000U);
    EXPECT_EQ(place("kernel:shared").symbol, "shared");
    EXPECT_EQ(place("ext4:shared").symbol, "ext4:shared");
    EXPECT_EQ(place("shared#2").symbol, "ext4:shared");
    EXPECT_EQ(refusal("helper#3").what,
              "probe 'helper#3': there are only 2 functions of this name");
    EXPECT_EQ(refusal("vfs_read#2").what,
              "probe 'vfs_read#2': there is only one function of this name");
}

// The number is the one that list shows, in front of which a module says no more than where it is.
TEST(Resolve, ANumberIsTheSameBehindAModule) {
    const char* text = "ffffffff81000280 t shared\n"
                       "ffffffffc0001000 t shared\t[ext4]\n"
                       "ffffffffc0001100 t shared\t[ext4]\n"
                       "ffffffffc0002000 t shared\t[xfs]\n";
    EXPECT_EQ(place("ext4:shared#2", text).address, 0xffffffffc0001000U);
    EXPECT_EQ(place("ext4:shared#3", text).address, 0xffffffffc0001100U);
    EXPECT_EQ(place("xfs:shared#4", text).address, 0xffffffffc0002000U);
    EXPECT_EQ(place("kernel:shared#1", text).address, 0xffffffff81000280U);
    const Refusal elsewhere = refusal("ext4:shared#1", text);
    EXPECT_EQ(elsewhere.what, "probe 'ext4:shared#1': shared#1 is not in ext4: it is shared");
    EXPECT_TRUE(contains(elsewhere.hint, "the first is ext4:shared#2")) << elsewhere.hint;
    EXPECT_EQ(refusal("ext4:shared#5", text).what,
              "probe 'ext4:shared#5': there are only 4 functions of this name");
    const Refusal ambiguous = refusal("ext4:shared", text);
    EXPECT_TRUE(contains(ambiguous.what, "2 functions have this name:\n"
                                         "    shared#2  0xffffffffc0001000  ext4\n"
                                         "    shared#3  0xffffffffc0001100  ext4"))
        << ambiguous.what;
    EXPECT_EQ(ambiguous.hint, "choose one: ext4:shared#2 for the first by address, and so on");
}

TEST(Resolve, OneAddressListedTwiceIsNotAmbiguous) {
    EXPECT_EQ(place("twice").address, 0xffffffff810001c0U);
}

TEST(Resolve, SizeFromAnOopsTellsDuplicatesApart) {
    EXPECT_EQ(place("helper+0x4/0x20").address, 0xffffffff81000104U);
    EXPECT_EQ(place("helper+0x4/0x40").address, 0xffffffff81000184U);
    EXPECT_TRUE(contains(refusal("helper+0x4/0x30").what, "2 functions have this name"));
}

TEST(Resolve, OffsetOutsideOfTheFunction) {
    EXPECT_EQ(place("vfs_read+0x7f").offset, 0x7fU);
    const Refusal r = refusal("vfs_read+0x80");
    EXPECT_EQ(r.what, "probe 'vfs_read+0x80': the offset 0x80 is outside of vfs_read, which is "
                      "0x80 (128) bytes");
    EXPECT_TRUE(contains(refusal("vfs_read+0xffffffffffffffff").what, "outside"));
    // Where a module's last function ends isn't known.
    EXPECT_EQ(place("ext4_last+0x1000").address, 0xffffffffc0002180U);
}

TEST(Resolve, OopsFromAnotherBuild) {
    EXPECT_EQ(refusal("vfs_read+0x1c/0x90").what,
              "probe 'vfs_read+0x1c/0x90': this kernel's vfs_read is 0x80 bytes, not 0x90: the "
              "oops came from another build");
}

TEST(Resolve, InitFunctionsAreGone) {
    EXPECT_EQ(refusal("start_kernel").what, "probe 'start_kernel': start_kernel ran at boot and "
                                            "its memory was given back since");
}

// As `trapline list` has it: what boot gave back is more than the text in it.
TEST(Resolve, PlacesWhereNoProbeCanBe) {
    const char* text = "ffffffff81000000 T _stext\n"
                       "ffffffff81000010 t __pfx_work\n"
                       "ffffffff81000020 t work\n"
                       "ffffffff81000040 t work.cold\n"
                       "ffffffff81000080 T _etext\n"
                       "ffffffff81000100 t stray\n"
                       "ffffffff81001000 D __init_begin\n"
                       "ffffffff81001000 T _sinittext\n"
                       "ffffffff81002000 T _einittext\n"
                       "ffffffff81002010 t work_exit\n"
                       "ffffffff81003000 D __init_end\n";
    EXPECT_EQ(place("work", text).address, 0xffffffff81000020U);
    EXPECT_TRUE(contains(refusal("__pfx_work", text).what, "padding before a function"));
    EXPECT_TRUE(contains(refusal("stray", text).what, "outside of the kernel's text"));
    EXPECT_TRUE(contains(refusal("work_exit", text).what, "work_exit ran at boot"));
}

// A return probe there would overwrite what isn't a return address.
TEST(Resolve, ColdPartsHaveAnEntryOnly) {
    EXPECT_TRUE(contains(refusal("inlined.cold").what, "inlined.cold is the cold part"));
    EXPECT_TRUE(contains(refusal("kretprobe:inlined.cold").what, "no return that belongs to it"));
    EXPECT_EQ(refusal("inlined.cold").hint, "see when it is entered: kprobe:inlined.cold");
    EXPECT_EQ(place("kprobe:inlined.cold").address, 0xffffffff81000160U);
    EXPECT_EQ(place("inlined.cold+0x4").address, 0xffffffff81000164U);
}

TEST(Resolve, Blacklisted) {
    const char* list = "0xffffffff81000200-0xffffffff81000280\tdo_int3\n";
    const Refusal r = refusal("do_int3", kernel, list);
    EXPECT_TRUE(contains(r.what, "probe 'do_int3': do_int3 is blacklisted")) << r.what;
    EXPECT_TRUE(contains(r.hint, "/sys/kernel/debug/kprobes/blacklist")) << r.hint;
    EXPECT_TRUE(contains(refusal("do_int3+4", kernel, list).what, "is blacklisted"));
    EXPECT_EQ(refusal("shared#1", kernel, list).what, "accepted");
    EXPECT_EQ(refusal("helper#2", kernel, list).what, "accepted");
}

constexpr const char* hidden = "0000000000000000 T vfs_read\n"
                               "0000000000000000 t helper\n"
                               "0000000000000000 t helper\n"
                               "0000000000000000 t shared\n"
                               "0000000000000000 t shared\t[ext4]\n";

TEST(Resolve, HiddenAddressesGoByName) {
    const ResolvedProbe probe = place("vfs_read+0x1c/0x80", hidden);
    EXPECT_EQ(probe.symbol, "vfs_read");
    EXPECT_EQ(probe.offset, 0x1cU);
    EXPECT_EQ(probe.address, 0U);
    EXPECT_EQ(probe.function_size, 0U);
    EXPECT_EQ(place("ext4:shared", hidden).symbol, "ext4:shared");
    EXPECT_EQ(place("kernel:shared", hidden).symbol, "shared");
}

TEST(Resolve, HiddenAddressesMakeAmbiguousNamesUseless) {
    for (const char* probe : {"helper", "helper#1", "helper#2", "kernel:helper"}) {
        const Refusal r = refusal(probe, hidden);
        EXPECT_TRUE(contains(r.what, "2 functions have this name, and this kernel hides")) << probe;
        EXPECT_TRUE(contains(r.hint, "kptr_restrict")) << probe;
        EXPECT_TRUE(contains(r.hint, "--system-map")) << probe;
    }
    const Refusal r = refusal("shared", hidden);
    EXPECT_TRUE(contains(r.what, "(shared, ext4:shared)"));
    EXPECT_TRUE(contains(r.hint, "kptr_restrict"));
    EXPECT_FALSE(contains(r.hint, "--system-map")) << "modules are not in it";
}

TEST(Resolve, WhatASystemMapLeavesHiddenNeedsAnother) {
    const Refusal r = refusal("helper", "ffffffff81000000 T vfs_read\n"
                                        "0000000000000000 t helper\n"
                                        "0000000000000000 t helper\n");
    EXPECT_TRUE(contains(r.what, "2 functions have this name, and this kernel hides"));
    EXPECT_TRUE(contains(r.hint, "kptr_restrict"));
    EXPECT_FALSE(contains(r.hint, "--system-map"));
}

TEST(Resolve, HiddenAddressesAndTheBlacklist) {
    const char* list = "0x0000000000000000-0x0000000000000000\tvfs_read\n";
    EXPECT_TRUE(contains(refusal("vfs_read", hidden, list).what, "is blacklisted"));
}

} // namespace
