// SPDX-License-Identifier: GPL-2.0
// The traps that kprobes set on x86, as they are found in the kernel's text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trapline {

enum class Technique : std::uint8_t {
    none,
    breakpoint, // cc: INT3
    jump,       // e9: into an optimised probe's buffer
    call,       // e8: of ftrace, where the compiler left room
};

struct Trap {
    Technique technique = Technique::none;
    std::size_t size = 0;                // bytes of the text that it takes
    std::optional<std::uint64_t> target; // where a jump or call leads
};

// The trap that `code`, found at `address`, begins with. An ordinary jump or call looks no
// different: what was there before must be known.
Trap read_trap(std::uint64_t address, std::span<const std::byte> code);

} // namespace trapline
