// SPDX-License-Identifier: GPL-2.0
// x86-64's registers: see spec/registers.h.
#pragma once

#include <array>

#include "spec/register.h"

namespace trapline::x86_64 {

constexpr std::array registers = std::to_array<Register>({
    {"rdi", 14},
    {"rsi", 13},
    {"rdx", 12},
    {"rcx", 11},
    {"r8", 9},
    {"r9", 8},
    {"rax", 10},
    {"rbx", 5},
    {"rbp", 4},
    {"rsp", 19},
    {"r10", 7},
    {"r11", 6},
    {"r12", 3},
    {"r13", 2},
    {"r14", 1},
    {"r15", 0},
    {"rflags", 18},
});
constexpr std::uint32_t pt_regs_words = 21;
constexpr unsigned register_arguments = 6;
constexpr unsigned stack_skipped = 1; // the return address
constexpr Register result_register = {"rax", 10};
constexpr Register second_result_register = {"rdx", 12};
constexpr std::string_view place_register = "rip";
constexpr Register stack_register = {"rsp", 19};
constexpr Register caller_register = stack_register; // on the stack

} // namespace trapline::x86_64
