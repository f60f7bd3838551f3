// SPDX-License-Identifier: GPL-2.0
// Each instruction on mock registers and memory: values, faults, strings. The
// fields have exactly the room that the verifier stated, before a page that traps.
#include "mock_machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr __u64 K = 0xffff888000010000; // pages that tests map
constexpr __u64 U = 0x00007f0000020000;
constexpr __u64 nowhere = 0xdead000000000000;

struct Result {
    int size;
    std::vector<__u8> bytes;

    __u64 u32(std::size_t at) const { return number(at, 4); }
    __u64 u64(std::size_t at) const { return number(at, 8); }

private:
    __u64 number(std::size_t at, std::size_t n) const {
        __u64 value = 0;

        for (std::size_t i = 0; i < n; i++)
            value |= static_cast<__u64>(bytes.at(at + i)) << 8 * i;
        return value;
    }
};

class Interpreter : public testing::Test {
protected:
    void SetUp() override {
        mock = {};
        for (__u32 i = 0; i < mock_regs; i++)
            regs.word[i] = 0x1111111111111111ULL * (i + 1);
        for (__u32 i = 0; i < regs.arg.size(); i++)
            regs.arg[i] = 0xa0 + i;
        regs.stack = K + 0x100;
        regs.result = 0x8877665544332211;
    }

    Result run(const Program& p, tl_site site = TL_AT_ENTRY) {
        const tl_verdict verdict =
            verify(p, site, site == TL_AT_CALL_RETURN ? entry_fields.size() : 0);

        EXPECT_EQ(verdict.text, nullptr) << verdict.text << " at " << verdict.insn;
        if (verdict.text)
            return {-100, {}};
        Guarded program(p.size() * sizeof(tl_insn));
        Guarded fields(verdict.size);
        Guarded entry(entry_fields.size());
        const tl_entered entered = {entry.start, 0xd00ddeadbeef};
        std::memcpy(entry.start, entry_fields.data(), entry_fields.size());
        std::memcpy(program.start, p.data(), p.size() * sizeof(tl_insn));
        const int size = tl_run(reinterpret_cast<tl_insn*>(program.start), &regs,
                                site == TL_AT_CALL_RETURN ? &entered : nullptr, fields.start);
        EXPECT_LE(size, static_cast<int>(verdict.size));
        EXPECT_TRUE(fields.intact());
        if (size < 0)
            return {size, {}};
        return {size, std::vector<__u8>(fields.start, fields.start + size)};
    }

    // What slot 0 holds after these, and whether it faulted.
    std::pair<__u64, bool> value(Program p, tl_site site = TL_AT_ENTRY) {
        p.push_back(put(0, 8));
        p.push_back(insn(TL_OP_PUT_FAULTS));
        p.push_back(insn(TL_OP_ACCEPT));
        const Result r = run(p, site);
        EXPECT_EQ(r.size, 12);
        return {r.u64(0), r.u32(8) != 0};
    }

    tl_regs regs = {};
    std::array<__u8, 20> entry_fields = {1, 2,  3,  4,  5,  6,  7,  8,  9,  10,
                                         0, 12, 13, 14, 15, 16, 17, 18, 19, 0xff};
};

using Value = std::pair<__u64, bool>;

TEST_F(Interpreter, AcceptAndReject) {
    EXPECT_EQ(run({insn(TL_OP_ACCEPT)}).size, 0);
    EXPECT_EQ(run({insn(TL_OP_REJECT)}).size, TL_REJECTED);
    EXPECT_EQ(run({set(TL_OP_IMM, 0, 1), put(0, 8), insn(TL_OP_REJECT)}).size, TL_REJECTED);
}

TEST_F(Interpreter, Values) {
    EXPECT_EQ(value({set(TL_OP_IMM, 0, 0xfedcba9876543210)}), Value(0xfedcba9876543210, false));
    for (__u32 i = 0; i < mock_regs; i++)
        EXPECT_EQ(value({set(TL_OP_REG, 0, i)}), Value(0x1111111111111111ULL * (i + 1), false));
    for (__u32 i = 0; i < 6; i++)
        EXPECT_EQ(value({set(TL_OP_ARG, 0, i)}), Value(0xa0 + i, false));
    EXPECT_EQ(value({set(TL_OP_RETVAL, 0)}, TL_AT_RETURN), Value(0x8877665544332211, false));
    EXPECT_EQ(value({set(TL_OP_REG, 0, 2)}, TL_AT_OFFSET), Value(0x3333333333333333, false));
}

TEST_F(Interpreter, WhatACallsReturnKnowsOfItsEntry) {
    const tl_site site = TL_AT_CALL_RETURN;
    EXPECT_EQ(value({set(TL_OP_RETVAL, 0)}, site), Value(0x8877665544332211, false));
    EXPECT_EQ(value({set(TL_OP_DURATION, 0)}, site), Value(0xd00ddeadbeef, false));
    EXPECT_EQ(value({set(TL_OP_FIELD, 0, 0)}, site), Value(0x0807060504030201, false));
    EXPECT_EQ(value({set(TL_OP_FIELD, 0, 4)}, site), Value(0x0c000a0908070605, false));
    EXPECT_EQ(value({set(TL_OP_FIELD, 0, 12)}, site), Value(0xff131211100f0e0d, false));
    // A slot that had faulted is sound again.
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 0, 1, 8),
                     set(TL_OP_FIELD, 0, 4)},
                    site),
              Value(0x0c000a0908070605, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 0, 1, 8),
                     set(TL_OP_DURATION, 0)},
                    site),
              Value(0xd00ddeadbeef, false));
}

