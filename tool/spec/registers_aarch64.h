// SPDX-License-Identifier: GPL-2.0
// arm64's registers: see spec/registers.h.
#pragma once

#include <array>

#include "spec/register.h"

namespace trapline::aarch64 {

constexpr std::array registers = std::to_array<Register>({
    {"x0", 0},   {"x1", 1},   {"x2", 2},   {"x3", 3},   {"x4", 4},      {"x5", 5},   {"x6", 6},
    {"x7", 7},   {"x8", 8},   {"x9", 9},   {"x10", 10}, {"x11", 11},    {"x12", 12}, {"x13", 13},
    {"x14", 14}, {"x15", 15}, {"x16", 16}, {"x17", 17}, {"x18", 18},    {"x19", 19}, {"x20", 20},
    {"x21", 21}, {"x22", 22}, {"x23", 23}, {"x24", 24}, {"x25", 25},    {"x26", 26}, {"x27", 27},
    {"x28", 28}, {"x29", 29}, {"x30", 30}, {"sp", 31},  {"pstate", 33},
});
constexpr std::uint32_t pt_regs_words = 34;
constexpr unsigned register_arguments = 8;
constexpr unsigned stack_skipped = 0;
constexpr Register result_register = {"x0", 0};
constexpr Register second_result_register = {"x1", 1};
constexpr std::string_view place_register = "pc";
constexpr Register stack_register = {"sp", 31};
constexpr Register caller_register = {"x30", 30};

} // namespace trapline::aarch64
