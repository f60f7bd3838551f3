// SPDX-License-Identifier: GPL-2.0
// The traps that kprobes set on x86.
#include "disassembly/trap.h"

namespace trapline {

namespace {

constexpr std::byte int3{0xcc};
constexpr std::byte jmp_rel32{0xe9};
constexpr std::byte call_rel32{0xe8};
constexpr std::size_t rel32_size = 5;

// A signed displacement, little-endian, from the instruction's end.
std::uint64_t rel32_target(std::uint64_t address, std::span<const std::byte> code) {
    std::uint32_t displacement = 0;
    for (std::size_t i = rel32_size; i-- > 1;)
        displacement = displacement << 8 | static_cast<std::uint32_t>(code[i]);
    const auto extended = static_cast<std::int64_t>(static_cast<std::int32_t>(displacement));
    return address + rel32_size + static_cast<std::uint64_t>(extended);
}

} // namespace

Trap read_trap(std::uint64_t address, std::span<const std::byte> code) {
    if (!code.empty() && code[0] == int3)
        return {.technique = Technique::breakpoint, .size = 1, .target = std::nullopt};
    if (code.size() < rel32_size || (code[0] != jmp_rel32 && code[0] != call_rel32))
        return {};
    return {.technique = code[0] == jmp_rel32 ? Technique::jump : Technique::call,
            .size = rel32_size,
            .target = rel32_target(address, code)};
}

} // namespace trapline