// Of registers, arguments and kept fields a part can be had, with its sign or without.
TEST_F(Interpreter, PartsOfValues) {
    const tl_site site = TL_AT_CALL_RETURN;
    EXPECT_EQ(value({part(TL_OP_RETVAL, 0, 8)}, site), Value(0x8877665544332211, false));
    EXPECT_EQ(value({part(TL_OP_RETVAL, 0, 4)}, site), Value(0x44332211, false));
    EXPECT_EQ(value({part(TL_OP_RETVAL, 0, 1, TL_INSN_SIGNED)}, site), Value(0x11, false));
    regs.result = 0x00000000fffffffe;
    EXPECT_EQ(value({part(TL_OP_RETVAL, 0, 4, TL_INSN_SIGNED)}, site), Value(-__u64{2}, false));
    EXPECT_EQ(value({part(TL_OP_RETVAL, 0, 2)}, site), Value(0xfffe, false));
    regs.arg[1] = 0x1234567880;
    EXPECT_EQ(value({part(TL_OP_ARG, 1, 1, TL_INSN_SIGNED)}), Value(-__u64{128}, false));
    EXPECT_EQ(value({part(TL_OP_REG, 15, 4)}), Value(0x11111110, false));
    EXPECT_EQ(value({part(TL_OP_FIELD, 4, 4)}, site), Value(0x08070605, false));
    EXPECT_EQ(value({part(TL_OP_FIELD, 4, 2)}, site), Value(0x0605, false));
    EXPECT_EQ(value({part(TL_OP_FIELD, 16, 4, TL_INSN_SIGNED)}, site),
              Value(0xffffffffff131211, false));
}

TEST_F(Interpreter, ArgumentsOnTheStack) {
    for (__u64 i = 6; i < TL_ARGS_MAX; i++)
        mock.kernel.store_u64(K + 0x100 + 8 * (i - 6), 0xb0 + i);
    for (__u64 i = 6; i < TL_ARGS_MAX; i++)
        EXPECT_EQ(value({set(TL_OP_ARG, 0, i)}), Value(0xb0 + i, false));
    regs.stack = K + mock_page - 4; // the first of them reaches into nothing
    EXPECT_EQ(value({set(TL_OP_ARG, 0, 6)}), Value(0, true));
    EXPECT_EQ(value({set(TL_OP_ARG, 0, 5)}), Value(0xa5, false));
}

TEST_F(Interpreter, EachSlotIsItsOwn) {
    Program p;

    for (__u8 i = 0; i < TL_SLOTS; i++)
        p.push_back(set(TL_OP_IMM, i, 0x100 + i));
    for (__u8 i = TL_SLOTS; i-- > 0;)
        p.push_back(put(i, 4));
    p.push_back(insn(TL_OP_ACCEPT));
    const Result r = run(p);
    ASSERT_EQ(r.size, 4 * TL_SLOTS);
    for (__u32 i = 0; i < TL_SLOTS; i++)
        EXPECT_EQ(r.u32(4 * i), 0x100 + TL_SLOTS - 1 - i);
}

TEST_F(Interpreter, LoadsOfEachSizeAndSign) {
    mock.kernel.store_u64(K + 8, 0x8182838485868788);
    mock.kernel.store_u64(K + 16, 0x7172737475767778);
    mock.user.store_u64(U + 8, 0x9192939495969798);
    struct Case {
        tl_op op;
        __u64 base;
        __u8 size;
        __u8 flags;
        __u64 expected;
    };
    const Case cases[] = {
        {TL_OP_LOAD_KERNEL, K + 8, 1, 0, 0x88},
        {TL_OP_LOAD_KERNEL, K + 8, 2, 0, 0x8788},
        {TL_OP_LOAD_KERNEL, K + 8, 4, 0, 0x85868788},
        {TL_OP_LOAD_KERNEL, K + 8, 8, 0, 0x8182838485868788},
        {TL_OP_LOAD_KERNEL, K + 8, 1, TL_INSN_SIGNED, 0xffffffffffffff88},
        {TL_OP_LOAD_KERNEL, K + 8, 2, TL_INSN_SIGNED, 0xffffffffffff8788},
        {TL_OP_LOAD_KERNEL, K + 8, 4, TL_INSN_SIGNED, 0xffffffff85868788},
        {TL_OP_LOAD_KERNEL, K + 8, 8, TL_INSN_SIGNED, 0x8182838485868788},
        {TL_OP_LOAD_KERNEL, K + 16, 1, TL_INSN_SIGNED, 0x78},
        {TL_OP_LOAD_KERNEL, K + 16, 2, TL_INSN_SIGNED, 0x7778},
        {TL_OP_LOAD_KERNEL, K + 16, 4, TL_INSN_SIGNED, 0x75767778},
        {TL_OP_LOAD_USER, U + 8, 1, 0, 0x98},
        {TL_OP_LOAD_USER, U + 8, 2, TL_INSN_SIGNED, 0xffffffffffff9798},
        {TL_OP_LOAD_USER, U + 8, 4, 0, 0x95969798},
        {TL_OP_LOAD_USER, U + 8, 8, 0, 0x9192939495969798},
    };
    for (const Case& c : cases) {
        // At an offset, also a negative one, into the same or another slot.
        for (const __u64 offset : {__u64{0}, __u64{5}, ~__u64{0}, ~__u64{0} << 31}) {
            for (const __u8 base : {__u8{0}, __u8{7}}) {
                EXPECT_EQ(value({set(TL_OP_IMM, base, c.base - offset),
                                 load(c.op, 0, base, c.size, offset, c.flags)}),
                          Value(c.expected, false))
                    << std::hex << c.base << " size " << +c.size << " offset " << offset;
            }
        }
    }
}

