// SPDX-License-Identifier: GPL-2.0
// Machine code as text, of the machine that this is built for: by libcapstone, where the tool was
// built with it.
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
    std::string text;     // as objdump writes it, x86-64's in AT&T's syntax: "movq %rdi, %rbx"
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
