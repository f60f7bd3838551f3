// SPDX-License-Identifier: GPL-2.0
// The traps that kprobes set, as they are found in the kernel's text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trapline {

enum class Technique : std::uint8_t {
    none,
    breakpoint,
    jump, // into an optimised probe's buffer; x86 alone has that and the next
    call, // of ftrace, where the compiler left room
};

struct Trap {
    Technique technique = Technique::none;
    std::size_t size = 0;                // bytes of the text that it takes
    std::optional<std::uint64_t> target; // where a jump or call leads
};

// The trap that `code`, found at `address`, begins with. An ordinary jump or call looks no
// different: what was there before must be known.
Trap read_trap(std::uint64_t address, std::span<const std::byte> code);

// What is to be told of the traps of the machine that this is built for.
struct TrapFacts {
    const char* breakpoint;                // how it is written
    const char* why_behind;                // why an entry's isn't at the function's start
    const char* return_address;            // where that is at a function's entry
    std::array<const char*, 2> exceptions; // what a breakpoint enters the kernel by, in that order
};

#if defined(__aarch64__)
constexpr TrapFacts trap_facts{
    "BRK 4", "a landing pad must stay the first", "in x30", {"el1h_64_sync", "el1_sync"}};
#elif defined(__riscv)
constexpr TrapFacts trap_facts{"EBREAK",
                               "ftrace patches the instructions before",
                               "in ra",
                               {"handle_exception", "handle_exception"}};
#else
constexpr TrapFacts trap_facts{
    "cc, INT3", "an endbr64 must stay the first", "(%rsp)", {"asm_exc_int3", "int3"}};
#endif

} // namespace trapline