TEST_F(Interpreter, KernelAndUserAreTwoSpaces) {
    mock.kernel.store_u64(K, 1);
    mock.user.store_u64(U, 2);
    EXPECT_EQ(value({set(TL_OP_IMM, 1, K), load(TL_OP_LOAD_KERNEL, 0, 1, 8)}), Value(1, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, U), load(TL_OP_LOAD_USER, 0, 1, 8)}), Value(2, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, U), load(TL_OP_LOAD_KERNEL, 0, 1, 8)}), Value(0, true));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, K), load(TL_OP_LOAD_USER, 0, 1, 8)}), Value(0, true));
    EXPECT_EQ(mock.kernel.reads.size(), 2u);
    EXPECT_EQ(mock.user.reads.size(), 2u);
}

TEST_F(Interpreter, AFaultLeavesZeroAndPropagates) {
    // The first half can be had, and must not show.
    mock.kernel.store(K + mock_page - 4, "\xff\xff\xff\xff");
    EXPECT_EQ(value({set(TL_OP_IMM, 1, K + mock_page - 4), load(TL_OP_LOAD_KERNEL, 0, 1, 8)}),
              Value(0, true));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, K + mock_page - 4),
                     load(TL_OP_LOAD_KERNEL, 0, 1, 8, 0, TL_INSN_SIGNED)}),
              Value(0, true));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, 0), load(TL_OP_LOAD_KERNEL, 0, 1, 8)}), Value(0, true));

    // A load from a faulted slot faults, and reads nothing, though 0 + imm is there.
    mock.kernel.store_u64(K, 0x55);
    mock.kernel.reads.clear();
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_USER, 2, 1, 8),
                     load(TL_OP_LOAD_KERNEL, 0, 2, 8, K)}),
              Value(0, true));
    EXPECT_TRUE(mock.kernel.reads.empty());
    // And on through another.
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 1, 1, 8),
                     load(TL_OP_LOAD_KERNEL, 1, 1, 8, K), load(TL_OP_LOAD_USER, 0, 1, 1, K)}),
              Value(0, true));
    // What is written anew is sound again.
    EXPECT_EQ(
        value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 0, 1, 8), set(TL_OP_IMM, 0, 9)}),
        Value(9, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 0, 1, 8),
                     set(TL_OP_IMM, 1, K), load(TL_OP_LOAD_KERNEL, 0, 1, 8)}),
              Value(0x55, false));
}

TEST_F(Interpreter, Comparisons) {
    const __u64 minus = ~0ULL;
    struct Case {
        tl_op op;
        __u64 a;
        __u64 b;
        bool jumps;
    };
    const Case cases[] = {
        {TL_OP_JEQ, 5, 5, true},           {TL_OP_JEQ, 5, 6, false},
        {TL_OP_JEQ, 1ULL << 32, 0, false}, {TL_OP_JNE, 5, 5, false},
        {TL_OP_JNE, 1ULL << 63, 0, true},  {TL_OP_JLT, 5, 6, true},
        {TL_OP_JLT, 5, 5, false},          {TL_OP_JLT, 6, 5, false},
        {TL_OP_JLT, minus, 0, false},      {TL_OP_JLT, 0, minus, true},
        {TL_OP_JLE, 5, 6, true},           {TL_OP_JLE, 5, 5, true},
        {TL_OP_JLE, 6, 5, false},          {TL_OP_JLE, minus, 0, false},
        {TL_OP_JSLT, minus, 0, true},      {TL_OP_JSLT, 0, minus, false},
        {TL_OP_JSLT, 5, 5, false},         {TL_OP_JSLT, 1ULL << 63, ~(1ULL << 63), true},
        {TL_OP_JSLE, minus, 0, true},      {TL_OP_JSLE, 0, minus, false},
        {TL_OP_JSLE, 5, 5, true},          {TL_OP_JSLE, 6, 5, false},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(run({set(TL_OP_IMM, 3, c.a), set(TL_OP_IMM, 4, c.b), jump(c.op, 3, 4, 1),
                       insn(TL_OP_REJECT), insn(TL_OP_ACCEPT)})
                      .size,
                  c.jumps ? 0 : TL_REJECTED)
            << c.op << " " << c.a << " " << c.b;
    }
}

