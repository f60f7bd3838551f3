// SPDX-License-Identifier: GPL-2.0
// x86-64's registers as a probe's handler finds them: words of struct pt_regs.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace trapline {

struct Register {
    std::string_view name;
    std::uint32_t word; // of struct pt_regs
};

// Words in struct pt_regs, for tl_verify(). x86-64's: of other machines the place of a register
// isn't known here.
constexpr std::uint32_t pt_regs_words = 21;

// Of a function's arguments, those in registers: the first six, in this order.
constexpr unsigned register_arguments = 6;

// Those that carry arguments come first. No rip: where a probe is, it is always the same.
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

} // namespace trapline
