// SPDX-License-Identifier: GPL-2.0
// A guard decides as the program that it stands for, and stands for no other.
#include "mock_machine.h"

#include <gtest/gtest.h>

#include "shared/guard.h"

namespace {

constexpr __u64 edges[] = {
    0,          1,          2,          0x7f,       0x80,
    0x81,       0xff,       0x100,      0x7fff,     0x8000,
    0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
    ~0ULL >> 1, 1ULL << 63, ~0ULL - 1,  ~0ULL,      0xffffffff80000000,
};

constexpr tl_op comparisons[] = {TL_OP_JEQ, TL_OP_JNE,  TL_OP_JLT,
                                 TL_OP_JLE, TL_OP_JSLT, TL_OP_JSLE};

Program guarded(tl_insn load, tl_op compare, __u64 constant, bool first) {
    load.dst = 0;
    return {load, set(TL_OP_IMM, 1, constant),
            first ? jump(compare, 1, 0, 1) : jump(compare, 0, 1, 1), insn(TL_OP_REJECT),
            insn(TL_OP_ACCEPT)};
}

bool guards(const Program& program, tl_guard& guard) {
    return tl_guard_of(&guard, program.data(), static_cast<__u32>(program.size())) != 0;
}

TEST(Guard, DecidesAsTheProgramDoes) {
    unsigned passed = 0;
    unsigned rejected = 0;
    unsigned never = 0;
    for (const tl_op op : comparisons) {
        for (const __u8 size : {0, 1, 2, 4, 8}) {
            for (const __u8 flags : {0, TL_INSN_SIGNED}) {
                for (const __u64 constant : edges) {
                    for (const bool first : {false, true}) {
                        const Program p =
                            guarded(part(TL_OP_ARG, 2, size, flags), op, constant, first);
                        tl_guard guard{};
                        const bool there = guards(p, guard);
                        for (const __u64 value : edges) {
                            tl_regs regs{};
                            regs.arg[2] = value;
                            const bool expected = tl_run(p.data(), &regs, nullptr, nullptr) == 0;
                            ASSERT_EQ(there && tl_guard_passes(&guard, value), expected)
                                << op << " size " << +size << " flags " << +flags << " constant "
                                << constant << " value " << value << first;
                            (expected ? passed : rejected)++;
                        }
                        never += !there;
                    }
                }
            }
        }
    }
    EXPECT_GT(passed, 10000U);
    EXPECT_GT(rejected, 10000U);
    // Less than the least and more than the most, unsigned and signed, of ten kinds of values.
    EXPECT_EQ(never, 4U * 10);
}

TEST(Guard, OfNothingElse) {
    tl_guard guard{};
    const Program plain = guarded(part(TL_OP_REG, 2, 8), TL_OP_JLT, 5, false);
    EXPECT_TRUE(guards(plain, guard));
    const auto changed = [&](void (*change)(Program&)) {
        Program p = plain;
        change(p);
        return guards(p, guard);
    };
    EXPECT_FALSE(changed([](Program& p) { p.pop_back(); }));
    EXPECT_FALSE(changed([](Program& p) { p[0].op = TL_OP_TASK; }));
    EXPECT_FALSE(changed([](Program& p) { p[0].op = TL_OP_IMM; }));
    EXPECT_FALSE(changed([](Program& p) { p[1].op = TL_OP_ARG; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].op = TL_OP_JMP; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].op = TL_OP_PUT; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].jump = 2; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].a = 1; })) << "a constant with itself";
    EXPECT_FALSE(changed([](Program& p) { p[2].b = 0; }));
    EXPECT_FALSE(changed([](Program& p) { p[1].dst = 0; }));
    EXPECT_FALSE(changed([](Program& p) { p[3].op = TL_OP_ACCEPT; }));
}

} // namespace
