// SPDX-License-Identifier: GPL-2.0
// Programs for raw arguments, registers and return values: accepted where they are to run, and
// storing what the layout says when they run.
#include "spec/compile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <gtest/gtest.h>

#include "shared/verifier.h"
#include "spec/registers.h"
#include "trace/fields.h"
#include "util/error.h"

// A machine for the interpreter: word n of pt_regs is 1000 + n, argument n is 100 + n, and those
// from the sixth on lie on a stack that may be unreadable.
namespace {

struct tl_regs {
    bool stack_readable = true;
};

inline __u64 tl_reg(const struct tl_regs*, __u64 n) {
    return 1000 + n;
}

inline __u64 tl_retval(const struct tl_regs*) {
    return 42;
}

inline int tl_arg(const struct tl_regs* regs, __u64 n, __u64* value) {
    if (n >= 6 && !regs->stack_readable)
        return -1;
    *value = 100 + n;
    return 0;
}

inline int tl_read_kernel(void*, __u64, __u32) {
    return -1;
}

inline int tl_read_user(void*, __u64, __u32) {
    return -1;
}

inline __u64 tl_task_value(__u64) {
    return 0;
}

// Three frames, which begin with the site that was asked for.
inline __u32 tl_stack(const struct tl_regs*, __u8 flags, __u8* to, __u32 most, __u32* status) {
    const __u32 length = std::min(most, 3U);
    *status = most < 3 ? TL_STACK_CUT : TL_STACK_WHOLE;
    for (__u32 i = 0; i < length; i++)
        tl_put_u64(to + 8 * i, flags * 0x100U + i);
    return length;
}

#include "shared/interpreter.h"

using namespace trapline;

constexpr std::uint64_t hz = 2'400'000'000;

tl_verdict verify(const std::vector<tl_insn>& program, tl_site site, __u32 fields = 0) {
    static tl_verifier verifier;
    return tl_verify(&verifier, program.data(), static_cast<__u32>(program.size()), site,
                     pt_regs_words, fields);
}

std::vector<std::byte> run(const std::vector<tl_insn>& program, const tl_regs& regs = {}) {
    std::vector<std::byte> bytes(TL_FIELDS_MAX);
    const int size = tl_run(program.data(), &regs, nullptr, reinterpret_cast<__u8*>(bytes.data()));
    bytes.resize(static_cast<std::size_t>(std::max(size, 0)));
    return bytes;
}

std::vector<std::string> names(const std::vector<Field>& fields) {
    std::vector<std::string> all;
    all.reserve(fields.size());
    for (const Field& field : fields)
        all.push_back(field.name);
    return all;
}

using Names = std::vector<std::string>;

TEST(Compile, CallRecordsArgumentsAndReturn) {
    const CompiledProbe probe = compile_probe(parse_probe("vfs_read"), 7, hz);
    EXPECT_EQ(probe.layout.id, 7);
    EXPECT_EQ(probe.layout.name, "vfs_read");
    EXPECT_EQ(probe.layout.kind, TRAPLINE_CALL);
    EXPECT_TRUE(probe.layout.at_entry);
    EXPECT_EQ(names(probe.layout.entry_fields),
              (Names{"arg0", "arg1", "arg2", "arg3", "arg4", "arg5"}));
    EXPECT_EQ(names(probe.layout.return_fields), Names{"return"});
    EXPECT_EQ(verify(probe.entry, TL_AT_ENTRY).text, nullptr);
    EXPECT_EQ(verify(probe.entry, TL_AT_ENTRY).size, 48U);
    EXPECT_EQ(verify(probe.ret, TL_AT_RETURN).text, nullptr);
    EXPECT_EQ(verify(probe.ret, TL_AT_RETURN).size, 8U);
    // Where they don't belong they are refused: the test can fail.
    EXPECT_NE(verify(probe.entry, TL_AT_RETURN).text, nullptr);
    EXPECT_NE(verify(probe.entry, TL_AT_OFFSET).text, nullptr);
    EXPECT_NE(verify(probe.ret, TL_AT_ENTRY).text, nullptr);
}

TEST(Compile, LoadsAndPutsInTurnThroughOneSlotEach) {
    const CompiledProbe probe = compile_probe(parse_probe("f"), 1, hz, 20);
    ASSERT_EQ(probe.entry.size(), 2 * 20 + 2U);
    for (std::size_t i = 0; i < 20; i++) {
        EXPECT_EQ(probe.entry[2 * i].op, TL_OP_ARG);
        EXPECT_EQ(probe.entry[2 * i].dst, i % TL_SLOTS);
        EXPECT_EQ(probe.entry[2 * i].imm, i);
        EXPECT_EQ(probe.entry[2 * i + 1].op, TL_OP_PUT);
        EXPECT_EQ(probe.entry[2 * i + 1].a, i % TL_SLOTS);
        EXPECT_EQ(probe.entry[2 * i + 1].size, 8);
    }
}

TEST(Compile, AnyNumberOfArguments) {
    for (unsigned n = 0; n <= TL_ARGS_MAX; n++) {
        const CompiledProbe probe = compile_probe(parse_probe("kprobe:f"), 1, hz, n);
        EXPECT_EQ(verify(probe.entry, TL_AT_ENTRY).text, nullptr) << n;
        EXPECT_EQ(verify(probe.entry, TL_AT_ENTRY).size, 8 * n + (n > 6 ? 4 : 0)) << n;
        EXPECT_TRUE(probe.ret.empty());
        EXPECT_TRUE(probe.layout.return_fields.empty());

        FieldValues values;
        const auto bytes = run(probe.entry);
        ASSERT_TRUE(decode_fields(probe.layout, bytes, values)) << n;
        EXPECT_EQ(fields_size(probe.layout, bytes), bytes.size());
        for (unsigned i = 0; i < n; i++) {
            EXPECT_EQ(values.entry[i].state, FieldValue::State::number);
            EXPECT_EQ(values.entry[i].number, 100 + i);
        }
    }
    EXPECT_THROW(compile_probe(parse_probe("f"), 1, hz, TL_ARGS_MAX + 1), UsageError);
}

TEST(Compile, UnreadableStackArgumentsAreFaults) {
    const CompiledProbe probe = compile_probe(parse_probe("kprobe:f"), 1, hz, TL_ARGS_MAX);
    FieldValues values;
    const auto bytes = run(probe.entry, {.stack_readable = false});
    ASSERT_TRUE(decode_fields(probe.layout, bytes, values));
    for (unsigned i = 0; i < TL_ARGS_MAX; i++)
        EXPECT_EQ(values.entry[i].state,
                  i < 6 ? FieldValue::State::number : FieldValue::State::number_fault)
            << i;
}

TEST(Compile, OffsetRecordsRegisters) {
    const CompiledProbe probe = compile_probe(parse_probe("vfs_read+0x1c"), 1, hz);
    EXPECT_EQ(probe.layout.name, "vfs_read+0x1c");
    EXPECT_EQ(probe.layout.kind, TRAPLINE_ENTRY);
    EXPECT_FALSE(probe.layout.at_entry);
    EXPECT_EQ(names(probe.layout.entry_fields), (Names{"di", "si", "dx", "cx", "r8", "r9"}));
    EXPECT_EQ(verify(probe.entry, TL_AT_OFFSET).text, nullptr);
    EXPECT_TRUE(probe.ret.empty());

    FieldValues values;
    const auto bytes = run(probe.entry);
    ASSERT_TRUE(decode_fields(probe.layout, bytes, values));
    const std::array<unsigned, 6> words{14, 13, 12, 11, 9, 8};
    for (std::size_t i = 0; i < words.size(); i++)
        EXPECT_EQ(values.entry[i].number, 1000 + words[i]);
}

// Tested first: what is rejected costs no stores.
TEST(Compile, AConditionComesBeforeTheFields) {
    const auto first = [](std::string_view probe, bool ret = false) {
        const CompiledProbe compiled = compile_probe(parse_probe(probe), 1, hz);
        return (ret ? compiled.ret : compiled.entry).front();
    };
    EXPECT_EQ(first("f if $arg3 == 5").op, TL_OP_ARG);
    EXPECT_EQ(first("f if $arg3 == 5").imm, 2U);
    EXPECT_EQ(first("f+4 if %rax == 5").op, TL_OP_REG);
    EXPECT_EQ(first("f+4 if %rax == 5").imm, 10U);
    EXPECT_EQ(first("f if $duration > 1us", true).op, TL_OP_DURATION);
    EXPECT_EQ(first("f if $retval == $arg3", true).op, TL_OP_RETVAL);
    EXPECT_EQ(first("kretprobe:f if $ret == 1", true).op, TL_OP_RETVAL);

    // The program that tests, and what it stores if it doesn't reject.
    const CompiledProbe with = compile_probe(parse_probe("f if $arg3 == 102"), 1, hz);
    const CompiledProbe without = compile_probe(parse_probe("f"), 1, hz);
    EXPECT_EQ(with.entry.size(), without.entry.size() + 4);
    EXPECT_EQ(with.ret.size(), without.ret.size());
    EXPECT_EQ(run(with.entry), run(without.entry));
    EXPECT_EQ(run(compile_probe(parse_probe("f if $arg3 != 102"), 1, hz).entry).size(), 0U);
    EXPECT_EQ(with.layout.name, "f");
    EXPECT_EQ(names(with.layout.entry_fields), names(without.layout.entry_fields));
}

TEST(Compile, AConditionIsTestedWhereItCanBe) {
    const auto sizes = [](std::string_view probe) {
        const CompiledProbe compiled = compile_probe(parse_probe(probe), 1, hz);
        return std::pair{compiled.entry.size(), compiled.ret.size()};
    };
    const auto [entry, ret] = sizes("f");
    EXPECT_EQ(sizes("f if $arg1 == 1"), std::pair(entry + 4, ret));
    EXPECT_EQ(sizes("f if $duration < 1ms"), std::pair(entry, ret + 4));
    EXPECT_EQ(sizes("f if $arg1 == 1 && $duration < 1ms"), std::pair(entry + 4, ret + 4));
    EXPECT_EQ(sizes("f if ($duration < 1ms) && ($arg1 == 1)"), std::pair(entry + 4, ret + 4));
    EXPECT_EQ(sizes("f if !($duration < 1ms || $arg1 == 1)"), std::pair(entry + 4, ret + 4));
    EXPECT_EQ(sizes("f if $arg1 == 1 || $duration < 1ms"), std::pair(entry, ret + 7));

    // The entry probe of its own that --begin adds.
    ProbeSpec spec = parse_probe("f if $arg1 == 1 && $duration < 1ms");
    spec.kind = TRAPLINE_ENTRY;
    spec.begins_call = true;
    const CompiledProbe begin = compile_probe(spec, 1, hz);
    EXPECT_EQ(begin.entry.size(), entry + 4);
    EXPECT_TRUE(begin.ret.empty());
}

TEST(Compile, WhatACallsReturnTestsOfItsEntryIsKept) {
    const ProbeSpec spec = parse_probe("f if $arg6 == 1 || $retval == $arg1");
    const CompiledProbe probe = compile_probe(spec, 1, hz);
    EXPECT_EQ(verify(probe.ret, TL_AT_CALL_RETURN, 48).text, nullptr);
    EXPECT_NE(verify(probe.ret, TL_AT_CALL_RETURN, 47).text, nullptr);
    EXPECT_NE(verify(probe.ret, TL_AT_RETURN).text, nullptr);
    EXPECT_THROW(compile_probe(spec, 1, hz, 5), UsageError);
    EXPECT_EQ(verify(compile_probe(spec, 1, hz, 32).ret, TL_AT_CALL_RETURN, 48).text, nullptr);
}

// As many comparisons as fit, and one more.
TEST(Compile, AConditionMayFillAProgram) {
    std::string text = "kprobe:f if $arg1 == 0";
    std::size_t fitted = 0;
    for (int n = 2; n < 200; n++) {
        CompiledProbe probe;
        try {
            probe = compile_probe(parse_probe(text), 1, hz);
        } catch (const UsageError& error) {
            EXPECT_EQ(std::string(error.what()),
                      "the condition is too long: a program has at most 256 instructions");
            EXPECT_FALSE(error.hint().empty());
            break;
        }
        ASSERT_EQ(verify(probe.entry, TL_AT_ENTRY).text, nullptr);
        fitted = probe.entry.size();
        text += " || $arg1 == " + std::to_string(n);
    }
    EXPECT_GT(fitted, 253U);
    EXPECT_LE(fitted, 256U);
    // However long it is.
    for (int n = 0; n < 20000; n++)
        text += " || $arg2 == 1 && $arg3 < 7";
    EXPECT_THROW(compile_probe(parse_probe(text), 1, hz), UsageError);
    EXPECT_THROW(compile_probe(parse_probe("f if $duration < 1us"), 1, hz, 33), UsageError);
}

TEST(Compile, OffsetZeroIsTheEntry) {
    const CompiledProbe probe = compile_probe(parse_probe("vfs_read+0"), 1, hz, 2);
    EXPECT_TRUE(probe.layout.at_entry);
    EXPECT_EQ(probe.layout.kind, TRAPLINE_ENTRY);
    EXPECT_EQ(names(probe.layout.entry_fields), (Names{"arg0", "arg1"}));
}

TEST(Compile, ReturnRecordsTheValueOnly) {
    const CompiledProbe probe = compile_probe(parse_probe("kretprobe:f"), 1, hz);
    EXPECT_TRUE(probe.entry.empty());
    EXPECT_TRUE(probe.layout.entry_fields.empty());
    EXPECT_EQ(probe.layout.kind, TRAPLINE_RETURN);
    EXPECT_EQ(verify(probe.ret, TL_AT_RETURN).text, nullptr);
    FieldValues values;
    ASSERT_TRUE(decode_fields(probe.layout, run(probe.ret), values));
    ASSERT_EQ(values.ret.size(), 1U);
    EXPECT_EQ(values.ret[0].number, 42U);
}

ProbeSpec with_stack(std::string_view text, unsigned frames) {
    ProbeSpec spec = parse_probe(text);
    spec.stack = frames;
    return spec;
}

// What the probe's last program stores for the stack, of a machine that has three frames.
std::vector<std::uint64_t> stack_of_run(const CompiledProbe& probe,
                                        const std::vector<tl_insn>& program) {
    EventLayout last = probe.layout;
    if (last.kind == TRAPLINE_CALL) {
        last.kind = TRAPLINE_RETURN;
        last.entry_fields.clear();
    }
    FieldValues values;
    const auto bytes = run(program);
    EXPECT_TRUE(decode_fields(last, bytes, values));
    const FieldValue* stack = stack_of(values);
    return stack == nullptr ? std::vector<std::uint64_t>() : stack_frames(*stack);
}

TEST(Compile, StackIsTheLastFieldOfTheLastProgram) {
    const CompiledProbe call = compile_probe(with_stack("f", 127), 1, hz);
    EXPECT_EQ(names(call.layout.entry_fields).size(), 6U);
    EXPECT_EQ(names(call.layout.return_fields), (Names{"return", "stack"}));
    EXPECT_EQ(verify(call.ret, TL_AT_CALL_RETURN, 48).text, nullptr);
    EXPECT_EQ(verify(call.ret, TL_AT_CALL_RETURN, 48).size, 8U + 4 + 127 * 8);
    EXPECT_EQ(stack_of_run(call, call.ret), (std::vector<std::uint64_t>{0x800, 0x801, 0x802}));

    const CompiledProbe entry = compile_probe(with_stack("kprobe:f", 2), 1, hz);
    EXPECT_EQ(entry.layout.entry_fields.back().name, "stack");
    EXPECT_EQ(verify(entry.entry, TL_AT_ENTRY).text, nullptr);
    EXPECT_EQ(stack_of_run(entry, entry.entry), (std::vector<std::uint64_t>{0x400, 0x401}));

    const CompiledProbe inside = compile_probe(with_stack("f+4", 3), 1, hz);
    EXPECT_EQ(verify(inside.entry, TL_AT_OFFSET).text, nullptr);
    EXPECT_EQ(stack_of_run(inside, inside.entry), (std::vector<std::uint64_t>{0, 1, 2}));

    const CompiledProbe ret = compile_probe(with_stack("kretprobe:f", 1), 1, hz);
    EXPECT_EQ(names(ret.layout.return_fields), (Names{"return", "stack"}));
    EXPECT_EQ(verify(ret.ret, TL_AT_RETURN).text, nullptr);
    EXPECT_EQ(stack_of_run(ret, ret.ret), (std::vector<std::uint64_t>{0x800}));
}

// It is what costs most: it comes behind the tests.
TEST(Compile, NoStackOfWhatAConditionRejects) {
    const CompiledProbe call = compile_probe(with_stack("f if $retval != 42", 3), 1, hz);
    EXPECT_EQ(verify(call.ret, TL_AT_CALL_RETURN, 48).text, nullptr);
    EXPECT_TRUE(run(call.ret).empty());
}

} // namespace
