// SPDX-License-Identifier: GPL-2.0
// The text of `trapline explain`, by a disassembler that knows a few instructions, and by none.
#include "command/explanation.h"

#include <gtest/gtest.h>
#include <string>

using namespace trapline;

namespace {

// Every instruction's size is its first byte's low half, but those of the traps.
class Fake : public Disassembler {
public:
    std::optional<Instruction> first(std::uint64_t address,
                                     std::span<const std::byte> code) const override {
        if (code.empty())
            return std::nullopt;
        const auto opcode = static_cast<unsigned>(code[0]);
        const bool branch = opcode == 0xe8 || opcode == 0xe9;
        const std::size_t size = opcode == 0xcc ? 1 : branch ? 5 : opcode & 0xf;
        if (size == 0 || size > code.size())
            return std::nullopt;
        return Instruction{.size = size,
                           .text = "op" + std::to_string(opcode) + "@" +
                                   std::to_string(address & 0xff)};
    }
};

std::vector<std::byte> bytes(std::string_view hex) {
    std::vector<std::byte> out;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 3)
        out.push_back(
            static_cast<std::byte>(std::stoul(std::string(hex.substr(i, 2)), nullptr, 16)));
    return out;
}

constexpr const char* original = "12 a1 23 a2 a3 32 b1 43 b2 b3 51 61 71 81 91 a1";
constexpr const char* int3 = "cc a1 23 a2 a3 32 b1 43 b2 b3 51 61 71 81 91 a1";
constexpr const char* jump = "e9 a1 0f 00 00 32 b1 43 b2 b3 51 61 71 81 91 a1";
constexpr const char* call = "e8 fb 0f 00 00 32 b1 43 b2 b3 51 61 71 81 91 a1";

