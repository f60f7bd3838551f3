// SPDX-License-Identifier: GPL-2.0
// Machine code as text, for x86-64: by libcapstone, where the tool was built with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace trapline {

struct Instruction {
    std::size_t size = 0; // bytes
    std::string text;     // AT&T's syntax, as oopses and objdump have it: "movq %rdi, %rbx"
};

class Disassembler {
public:
    Disassembler() = default;
    Disassembler(const Disassembler&) = delete;
    Disassembler& operator=(const Disassembler&) = delete;
    virtual ~Disassembler() = default;

    // The instruction that `code`, found at `address`, begins with; none: it begins with no
    // whole instruction.
    virtual std::optional<Instruction> first(std::uint64_t address,
                                             std::span<const std::byte> code) const = 0;
};

// Null where the tool was built without libcapstone.
std::unique_ptr<Disassembler> make_disassembler();

} // namespace trapline
