// SPDX-License-Identifier: GPL-2.0
// What differs between the machines that the guest tests run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/session.h"
#include "disassembly/trap.h"
#include "spec/registers.h"

namespace trapline::guest {

#if defined(__x86_64__)
constexpr bool entries_may_be_by_ftrace = true;
constexpr bool makes_jumps = true;             // of breakpoints
constexpr bool ftrace_sees_breakpoints = true; // its ring takes nothing from riscv64's NMIs
constexpr bool has_reservations = false;
constexpr unsigned ftrace_begin = 0; // behind where the entry's trap is,
constexpr unsigned ftrace_bytes = 5; // and how much of a function ftrace patches there
constexpr std::uint64_t kernel_begin = 0xffff800000000000;
constexpr std::uint32_t place_word = 16; // of struct pt_regs: the instruction pointer
constexpr std::uint32_t pt_regs_end = 21;
constexpr std::uint64_t kernel_largefile = 0100000;
// That no probe may be in, where no debugfs lists them.
constexpr const char* forbidden_functions[] = {"do_int3", "asm_exc_int3", "exc_double_fault",
                                               "kprobe_int3_handler", "get_kprobe"};
#elif defined(__aarch64__)
constexpr bool entries_may_be_by_ftrace = false;
constexpr bool makes_jumps = false;
constexpr bool ftrace_sees_breakpoints = true;
constexpr bool has_reservations = false;
constexpr unsigned ftrace_begin = 4;
constexpr unsigned ftrace_bytes = 4;
constexpr std::uint64_t kernel_begin = 0xffff000000000000;
constexpr std::uint32_t place_word = 32;
constexpr std::uint32_t pt_regs_end = 64; // and less in most kernels
constexpr std::uint64_t kernel_largefile = 0400000;
// That no probe may be in, where no debugfs lists them.
constexpr const char* forbidden_functions[] = {"get_kprobe", "aggr_pre_handler",
                                               "kprobe_fault_handler"};
#else
constexpr bool entries_may_be_by_ftrace = false;
constexpr bool makes_jumps = false;
constexpr bool ftrace_sees_breakpoints = false;
constexpr bool has_reservations = true; // that a trap takes away
constexpr unsigned ftrace_begin = 0;
constexpr unsigned ftrace_bytes = 8;
constexpr std::uint64_t kernel_begin = 0xff00000000000000;
constexpr std::uint32_t place_word = 0;
constexpr std::uint32_t pt_regs_end = 36;
constexpr std::uint64_t kernel_largefile = 0100000;
// That no probe may be in, where no debugfs lists them.
constexpr const char* forbidden_functions[] = {"get_kprobe", "aggr_pre_handler",
                                               "kprobe_fault_handler", "kprobe_breakpoint_handler",
                                               "kprobe_single_step_handler"};
#endif

// The word of struct pt_regs that has an argument, from 0.
constexpr std::uint32_t argument_word(unsigned n) {
    return registers[n].word;
}

// That register, as the kernel's kprobe events call it.
inline std::string event_register(unsigned n) {
    const std::string name(registers[n].name);
    return "%" + (name[0] == 'r' && name.back() > '9' ? name.substr(1) : name);
}

inline Technique technique_of(const std::vector<std::byte>& text) {
    return read_trap(0, text).technique;
}

// Of riscv64's instructions.
constexpr bool is_load_reserved(std::uint32_t word) {
    return (word & 0x7f) == 0x2f && word >> 27 == 2;
}
constexpr bool is_store_conditional(std::uint32_t word) {
    return (word & 0x7f) == 0x2f && word >> 27 == 3;
}

} // namespace trapline::guest