TEST_F(Interpreter, JumpsSkipWhatTheySay) {
    for (__u16 skip = 0; skip < 4; skip++) {
        // Every value stays reachable: a branch not taken goes there as well.
        const Result r =
            run({set(TL_OP_IMM, 0, 1), set(TL_OP_IMM, 1, 0), jump(TL_OP_JNE, 0, 1, skip), put(0, 4),
                 put(0, 4), put(0, 4), insn(TL_OP_ACCEPT)});
        EXPECT_EQ(r.size, 4 * (3 - skip));
    }
    EXPECT_EQ(run({set(TL_OP_IMM, 0, 7), jump(TL_OP_JNE, 0, 0, 1), jump(TL_OP_JMP, 0, 0, 1),
                   insn(TL_OP_REJECT), put(0, 4), insn(TL_OP_ACCEPT)})
                  .size,
              4);
    EXPECT_EQ(run({set(TL_OP_IMM, 0, 7), set(TL_OP_IMM, 1, 8), jump(TL_OP_JEQ, 0, 1, 1),
                   jump(TL_OP_JMP, 0, 0, 1), insn(TL_OP_REJECT), put(0, 4), insn(TL_OP_ACCEPT)})
                  .size,
              4);
}

TEST_F(Interpreter, AComparisonWithAFaultedSlotDoesNotJump) {
    for (const tl_op op : {TL_OP_JEQ, TL_OP_JNE, TL_OP_JLT, TL_OP_JLE, TL_OP_JSLT, TL_OP_JSLE}) {
        for (const __u64 other : {0ULL, 1ULL, ~0ULL}) {
            for (const bool first : {true, false}) {
                EXPECT_EQ(
                    run({set(TL_OP_IMM, 0, nowhere), load(TL_OP_LOAD_KERNEL, 1, 0, 8),
                         set(TL_OP_IMM, 2, other), first ? jump(op, 1, 2, 1) : jump(op, 2, 1, 1),
                         insn(TL_OP_REJECT), insn(TL_OP_ACCEPT)})
                        .size,
                    TL_REJECTED)
                    << op << " " << other << first;
            }
        }
    }
}

TEST_F(Interpreter, PutsTheLowBytesPadded) {
    const Result r = run({set(TL_OP_IMM, 0, 0x8877665544332211), put(0, 1), put(0, 2), put(0, 4),
                          put(0, 8), put(0, 1), insn(TL_OP_ACCEPT)});
    EXPECT_EQ(r.bytes, (std::vector<__u8>{0x11, 0,    0,    0,    0x11, 0x22, 0,    0,
                                          0x11, 0x22, 0x33, 0x44, 0x11, 0x22, 0x33, 0x44,
                                          0x55, 0x66, 0x77, 0x88, 0x11, 0,    0,    0}));
}

TEST_F(Interpreter, PutFaultsHasABitForEachPutSoFar) {
    const auto bad = [](__u8 slot) { return load(TL_OP_LOAD_KERNEL, slot, 15, 8); };
    const Result r =
        run({set(TL_OP_IMM, 15, nowhere), set(TL_OP_IMM, 0, 3), bad(1), insn(TL_OP_PUT_FAULTS),
             put(0, 4), put(1, 4), insn(TL_OP_PUT_FAULTS), put(1, 8), put(0, 1), put(1, 2),
             insn(TL_OP_PUT_FAULTS), insn(TL_OP_ACCEPT)});
    ASSERT_EQ(r.size, 4 + 8 + 4 + 16 + 4);
    EXPECT_EQ(r.u32(0), 0u);
    EXPECT_EQ(r.u32(4), 3u);
    EXPECT_EQ(r.u32(8), 0u);
    EXPECT_EQ(r.u32(12), 0b10u);
    EXPECT_EQ(r.u64(16), 0u);
    EXPECT_EQ(r.u32(24), 3u);
    EXPECT_EQ(r.u32(28), 0u);
    EXPECT_EQ(r.u32(32), 0b10110u);
}

TEST_F(Interpreter, PutFaultsFromTheThirtyFirstAreOne) {
    for (const __u32 faulted : {0U, 1U, 29U, 30U, 31U, 32U, 40U}) {
        Program p = {set(TL_OP_IMM, 15, nowhere), set(TL_OP_IMM, 0, 3),
                     load(TL_OP_LOAD_KERNEL, 1, 15, 8)};

        for (__u32 i = 0; i < 42; i++)
            p.push_back(put(i == faulted, 4));
        p.push_back(insn(TL_OP_PUT_FAULTS));
        p.push_back(insn(TL_OP_ACCEPT));
        EXPECT_EQ(run(p).u32(4 * 42), 1U << (faulted < 31 ? faulted : 31)) << faulted;
    }
}

