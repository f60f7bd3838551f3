// SPDX-License-Identifier: GPL-2.0
// The traps that kprobes set.
#include "disassembly/trap.h"

#include <algorithm>

namespace trapline {

#if defined(__aarch64__) || defined(__riscv)

namespace {

template <std::size_t size>
bool begins_with(std::span<const std::byte> code, const std::array<std::uint8_t, size>& wanted) {
    return code.size() >= size &&
           std::equal(wanted.begin(), wanted.end(), code.begin(),
                      [](std::uint8_t value, std::byte byte) { return std::byte{value} == byte; });
}

#if defined(__aarch64__)
constexpr std::array<std::uint8_t, 4> long_trap{0x80, 0x00, 0x20, 0xd4}; // brk #4
constexpr std::array<std::uint8_t, 4> short_trap = long_trap;
#else
constexpr std::array<std::uint8_t, 4> long_trap{0x73, 0x00, 0x10, 0x00}; // ebreak
constexpr std::array<std::uint8_t, 2> short_trap{0x02, 0x90};            // c.ebreak
#endif

} // namespace

Trap read_trap(std::uint64_t /*address*/, std::span<const std::byte> code) {
    if (begins_with(code, long_trap))
        return {
            .technique = Technique::breakpoint, .size = long_trap.size(), .target = std::nullopt};
    if (begins_with(code, short_trap))
        return {
            .technique = Technique::breakpoint, .size = short_trap.size(), .target = std::nullopt};
    return {};
}

#else

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

#endif

} // namespace trapline
