// SPDX-License-Identifier: GPL-2.0
// The registers of the machine that this is built for, as a probe's handler finds them: words of
// struct pt_regs. For each machine there are
//
//   registers            by name; those that carry arguments come first, in order. Not the one
//                        that says where a probe is (place_register): it is always the same
//   pt_regs_words        words in struct pt_regs, for tl_verify(); it may be more
//   register_arguments   of a function's arguments, those in registers
//   stack_skipped        words between the stack pointer and the other arguments, at an entry
//   stack_register       the stack pointer; caller_register: what has the return address at an
//                        entry, or the stack pointer where that is on the stack
//   result_register      and second_result_register: the words of a value that is returned
// TRAPLINE_A_REGISTER is the first one's name, for help whose literals are joined.
#pragma once

#if defined(__x86_64__)
#include "spec/registers_x86_64.h"
#define TRAPLINE_A_REGISTER "rdi"

namespace trapline {
using namespace x86_64;
}
#elif defined(__aarch64__)
#include "spec/registers_aarch64.h"
#define TRAPLINE_A_REGISTER "x0"

namespace trapline {
using namespace aarch64;
}
#elif defined(__riscv) && __riscv_xlen == 64
#include "spec/registers_riscv64.h"
#define TRAPLINE_A_REGISTER "a0"

namespace trapline {
using namespace riscv64;
}
#else
#error "Trapline knows the registers of x86-64, arm64 and riscv64 only"
#endif