TEST_F(Interpreter, ALoadByTheHalfThatTheAddressIsIn) {
    mock.kernel.store_u64(K + 8, 0x8182838485868788);
    mock.user.store_u64(U + 8, 0x9192939495969798);
    EXPECT_EQ(value({set(TL_OP_IMM, 1, K), load(TL_OP_LOAD, 0, 1, 8, 8)}),
              Value(0x8182838485868788, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, U), load(TL_OP_LOAD, 0, 1, 2, 8, TL_INSN_SIGNED)}),
              Value(0xffffffffffff9798, false));
    // The sum decides, not what it is made of.
    EXPECT_EQ(value({set(TL_OP_IMM, 1, 0x10), load(TL_OP_LOAD, 0, 1, 1, K - 8)}),
              Value(0x88, false));
    mock.kernel.map(1ULL << 63);
    mock.user.map((1ULL << 63) - 1);
    EXPECT_EQ(value({set(TL_OP_IMM, 1, 1ULL << 63), load(TL_OP_LOAD, 0, 1, 1)}), Value(0, false));
    EXPECT_EQ(value({set(TL_OP_IMM, 1, (1ULL << 63) - 1), load(TL_OP_LOAD, 0, 1, 1)}),
              Value(0, false));
    EXPECT_EQ(mock.kernel.reads.back().from, 1ULL << 63);
    EXPECT_EQ(mock.user.reads.back().from, (1ULL << 63) - 1);
    EXPECT_EQ(value({set(TL_OP_IMM, 1, 0), load(TL_OP_LOAD, 0, 1, 8)}), Value(0, true));
}

TEST_F(Interpreter, Arithmetic) {
    constexpr __u64 number = 0x8070605040302010;
    const auto made = [&](tl_op op, __u64 imm, __u8 size = 0) {
        return value({set(TL_OP_IMM, 3, number), load(op, 0, 3, size, imm)});
    };
    EXPECT_EQ(made(TL_OP_ADD, 5), Value(0x8070605040302015, false));
    EXPECT_EQ(made(TL_OP_ADD, -__u64{0x11}), Value(0x8070605040301fff, false));
    EXPECT_EQ(made(TL_OP_AND, 0xff0f), Value(0x2000, false));
    EXPECT_EQ(made(TL_OP_SHL, 4), Value(0x0706050403020100, false));
    EXPECT_EQ(made(TL_OP_SHL, 63), Value(0, false));
    EXPECT_EQ(made(TL_OP_SHR, 60), Value(8, false));
    EXPECT_EQ(made(TL_OP_SHR, 0), Value(number, false));
    EXPECT_EQ(made(TL_OP_SAR, 60), Value(0xfffffffffffffff8, false));
    EXPECT_EQ(made(TL_OP_SWAP, 0, 1), Value(0x10, false));
    EXPECT_EQ(made(TL_OP_SWAP, 0, 2), Value(0x1020, false));
    EXPECT_EQ(made(TL_OP_SWAP, 0, 4), Value(0x10203040, false));
    EXPECT_EQ(made(TL_OP_SWAP, 0, 8), Value(0x1020304050607080, false));
    for (const tl_op op : {TL_OP_ADD, TL_OP_AND, TL_OP_SHL, TL_OP_SHR, TL_OP_SAR, TL_OP_SWAP})
        EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 1, 1, 8),
                         load(op, 0, 1, 8, 9)}),
                  Value(0, true))
            << op;
}

TEST_F(Interpreter, WhatIsKnownOfTheTask) {
    mock.task = {11, 12, 13, 14, K};
    for (__u64 i = 0; i < 4; i++)
        EXPECT_EQ(value({set(TL_OP_TASK, 0, i)}), Value(11 + i, false));
    EXPECT_EQ(value({set(TL_OP_TASK, 0, TL_TASK_COMM)}), Value(K, false));
    EXPECT_EQ(value({set(TL_OP_TASK, 0, TL_TASK_TID)}, TL_AT_CALL_RETURN), Value(12, false));
}

class Matches : public Interpreter {
protected:
    // Whether the string at an address is the text.
    Value match(__u64 at, const std::string& text, __u64 room = 0) {
        Program p = {set(TL_OP_IMM, 1, at), load(TL_OP_MATCH, 0, 1, 0, text.size() | room << 32)};
        for (std::size_t i = 0; i < text.size(); i += 8) {
            p.push_back(insn(TL_OP_DATA));
            std::memcpy(&p.back().imm, text.data() + i, std::min<std::size_t>(8, text.size() - i));
        }
        return value(p);
    }
};

TEST_F(Matches, UpToTheNul) {
    mock.kernel.store(K, std::string("vfs_read\0x", 10));
    mock.user.store(U, std::string("dd\0", 3));
    EXPECT_EQ(match(K, "vfs_read"), Value(1, false));
    EXPECT_EQ(match(K, "vfs_rea"), Value(0, false));
    EXPECT_EQ(match(K, "vfs_readv"), Value(0, false));
    EXPECT_EQ(match(K, ""), Value(0, false));
    EXPECT_EQ(match(K + 8, ""), Value(1, false));
    EXPECT_EQ(match(U, "dd"), Value(1, false));
    EXPECT_EQ(match(U, "d"), Value(0, false));
    const std::string most(TL_MATCH_MAX, 'm');
    mock.kernel.store(K + 0x100, most + '\0');
    EXPECT_EQ(match(K + 0x100, most), Value(1, false));
    mock.kernel.store(K + 0x100 + TL_MATCH_MAX, "m");
    EXPECT_EQ(match(K + 0x100, most), Value(0, false));
}

