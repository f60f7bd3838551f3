// SPDX-License-Identifier: GPL-2.0
// Machine code as text, by libcapstone.
#include "disassembly/disassembler.h"

#ifdef TRAPLINE_CAPSTONE
#include <capstone/capstone.h>
#include <fmt/format.h>

#include "util/error.h"
#endif

namespace trapline {

#ifdef TRAPLINE_CAPSTONE

namespace {

#if defined(__aarch64__)
constexpr cs_arch arch = CS_ARCH_ARM64;
constexpr cs_mode mode = CS_MODE_ARM;
#elif defined(__riscv)
constexpr cs_arch arch = CS_ARCH_RISCV;
constexpr cs_mode mode = static_cast<cs_mode>(CS_MODE_RISCV64 | CS_MODE_RISCVC);
#else
constexpr cs_arch arch = CS_ARCH_X86;
constexpr cs_mode mode = CS_MODE_64;
#endif

class Capstone : public Disassembler {
public:
    Capstone() {
        const cs_err error = cs_open(arch, mode, &handle_);
        if (error != CS_ERR_OK)
            throw Error(fmt::format("cannot disassemble: libcapstone says: {}", cs_strerror(error)),
                        "build the tool without it: cmake -DTRAPLINE_CAPSTONE=OFF");
        if (arch == CS_ARCH_X86)
            cs_option(handle_, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    }
    ~Capstone() override { cs_close(&handle_); }

    std::optional<Instruction> first(std::uint64_t address,
                                     std::span<const std::byte> code) const override {
        cs_insn* found = nullptr;
        const std::size_t count =
            cs_disasm(handle_, reinterpret_cast<const std::uint8_t*>(code.data()), code.size(),
                      address, 1, &found);
        if (count == 0)
            return std::nullopt;
        Instruction instruction{.size = found->size, .text = found->mnemonic};
        if (found->op_str[0] != '\0')
            instruction.text += fmt::format(" {}", found->op_str);
        cs_free(found, count);
        return instruction;
    }

private:
    csh handle_ = 0;
};

} // namespace

std::unique_ptr<Disassembler> make_disassembler() {
    return std::make_unique<Capstone>();
}

#else

std::unique_ptr<Disassembler> make_disassembler() {
    return nullptr;
}

#endif

} // namespace trapline
