// SPDX-License-Identifier: GPL-2.0
// Traps told apart by their bytes, where they lead, and instructions as text.
#include "disassembly/disassembler.h"

#include <gtest/gtest.h>
#include <initializer_list>
#include <vector>

#include "disassembly/trap.h"

using namespace trapline;

namespace {

std::vector<std::byte> code(std::initializer_list<unsigned> values) {
    std::vector<std::byte> bytes;
    for (const unsigned value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

constexpr std::uint64_t at = 0xffffffff81366a00;

TEST(Trap, Breakpoint) {
    const Trap trap = read_trap(at, code({0xcc, 0x56, 0x41}));
    EXPECT_EQ(trap.technique, Technique::breakpoint);
    EXPECT_EQ(trap.size, 1U);
    EXPECT_FALSE(trap.target);
    EXPECT_EQ(read_trap(at, code({0xcc})).technique, Technique::breakpoint);
}

TEST(Trap, JumpsAndCallsLeadFromTheirEnd) {
    const Trap jump = read_trap(at, code({0xe9, 0xfb, 0x0f, 0x00, 0x00, 0x90}));
    EXPECT_EQ(jump.technique, Technique::jump);
    EXPECT_EQ(jump.size, 5U);
    EXPECT_EQ(jump.target, at + 0x1000);
    const Trap call = read_trap(at, code({0xe8, 0xfb, 0xff, 0xff, 0xff}));
    EXPECT_EQ(call.technique, Technique::call);
    EXPECT_EQ(call.target, at); // 5 bytes back
}

TEST(Trap, FarTargetsWrapAsTheCpuDoes) {
    EXPECT_EQ(read_trap(at, code({0xe9, 0xff, 0xff, 0xff, 0x7f})).target, at + 5 + 0x7fffffff);
    EXPECT_EQ(read_trap(at, code({0xe8, 0x00, 0x00, 0x00, 0x80})).target, at + 5 - 0x80000000);
    EXPECT_EQ(read_trap(0xfffffffffffffff0, code({0xe9, 0x10, 0x00, 0x00, 0x00})).target, 5U);
}

TEST(Trap, WhatIsNone) {
    EXPECT_EQ(read_trap(at, {}).technique, Technique::none);
    EXPECT_EQ(read_trap(at, code({0x0f, 0x1f, 0x44, 0x00, 0x00})).technique, Technique::none);
    // Cut off where the text ends.
    EXPECT_EQ(read_trap(at, code({0xe9, 0x00, 0x00, 0x00})).technique, Technique::none);
    EXPECT_FALSE(read_trap(at, code({0xe8, 0x00, 0x00, 0x00})).target);
}

TEST(Disassembler, WritesAsOopsesAndObjdumpDo) {
    const auto disassembler = make_disassembler();
    if (!disassembler)
        GTEST_SKIP() << "built without libcapstone";
    const auto push = disassembler->first(at, code({0x41, 0x56, 0x41, 0x55}));
    ASSERT_TRUE(push);
    EXPECT_EQ(push->size, 2U);
    EXPECT_NE(push->text.find(" %r14"), std::string::npos) << push->text;
    // Source before destination.
    const auto move = disassembler->first(at, code({0x48, 0x89, 0xfb}));
    ASSERT_TRUE(move);
    EXPECT_EQ(move->size, 3U);
    EXPECT_EQ(move->text, "movq %rdi, %rbx");
    EXPECT_EQ(disassembler->first(at, code({0xcc}))->text, "int3");
}

TEST(Disassembler, KnowsWhereTheInstructionIs) {
    const auto disassembler = make_disassembler();
    if (!disassembler)
        GTEST_SKIP() << "built without libcapstone";
    const auto jump = disassembler->first(at, code({0xe9, 0xfb, 0x0f, 0x00, 0x00}));
    ASSERT_TRUE(jump);
    EXPECT_EQ(jump->text, "jmp 0xffffffff81367a00");
}

TEST(Disassembler, WantsAWholeInstruction) {
    const auto disassembler = make_disassembler();
    if (!disassembler)
        GTEST_SKIP() << "built without libcapstone";
    EXPECT_FALSE(disassembler->first(at, {}));
    EXPECT_FALSE(disassembler->first(at, code({0xe9, 0xfb, 0x0f})));
    EXPECT_FALSE(disassembler->first(at, code({0x06}))); // not in 64-bit mode
}

} // namespace