TEST_F(Matches, AnArrayEndsWithANulOrWithout) {
    mock.kernel.store(K, std::string("abcdefgh", 8));
    mock.kernel.store(K + 0x20, std::string("abc\0efgh", 8));
    EXPECT_EQ(match(K, "abcd", 4), Value(1, false));
    EXPECT_EQ(match(K, "abc", 4), Value(0, false));
    EXPECT_EQ(match(K, "abcde", 4), Value(0, false)) << "longer than the array";
    EXPECT_EQ(match(K + 0x20, "abc", 4), Value(1, false));
    EXPECT_EQ(match(K + 0x20, "abc", 8), Value(1, false));
}

TEST_F(Matches, WhatCannotBeReadIsAFaultUnlessItDoesNotMatter) {
    mock.kernel.store(K + mock_page - 4, "wxyz");
    EXPECT_EQ(match(K + mock_page - 4, "wxyz"), Value(0, true));
    EXPECT_EQ(match(K + mock_page - 4, "wxyz", 4), Value(1, false));
    EXPECT_EQ(match(K + mock_page - 4, "wxaz!"), Value(0, false)) << "it differs before";
    EXPECT_EQ(match(nowhere, "a"), Value(0, true));
    EXPECT_EQ(match(0, ""), Value(0, true));
    // Of a faulted slot.
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 1, 1, 8),
                     load(TL_OP_MATCH, 0, 1, 0, 0)}),
              Value(0, true));
    // And sound again.
    EXPECT_EQ(value({set(TL_OP_IMM, 1, nowhere), load(TL_OP_LOAD_KERNEL, 0, 1, 8),
                     set(TL_OP_IMM, 1, K + mock_page - 4), load(TL_OP_MATCH, 0, 1, 0, 0)}),
              Value(0, false));
}

TEST_F(Matches, AcrossPiecesAndPages) {
    for (__u32 offset = 0; offset < 2 * TL_STR_PIECE; offset++) {
        for (const __u32 length : {1U, 7U, 8U, 9U, 63U, 64U, 65U, 127U, 128U}) {
            std::string text;
            mock = {};
            for (__u32 i = 0; i < length; i++)
                text.push_back(static_cast<char>(1 + (i * 7 + offset) % 255));
            const __u64 at = K + mock_page - TL_STR_PIECE + offset;
            mock.kernel.store(at, text + '\0');
            ASSERT_EQ(match(at, text), Value(1, false)) << offset << " " << length;
            text.back() = static_cast<char>(text.back() ^ 0x40);
            ASSERT_EQ(match(at, text), Value(0, false)) << offset << " " << length;
            for (const MockMemory::Read& read : mock.kernel.reads) {
                ASSERT_LE(read.n, TL_STR_PIECE + 0u);
                ASSERT_EQ(read.from / mock_page, (read.from + read.n - 1) / mock_page);
            }
        }
    }
}

class Strings : public Interpreter {
protected:
    // The field of the string at an address, at most max bytes.
    Result string(__u64 at, __u64 max, bool user = false) {
        return run({set(TL_OP_IMM, 0, at),
                    put_string(user ? TL_OP_STR_USER : TL_OP_STR_KERNEL, 0, max),
                    insn(TL_OP_ACCEPT)});
    }

    static std::vector<__u8> field(__u16 status, const std::string& s) {
        std::vector<__u8> f((4 + s.size() + 3) / 4 * 4);

        f[0] = static_cast<__u8>(status);
        f[2] = static_cast<__u8>(s.size());
        f[3] = static_cast<__u8>(s.size() >> 8);
        std::copy(s.begin(), s.end(), f.begin() + 4);
        return f;
    }

    // The rule, a byte at a time.
    std::vector<__u8> expected(MockMemory memory, __u64 at, __u32 max) {
        std::string s;
        __u8 c;

        if (at == 0)
            return field(TL_STR_NULL, "");
        for (;;) {
            if (memory.load(&c, at + s.size(), 1))
                return field(s.size() == max ? TL_STR_CUT : TL_STR_FAULT, s);
            if (!c)
                return field(TL_STR_WHOLE, s);
            if (s.size() == max)
                return field(TL_STR_CUT, s);
            s.push_back(static_cast<char>(c));
        }
    }
};

TEST_F(Strings, FourDifferentThings) {
    using namespace std::string_literals;
    mock.kernel.store(K, "hello\0garbage"s);
    mock.kernel.store(K + 0x100, "\0x"s);
    EXPECT_EQ(string(K, 64).bytes, field(TL_STR_WHOLE, "hello"));
    EXPECT_EQ(string(K + 0x100, 64).bytes, field(TL_STR_WHOLE, ""));
    EXPECT_EQ(string(K, 3).bytes, field(TL_STR_CUT, "hel"));
    EXPECT_EQ(string(nowhere, 64).bytes, field(TL_STR_FAULT, ""));
    EXPECT_EQ(string(0, 64).bytes, field(TL_STR_NULL, ""));
}

