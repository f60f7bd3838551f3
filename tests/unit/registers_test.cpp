// SPDX-License-Identifier: GPL-2.0
// The tables of registers, of each machine: names and places are told apart, and arguments and
// results are where the calling conventions have them.
#include <gtest/gtest.h>
#include <set>

#include "spec/registers_aarch64.h"
#include "spec/registers_riscv64.h"
#include "spec/registers_x86_64.h"

namespace {

using namespace trapline;

template <class Table>
void expect_told_apart(const Table& table, std::uint32_t words) {
    std::set<std::string_view> names;
    std::set<std::uint32_t> places;
    for (const Register& known : table) {
        EXPECT_TRUE(names.insert(known.name).second) << known.name;
        EXPECT_TRUE(places.insert(known.word).second) << known.name;
        EXPECT_LT(known.word, words) << known.name;
    }
}

TEST(Registers, AreToldApart) {
    expect_told_apart(x86_64::registers, x86_64::pt_regs_words);
    expect_told_apart(aarch64::registers, aarch64::pt_regs_words);
    expect_told_apart(riscv64::registers, riscv64::pt_regs_words);
}

// struct pt_regs: of arm64 x0 to x30, sp, pc, pstate; of riscv64 epc, ra, sp, gp, tp, t0 to t2, s0,
// s1, a0 to a7, ...
TEST(Registers, ThatCarryArgumentsComeFirst) {
    for (std::uint32_t n = 0; n < 8; n++) {
        EXPECT_EQ(aarch64::registers[n].name, "x" + std::to_string(n));
        EXPECT_EQ(aarch64::registers[n].word, n);
        EXPECT_EQ(riscv64::registers[n].name, "a" + std::to_string(n));
        EXPECT_EQ(riscv64::registers[n].word, 10 + n);
    }
    EXPECT_EQ(aarch64::register_arguments, 8U);
    EXPECT_EQ(riscv64::register_arguments, 8U);
    EXPECT_EQ(x86_64::register_arguments, 6U);
    EXPECT_EQ(riscv64::second_result_register.word, 11U);
    EXPECT_EQ(aarch64::second_result_register.word, 1U);
    EXPECT_EQ(x86_64::second_result_register.word, 12U);
}

} // namespace