Explanation explained(const char* probe, const char* trapped) {
    Explanation e;
    e.spec = parse_probe(probe);
    e.tested = compile_probe(e.spec, 1, 1'000'000'000).tested;
    e.symbol = "vfs_read";
    e.function_size = 0x80;
    e.offset = e.spec.offset;
    e.address = 0xffffffff81000000 + e.offset;
    e.states = {{"before", bytes(original)},
                {"trap set", bytes(trapped)},
                {"lifted, 2 ms later", bytes(original)}};
    e.trampoline = NamedAddress{.name = "arch_rethook_trampoline", .address = 0xffffffff81234560};
    e.exception = NamedAddress{.name = "asm_exc_int3", .address = 0xffffffff81c00b10};
    return e;
}

std::string text(const Explanation& e) {
    const Fake fake;
    return explanation_text(e, &fake);
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Explanation, MarksTheBytesThatChangedInTheirColumns) {
    Explanation e = explained("vfs_read+0x10", int3);
    e.states.insert(e.states.end() - 1, {"31 ms later", bytes(jump)});
    EXPECT_PRED2(contains, text(e),
                 "  before               12 a1 23 a2 a3 32 b1 43 b2 b3 51 61 71 81 91 a1\n"
                 "  trap set            [cc]a1 23 a2 a3 32 b1 43 b2 b3 51 61 71 81 91 a1\n"
                 "  31 ms later         [e9]a1[0f 00 00]32 b1 43 b2 b3 51 61 71 81 91 a1\n"
                 "  lifted, 2 ms later   12 a1 23 a2 a3 32 b1 43 b2 b3 51 61 71 81 91 a1\n");
}

// What a trap lies on is gone from its column; the rest stands in the same rows.
TEST(Explanation, InstructionsAreAlignedByTheirPlace) {
    Explanation e = explained("vfs_read+0x10", int3);
    e.states.insert(e.states.end() - 1, {"31 ms later", bytes(jump)});
    EXPECT_PRED2(contains, text(e),
                 "          before    trap set  31 ms later  lifted, 2 ms later\n"
                 "  +0x10   op18@16   op204@16  op233@16     op18@16\n"
                 "  +0x12   op35@18   op35@18                op35@18\n"
                 "  +0x15   op50@21   op50@21   op50@21      op50@21\n"
                 "  +0x17   op67@23   op67@23   op67@23      op67@23\n");
}

TEST(Explanation, WithoutADisassemblerThereAreBytesAndTechnique) {
    const std::string bare = explanation_text(explained("vfs_read", call), nullptr);
    EXPECT_PRED2(contains, bare, "built without libcapstone");
    EXPECT_PRED2(contains, bare,
                 "  trap set            [e8 fb 0f 00 00]32 b1 43 b2 b3 51 61 71 81 91 a1\n");
    EXPECT_PRED2(contains, bare, "Technique: a call of ftrace (e8)");
    EXPECT_PRED2(contains, bare, "leads to 0xffffffff81001000");
    EXPECT_FALSE(contains(bare, "@"));
}

TEST(Explanation, OfACall) {
    Explanation e = explained("vfs_read", call);
    e.target = Place{.symbol = "ftrace_trampoline", .module = "__builtin__ftrace"};
    const std::string all = text(e);
    EXPECT_EQ(all.substr(0, all.find('\n', all.find('\n') + 1)),
              "vfs_read: a call, entry and return, of the function vfs_read in the kernel image\n"
              "  at 0xffffffff81000000, vfs_read+0x0 of 0x80 (128) bytes");
    EXPECT_PRED2(contains, all,
                 "  It leads to 0xffffffff81001000, ftrace_trampoline [__builtin__ftrace].\n");
    EXPECT_PRED2(contains, all,
                 "  $arg1 %rdi  $arg2 %rsi  $arg3 %rdx  $arg4 %rcx  $arg5 %r8  $arg6 %r9\n"
                 "  $arg7 8(%rsp)  $arg8 16(%rsp)  and so on: $argN is at 8*(N-6)(%rsp)\n");
    EXPECT_PRED2(contains, all, "  arch_rethook_trampoline (0xffffffff81234560)\n");
    EXPECT_PRED2(contains, all, "The return value is in %rax");
    EXPECT_FALSE(contains(all, "condition"));
}

TEST(Explanation, OfAnEntryThereIsNoReturn) {
    const std::string all = text(explained("kprobe:vfs_read", call));
    EXPECT_PRED2(contains, all, "kprobe:vfs_read: the entry of the function vfs_read in");
    EXPECT_FALSE(contains(all, "%rax"));
    EXPECT_FALSE(contains(all, "trampoline ("));
    EXPECT_PRED2(contains, text(explained("kretprobe:vfs_read", call)), "%rax");
}

TEST(Explanation, OfAModule) {
    Explanation e = explained("ext4:vfs_read", call);
    e.symbol = "ext4:vfs_read";
    EXPECT_PRED2(contains, text(e), "of the function vfs_read in the module ext4\n");
}

TEST(Explanation, ABreakpointSaysWhyItStaysOne) {
    Explanation e = explained("vfs_read+0x10", int3);
    EXPECT_PRED2(contains, text(e), "Technique: a breakpoint (cc, INT3)");
    EXPECT_PRED2(contains, text(e), "enters the kernel at asm_exc_int3 (0xffffffff81c00b10)");
    EXPECT_PRED2(contains, text(e), "there is no debug.kprobes-optimization");
    e.optimisation = Optimisation::off;
    EXPECT_PRED2(contains, text(e), "while debug.kprobes-optimization is 0");
    e.optimisation = Optimisation::on;
    e.optimisation_wait = std::chrono::milliseconds(2000);
    EXPECT_PRED2(contains, text(e), "made no jump of it within 2000 ms");
    EXPECT_FALSE(contains(text(e), "leads to"));
}

TEST(Explanation, AJumpIntoNoSymbol) {
    Explanation e = explained("vfs_read+0x10", jump);
    EXPECT_PRED2(contains, text(e), "Technique: an optimised jump (e9)");
    EXPECT_PRED2(contains, text(e),
                 "It leads to 0xffffffff81000fb6, which lies in no symbol: a buffer of the kernel");
    e.target = Place{.symbol = "kprobe_optinsn_page", .module = "__builtin__kprobes", .offset = 2};
    EXPECT_PRED2(contains, text(e),
                 "0xffffffff81000fb6, kprobe_optinsn_page+0x2 [__builtin__kprobes].");
    EXPECT_FALSE(contains(text(e), "no symbol"));
}

TEST(Explanation, HiddenAddressesAreSaidToBe) {
    Explanation e = explained("vfs_read", call);
    EXPECT_FALSE(contains(text(e), "hide"));
    e.addresses_hidden = true;
    e.function_size = 0;
    e.trampoline = NamedAddress{.name = "arch_rethook_trampoline", .address = 0};
    const std::string all = text(e);
    EXPECT_PRED2(contains, all, "at 0xffffffff81000000, vfs_read+0x0\n");
    EXPECT_PRED2(contains, all, "/proc/kallsyms hides addresses (kernel.kptr_restrict)");
    EXPECT_PRED2(contains, all, "arch_rethook_trampoline (its address is hidden)");
    EXPECT_PRED2(contains, all, "0xffffffff81001000; what lies there, /proc/kallsyms hides");
}

TEST(Explanation, BehindAnEndbr) {
    Explanation e = explained("vfs_read", call);
    EXPECT_FALSE(contains(text(e), "endbr64"));
    e.offset = 4;
    e.address += 4;
    EXPECT_PRED2(contains, text(e), "at 0xffffffff81000004, vfs_read+0x4 of");
    EXPECT_PRED2(contains, text(e), "4 bytes behind the function's start, where an endbr64");
}

TEST(Explanation, SomebodyElsesTrap) {
    Explanation e = explained("vfs_read", call);
    for (SiteState& state : e.states)
        state.bytes = bytes(call);
    EXPECT_PRED2(contains, text(e), "Technique: none to be seen, for the bytes didn't change.");
    EXPECT_FALSE(contains(text(e), "["));
}

TEST(Explanation, AConditionIsTheHandlers) {
    EXPECT_PRED2(contains, text(explained("vfs_read if $arg3 == 1", call)),
                 "tested by the handler, at the entry: the trap is the same");
    EXPECT_PRED2(contains, text(explained("vfs_read if $retval < 0", call)), ", at the return:");
    EXPECT_PRED2(contains, text(explained("vfs_read if $retval < 0 && $arg3 == 1", call)),
                 ", at the entry as far as it can be, and at the return:");
    EXPECT_PRED2(contains, text(explained("vfs_read+0x10 if %rdx == 1", int3)),
                 ", at the instruction:");
}

} // namespace