TEST_F(Strings, ExactlyTheRoom) {
    mock.kernel.store(K, std::string("abcdefgh\0", 9));
    EXPECT_EQ(string(K, 9).bytes, field(TL_STR_WHOLE, "abcdefgh"));
    EXPECT_EQ(string(K, 8).bytes, field(TL_STR_WHOLE, "abcdefgh"));
    EXPECT_EQ(string(K, 7).bytes, field(TL_STR_CUT, "abcdefg"));
    EXPECT_EQ(string(K, 1).bytes, field(TL_STR_CUT, "a"));
    // The byte that would tell is unreadable: cut.
    mock.kernel.store(K + mock_page - 4, "wxyz");
    EXPECT_EQ(string(K + mock_page - 4, 4).bytes, field(TL_STR_CUT, "wxyz"));
    EXPECT_EQ(string(K + mock_page - 4, 5).bytes, field(TL_STR_FAULT, "wxyz"));
    mock.kernel.store_u64(K + mock_page, 0);
    EXPECT_EQ(string(K + mock_page - 4, 4).bytes, field(TL_STR_WHOLE, "wxyz"));
}

TEST_F(Strings, AFaultAfterAPageKeepsWhatWasBefore) {
    for (const __u32 before : {1U, 3U, 63U, 64U, 65U, 200U, 1023U, 4095U}) {
        mock = {};
        const std::string s(before, 'p');
        mock.kernel.store(K + mock_page - before, s);
        EXPECT_EQ(string(K + mock_page - before, TL_STR_MAX).bytes, field(TL_STR_FAULT, s));
    }
}

TEST_F(Strings, KernelAndUserAreTwoSpaces) {
    mock.kernel.store(K, std::string("kernel\0", 7));
    mock.user.store(U, std::string("user\0", 5));
    EXPECT_EQ(string(K, 64).bytes, field(TL_STR_WHOLE, "kernel"));
    EXPECT_EQ(string(U, 64, true).bytes, field(TL_STR_WHOLE, "user"));
    EXPECT_EQ(string(U, 64).bytes, field(TL_STR_FAULT, ""));
    EXPECT_EQ(string(K, 64, true).bytes, field(TL_STR_FAULT, ""));
    EXPECT_EQ(string(0, 64, true).bytes, field(TL_STR_NULL, ""));
}

TEST_F(Strings, ByTheHalfThatTheAddressIsIn) {
    mock.kernel.store(K, std::string("kernel\0", 7));
    mock.user.store(U, std::string("user\0", 5));
    const auto text = [&](__u64 at) {
        return run({set(TL_OP_IMM, 0, at), put_string(TL_OP_STR, 0, 64), insn(TL_OP_ACCEPT)}).bytes;
    };
    EXPECT_EQ(text(K), field(TL_STR_WHOLE, "kernel"));
    EXPECT_EQ(text(U), field(TL_STR_WHOLE, "user"));
    EXPECT_EQ(text(0), field(TL_STR_NULL, ""));
    EXPECT_EQ(text(nowhere), field(TL_STR_FAULT, ""));
}

TEST_F(Strings, AnArrayThatIsFullIsWhole) {
    mock.kernel.store(K + mock_page - 8, std::string("abc\0efgh", 8));
    const auto array = [&](__u64 at, __u64 size) {
        tl_insn put = put_string(TL_OP_STR, 0, size);
        put.flags = TL_INSN_ARRAY;
        return run({set(TL_OP_IMM, 0, at), put, insn(TL_OP_ACCEPT)}).bytes;
    };
    EXPECT_EQ(array(K + mock_page - 8, 8), field(TL_STR_WHOLE, "abc"));
    EXPECT_EQ(array(K + mock_page - 8, 2), field(TL_STR_WHOLE, "ab"));
    EXPECT_EQ(array(K + mock_page - 4, 4), field(TL_STR_WHOLE, "efgh"));
    EXPECT_EQ(array(K + mock_page - 4, 5), field(TL_STR_FAULT, "efgh"));
}

TEST_F(Strings, BytesAreTakenAsTheyAre) {
    using namespace std::string_literals;
    mock.kernel.store(K + mock_page - 8, "a\0b\0\0\xff"s + "zz");
    mock.user.store(U, "u\0v"s);
    const auto bytes = [&](__u64 at, __u64 size) {
        return run({set(TL_OP_IMM, 0, at), put_string(TL_OP_BYTES, 0, size), insn(TL_OP_ACCEPT)})
            .bytes;
    };
    EXPECT_EQ(bytes(K + mock_page - 8, 6), field(TL_STR_WHOLE, "a\0b\0\0\xff"s));
    EXPECT_EQ(bytes(U, 3), field(TL_STR_WHOLE, "u\0v"s));
    EXPECT_EQ(bytes(K + mock_page - 8, 9), field(TL_STR_FAULT, "a\0b\0\0\xffzz"s));
    EXPECT_EQ(bytes(nowhere, 6), field(TL_STR_FAULT, ""));
    EXPECT_EQ(bytes(0, 6), field(TL_STR_NULL, ""));
    const std::string most(TL_STR_MAX, '\0');
    mock.kernel.store(K + 0x8001, most);
    EXPECT_EQ(bytes(K + 0x8001, TL_STR_MAX), field(TL_STR_WHOLE, most));
}

