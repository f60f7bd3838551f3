// SPDX-License-Identifier: GPL-2.0
// riscv64's registers: see spec/registers.h.
#pragma once

#include <array>

#include "spec/register.h"

namespace trapline::riscv64 {

constexpr std::array registers = std::to_array<Register>({
    {"a0", 10}, {"a1", 11}, {"a2", 12}, {"a3", 13},     {"a4", 14},  {"a5", 15},  {"a6", 16},
    {"a7", 17}, {"ra", 1},  {"sp", 2},  {"gp", 3},      {"tp", 4},   {"t0", 5},   {"t1", 6},
    {"t2", 7},  {"s0", 8},  {"s1", 9},  {"s2", 18},     {"s3", 19},  {"s4", 20},  {"s5", 21},
    {"s6", 22}, {"s7", 23}, {"s8", 24}, {"s9", 25},     {"s10", 26}, {"s11", 27}, {"t3", 28},
    {"t4", 29}, {"t5", 30}, {"t6", 31}, {"status", 32},
});
constexpr std::uint32_t pt_regs_words = 33;
constexpr unsigned register_arguments = 8;
constexpr unsigned stack_skipped = 0;
constexpr Register result_register = {"a0", 10};
constexpr Register second_result_register = {"a1", 11};
constexpr std::string_view place_register = "pc";
constexpr Register stack_register = {"sp", 2};
constexpr Register caller_register = {"ra", 1};

} // namespace trapline::riscv64