TEST_F(Strings, OfAFaultedSlot) {
    const Result r =
        run({set(TL_OP_IMM, 0, nowhere), load(TL_OP_LOAD_KERNEL, 1, 0, 8),
             put_string(TL_OP_STR_KERNEL, 1, 16), put_string(TL_OP_STR_USER, 1, 16), put(1, 4),
             insn(TL_OP_PUT_FAULTS), put_string(TL_OP_BYTES, 1, 16), insn(TL_OP_ACCEPT)});
    ASSERT_EQ(r.size, 20);
    EXPECT_EQ(r.u32(16), TL_STR_FAULT + 0u);
    EXPECT_EQ(r.u32(0), TL_STR_FAULT + 0u); // not null, though a 0 is in the slot
    EXPECT_EQ(r.u32(4), TL_STR_FAULT + 0u);
    EXPECT_EQ(r.u32(12), 1u); // strings are no puts
}

TEST_F(Strings, WhatFollowsAStringFollowsItsEnd) {
    mock.kernel.store(K, std::string("12345\0", 6));
    const Result r = run({set(TL_OP_IMM, 0, K), put_string(TL_OP_STR_KERNEL, 0, 100), put(0, 8),
                          put_string(TL_OP_STR_KERNEL, 0, 2), insn(TL_OP_ACCEPT)});
    ASSERT_EQ(r.size, 12 + 8 + 8);
    EXPECT_EQ(r.u64(12), K);
    EXPECT_EQ(r.u32(20), TL_STR_CUT | 2u << 16);
    EXPECT_EQ(r.u32(24), 0x3231u);
}

// Every alignment within a piece, lengths around its size, and every kind of end:
// a NUL, more than the room, a page that is not there.
TEST_F(Strings, AcrossPieces) {
    const __u32 lengths[] = {0, 1, 2, 3, 4, 5, 62, 63, 64, 65, 66, 127, 128, 129, 200};
    const __u32 rooms[] = {1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 199, 200, 201, 1024};

    for (__u32 offset = 0; offset < TL_STR_PIECE; offset++) {
        for (const __u32 length : lengths) {
            // In the middle of a page, over its end, and up to a hole.
            for (int kind = 0; kind < 3; kind++) {
                __u64 at = K + 64 * 8 + offset;
                std::string s;

                mock = {};
                for (__u32 i = 0; i < length; i++)
                    s.push_back(static_cast<char>(1 + (i * 7 + offset) % 255));
                if (kind == 1)
                    at = K + mock_page - 64 + offset;
                if (kind == 2)
                    at = K + mock_page - length;
                mock.kernel.map(at);
                mock.kernel.store(at, s);
                if (kind != 2)
                    mock.kernel.store(at + length,
                                      "\0"
                                      "x",
                                      2);
                for (const __u32 room : rooms) {
                    const std::vector<__u8> want = expected(mock.kernel, at, room);

                    mock.kernel.reads.clear();
                    const Result r = string(at, room);
                    ASSERT_EQ(r.bytes, want) << "offset " << offset << " length " << length
                                             << " kind " << kind << " room " << room;
                    for (const MockMemory::Read& read : mock.kernel.reads) {
                        ASSERT_LE(read.n, TL_STR_PIECE + 0u);
                        ASSERT_EQ(read.from / mock_page, (read.from + read.n - 1) / mock_page);
                    }
                }
            }
        }
    }
}

TEST_F(Strings, AtTheEndOfTheAddressSpace) {
    mock.kernel.store(~0ULL - 3, "last");
    EXPECT_EQ(string(~0ULL - 3, 64).bytes, field(TL_STR_FAULT, "last"));
    EXPECT_EQ(string(~0ULL - 3, 4).bytes, field(TL_STR_CUT, "last"));
}

TEST_F(Interpreter, Stacks) {
    mock.stack = {0xffffffff81000001, 0xffffffff81000002, 0xffffffff81000003};
    // Room for one more.
    Result r = run({put_stack(4, TL_INSN_AT_ENTRY), insn(TL_OP_ACCEPT)});
    ASSERT_EQ(r.size, 4 + 3 * 8);
    EXPECT_EQ(r.u32(0), TL_STACK_WHOLE | 3U << 16);
    EXPECT_EQ(r.u64(4), 0xffffffff81000001);
    EXPECT_EQ(r.u64(20), 0xffffffff81000003);
    EXPECT_EQ(mock.stack_flags, TL_INSN_AT_ENTRY);

    // Too little, and what follows it.
    r = run({put_stack(2, TL_INSN_AT_RETURN), set(TL_OP_IMM, 0, 7), put(0, 4), insn(TL_OP_ACCEPT)},
            TL_AT_CALL_RETURN);
    ASSERT_EQ(r.size, 4 + 2 * 8 + 4);
    EXPECT_EQ(r.u32(0), TL_STACK_CUT | 2U << 16);
    EXPECT_EQ(r.u64(12), 0xffffffff81000002);
    EXPECT_EQ(r.u32(20), 7U);
    EXPECT_EQ(mock.stack_flags, TL_INSN_AT_RETURN);

    // None could be taken.
    mock.stack = {};
    r = run({put_stack(TL_STACK_MAX, 0), insn(TL_OP_ACCEPT)}, TL_AT_OFFSET);
    ASSERT_EQ(r.size, 4);
    EXPECT_EQ(r.u32(0), static_cast<__u64>(TL_STACK_FAULT));
}

} // namespace
