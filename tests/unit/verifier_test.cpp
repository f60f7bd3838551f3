// SPDX-License-Identifier: GPL-2.0
// What the verifier refuses and why; and whatever it lets pass, from many random
// programs, keeps to what it stated when it runs.
#include "mock_machine.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

const tl_insn accept = insn(TL_OP_ACCEPT);

struct Refusal {
    const char* text;
    Program program;
    __u32 at;
    tl_site site = TL_AT_ENTRY;
    __u32 fields = 0;
};

Program repeated(std::size_t n, tl_insn what, const Program& before, const Program& after) {
    Program p = before;

    p.insert(p.end(), n, what);
    p.insert(p.end(), after.begin(), after.end());
    return p;
}

tl_insn with(tl_insn i, void (*change)(tl_insn&)) {
    change(i);
    return i;
}

std::vector<Refusal> refusals() {
    const tl_insn imm = set(TL_OP_IMM, 0, 1);
    const tl_insn big = put_string(TL_OP_STR_KERNEL, 0, TL_STR_MAX);
    const char* entry = "arguments can be loaded at a function's entry only";
    const char* ret = "the return value can be loaded at a return only";
    const char* duration = "the duration can be loaded at a call's return only";
    const char* fields = "the entry's fields can be loaded at a call's return only";
    const char* field = "the entry may not have stored that field";
    const char* slot = "no such slot";
    const char* unwritten = "reads a slot that may not have been written";
    const char* size = "a size is 1, 2, 4 or 8";
    const char* room = "a string has room for 1 to 4096 bytes";
    const char* frames = "a stack has room for 1 to 127 frames";
    const char* site = "a stack's flags are those of another site";
    const char* past = "jumps past the end";
    const char* unreachable = "unreachable instruction";
    const char* off = "runs off its end";
    const char* much = "stores more than 8000 bytes";
    const char* shift = "a shift is by less than 64 bits";
    const char* lacks = "lacks the text to look for";
    const tl_insn data = insn(TL_OP_DATA);

    return {
        {"a program has at least one instruction", {}, 0},
        {"a program has at most 256 instructions", repeated(256, imm, {}, {accept}), 0},
        {"unknown opcode", {imm, insn(TL_OPS), accept}, 1},
        {"unknown opcode", {insn(static_cast<tl_op>(255)), accept}, 0},
        {slot, {set(TL_OP_IMM, TL_SLOTS), accept}, 0},
        {slot, {with(accept, [](tl_insn& i) { i.a = 16; })}, 0},
        {slot, {imm, with(put(0, 4), [](tl_insn& i) { i.b = 255; }), accept}, 1},
        {"unknown flags", {imm, load(TL_OP_LOAD_KERNEL, 0, 0, 4, 0, 2), accept}, 1},
        {"unknown flags", {with(accept, [](tl_insn& i) { i.flags = 0x80; })}, 0},
        {"no such register", {set(TL_OP_REG, 0, mock_regs), accept}, 0},
        {"no such register", {set(TL_OP_REG, 0, 1ULL << 32), accept}, 0},
        {entry, {set(TL_OP_ARG, 0, 0), accept}, 0, TL_AT_OFFSET},
        {entry, {imm, set(TL_OP_ARG, 0, 0), accept}, 1, TL_AT_RETURN},
        {"no such argument", {set(TL_OP_ARG, 0, TL_ARGS_MAX), accept}, 0},
        {"no such argument", {set(TL_OP_ARG, 0, ~0ULL), accept}, 0},
        {ret, {set(TL_OP_RETVAL, 0), accept}, 0, TL_AT_ENTRY},
        {ret, {set(TL_OP_RETVAL, 0), accept}, 0, TL_AT_OFFSET},
        {duration, {set(TL_OP_DURATION, 0), accept}, 0, TL_AT_ENTRY, 48},
        {duration, {set(TL_OP_DURATION, 0), accept}, 0, TL_AT_OFFSET, 48},
        {duration, {imm, set(TL_OP_DURATION, 0), accept}, 1, TL_AT_RETURN, 48},
        {fields, {set(TL_OP_FIELD, 0), accept}, 0, TL_AT_ENTRY, 48},
        {fields, {set(TL_OP_FIELD, 0), accept}, 0, TL_AT_OFFSET, 48},
        {fields, {set(TL_OP_FIELD, 0), accept}, 0, TL_AT_RETURN, 48},
        {field, {set(TL_OP_FIELD, 0, 0), accept}, 0, TL_AT_CALL_RETURN, 0},
        {field, {set(TL_OP_FIELD, 0, 0), accept}, 0, TL_AT_CALL_RETURN, 7},
        {field, {set(TL_OP_FIELD, 0, 1), accept}, 0, TL_AT_CALL_RETURN, 8},
        {field, {imm, set(TL_OP_FIELD, 0, 41), accept}, 1, TL_AT_CALL_RETURN, 48},
        {field, {set(TL_OP_FIELD, 0, ~0ULL), accept}, 0, TL_AT_CALL_RETURN, 48},
        {field, {set(TL_OP_FIELD, 0, ~0ULL - 7), accept}, 0, TL_AT_CALL_RETURN, 48},
        {field, {part(TL_OP_FIELD, 1, 4), accept}, 0, TL_AT_CALL_RETURN, 4},
        {field, {part(TL_OP_FIELD, 4, 1), accept}, 0, TL_AT_CALL_RETURN, 7},
        {size, {part(TL_OP_FIELD, 0, 3), accept}, 0, TL_AT_CALL_RETURN, 48},
        {size, {part(TL_OP_RETVAL, 0, 16), accept}, 0, TL_AT_RETURN},
        {size, {part(TL_OP_ARG, 0, 5), accept}, 0},
        {size, {part(TL_OP_REG, 0, 7), accept}, 0, TL_AT_OFFSET},
        {slot, {set(TL_OP_FIELD, TL_SLOTS, 0), accept}, 0, TL_AT_CALL_RETURN, 48},
        {slot, {set(TL_OP_DURATION, TL_SLOTS), accept}, 0, TL_AT_CALL_RETURN, 48},
        {entry, {set(TL_OP_ARG, 0, 0), accept}, 0, TL_AT_CALL_RETURN, 48},
        {size, {imm, load(TL_OP_LOAD_KERNEL, 0, 0, 0), accept}, 1},
        {size, {imm, load(TL_OP_LOAD_USER, 0, 0, 3), accept}, 1},
        {size, {imm, put(0, 16), accept}, 1},
        {room, {imm, put_string(TL_OP_STR_KERNEL, 0, 0), accept}, 1},
        {room, {imm, put_string(TL_OP_STR_USER, 0, TL_STR_MAX + 1), accept}, 1},
        {room, {imm, put_string(TL_OP_STR_USER, 0, 1ULL << 32 | 4), accept}, 1},
        {"unknown flags",
         {imm, with(put_string(TL_OP_STR, 0, 8), [](tl_insn& i) { i.flags = 1; })},
         1},
        {"unknown flags", {imm, load(TL_OP_ADD, 0, 0, 0, 0, TL_INSN_ARRAY), accept}, 1},
        {size, {imm, load(TL_OP_LOAD, 0, 0, 0), accept}, 1},
        {size, {imm, load(TL_OP_SWAP, 0, 0, 0), accept}, 1},
        {room, {imm, put_string(TL_OP_STR, 0, 0), accept}, 1},
        {room, {imm, put_string(TL_OP_BYTES, 0, TL_STR_MAX + 1), accept}, 1},
        {shift, {imm, load(TL_OP_SHL, 0, 0, 0, 64), accept}, 1},
        {shift, {imm, load(TL_OP_SHR, 0, 0, 0, ~0ULL), accept}, 1},
        {shift, {imm, load(TL_OP_SAR, 0, 0, 0, 64), accept}, 1},
        {frames, {put_stack(0, TL_INSN_AT_ENTRY), accept}, 0},
        {frames, {put_stack(TL_STACK_MAX + 1, TL_INSN_AT_ENTRY), accept}, 0},
        {frames, {put_stack(1ULL << 32 | 4, TL_INSN_AT_RETURN), accept}, 0, TL_AT_RETURN},
        {site, {put_stack(4, 0), accept}, 0, TL_AT_ENTRY},
        {site, {put_stack(4, TL_INSN_AT_RETURN), accept}, 0, TL_AT_ENTRY},
        {site, {put_stack(4, TL_INSN_AT_ENTRY), accept}, 0, TL_AT_OFFSET},
        {site, {put_stack(4, 0), accept}, 0, TL_AT_RETURN},
        {site, {put_stack(4, TL_INSN_AT_ENTRY), accept}, 0, TL_AT_CALL_RETURN, 48},
        {site,
         {put_stack(4, TL_INSN_AT_ENTRY | TL_INSN_AT_RETURN), accept},
         0,
         TL_AT_CALL_RETURN,
         48},
        {"unknown flags", {put_stack(4, TL_INSN_AT_ENTRY | TL_INSN_SIGNED), accept}, 0},
        {"unknown flags", {imm, load(TL_OP_ADD, 0, 0, 0, 0, TL_INSN_AT_ENTRY), accept}, 1},
        {"nothing such is known of a task", {set(TL_OP_TASK, 0, TL_TASK_WORDS), accept}, 0},
        {"a text to look for has 128 bytes at most",
         {imm, load(TL_OP_MATCH, 0, 0, 0, TL_MATCH_MAX + 1), accept},
         1},
        {lacks, {imm, load(TL_OP_MATCH, 0, 0, 0, 1), accept}, 1},
        {lacks, {imm, load(TL_OP_MATCH, 0, 0, 0, 9), data, accept}, 1},
        {lacks, {imm, load(TL_OP_MATCH, 0, 0, 0, 8), accept, data}, 1},
        {lacks, {imm, load(TL_OP_MATCH, 0, 0, 0, 128), data, data}, 1},
        {off, {imm, load(TL_OP_MATCH, 0, 0, 0, 8), data}, 2},
        {unreachable, {accept, accept}, 1},
        {unreachable, {insn(TL_OP_REJECT), imm, accept}, 1},
        {unreachable, {jump(TL_OP_JMP, 0, 0, 1), imm, accept}, 1},
        {unwritten, {put(0, 4), accept}, 0},
        {unwritten, {imm, put(1, 4), accept}, 1},
        {unwritten, {load(TL_OP_LOAD_KERNEL, 0, 0, 8), accept}, 0},
        {unwritten, {load(TL_OP_LOAD_USER, 0, 15, 8), accept}, 0},
        {unwritten, {put_string(TL_OP_STR_KERNEL, 3, 8), accept}, 0},
        {unwritten, {put_string(TL_OP_STR_USER, 3, 8), accept}, 0},
        {unwritten, {put_string(TL_OP_STR, 3, 8), accept}, 0},
        {unwritten, {put_string(TL_OP_BYTES, 3, 8), accept}, 0},
        {unwritten, {load(TL_OP_LOAD, 0, 1, 8), accept}, 0},
        {unwritten, {load(TL_OP_ADD, 0, 1, 0), accept}, 0},
        {unwritten, {load(TL_OP_AND, 0, 1, 0), accept}, 0},
        {unwritten, {load(TL_OP_SHL, 0, 1, 0), accept}, 0},
        {unwritten, {load(TL_OP_SHR, 0, 1, 0), accept}, 0},
        {unwritten, {load(TL_OP_SAR, 0, 1, 0), accept}, 0},
        {unwritten, {load(TL_OP_SWAP, 0, 1, 8), accept}, 0},
        {unwritten, {load(TL_OP_MATCH, 0, 1, 0), accept}, 0},
        {unwritten, {imm, jump(TL_OP_JEQ, 0, 1, 0), accept}, 1},
        {unwritten, {imm, jump(TL_OP_JSLE, 1, 0, 0), accept}, 1},
        // Written on one way only: by falling through, or before the jump's other end.
        {unwritten, {imm, jump(TL_OP_JLT, 0, 0, 1), set(TL_OP_IMM, 1), put(1, 4), accept}, 3},
        {unwritten,
         {imm, jump(TL_OP_JNE, 0, 0, 2), set(TL_OP_IMM, 1), jump(TL_OP_JMP, 0, 0, 1),
          set(TL_OP_IMM, 2), put(1, 4), accept},
         5},
        {much, repeated(2, big, {imm}, {accept}), 2},
        {much, {imm, big, put_string(TL_OP_STR_USER, 0, 3893), put(0, 1), accept}, 3},
        {much, {imm, big, put_string(TL_OP_BYTES, 0, 3897), accept}, 2},
        {much, {imm, big, put_string(TL_OP_STR_USER, 0, 3893), insn(TL_OP_PUT_FAULTS), accept}, 3},
        // Too much on the longer of two ways.
        {much,
         {imm, big, jump(TL_OP_JEQ, 0, 0, 1), put_string(TL_OP_STR_USER, 0, 3884),
          put_string(TL_OP_STR_USER, 0, 12), accept},
         4},
        {past, {imm, jump(TL_OP_JEQ, 0, 0, 1), accept}, 1},
        {past, {imm, jump(TL_OP_JMP, 0, 0, 0xffff), accept}, 1},
        {past, {imm, jump(TL_OP_JMP, 0, 0, 0)}, 1},
        {off, {imm}, 0},
        {off, {imm, put(0, 4)}, 1},
        {unreachable, {accept, imm}, 1}, // and not what it would run into
    };
}

TEST(Verifier, RefusesWithItsReasonAtThePlace) {
    for (const Refusal& r : refusals()) {
        const tl_verdict v = verify(r.program, r.site, r.fields);

        ASSERT_NE(v.text, nullptr) << r.text;
        EXPECT_STREQ(v.text, r.text);
        EXPECT_EQ(v.insn, r.at) << r.text;
    }
}

// A text in the header that no program here triggers is a test missing.
TEST(Verifier, EveryReasonHasAProgram) {
    std::string path = __FILE__;
    path = path.substr(0, path.rfind('/')) + "/../../shared/verifier.h";
    std::ifstream file(path);
    ASSERT_TRUE(file) << path;
    std::stringstream text;
    text << file.rdbuf();
    const std::string source = text.str();
    const std::regex quoted("\"([^\"\n]* [^\"\n]*)\""); // more than a word
    std::set<std::string> known;
    std::size_t found = 0;

    for (const Refusal& r : refusals())
        known.insert(r.text);
    for (std::sregex_iterator i(source.begin(), source.end(), quoted), end; i != end; ++i) {
        found++;
        EXPECT_EQ(known.count((*i)[1].str()), 1u) << (*i)[1];
    }
    EXPECT_EQ(found, known.size());
}

TEST(Verifier, AcceptsAndStatesTheSize) {
    const tl_insn imm = set(TL_OP_IMM, 0, 1);
    const tl_insn big = put_string(TL_OP_STR_KERNEL, 0, TL_STR_MAX);
    struct Accepted {
        Program program;
        __u32 size;
        tl_site site = TL_AT_ENTRY;
        __u32 fields = 0;
    };
    const std::vector<Accepted> all = {
        {{accept}, 0},
        {{insn(TL_OP_REJECT)}, 0},
        {repeated(255, imm, {}, {accept}), 0},
        {{imm, put(0, 1), put(0, 2), put(0, 4), put(0, 8), accept}, 20},
        {{insn(TL_OP_PUT_FAULTS), accept}, 4},
        {{imm, put_string(TL_OP_STR_USER, 0, 1), accept}, 8},
        {{imm, put_string(TL_OP_STR_USER, 0, 4), accept}, 8},
        {{imm, put_string(TL_OP_STR_USER, 0, 5), accept}, 12},
        {{put_stack(1, TL_INSN_AT_ENTRY), accept}, 12},
        {{put_stack(TL_STACK_MAX, TL_INSN_AT_ENTRY), accept}, 1020},
        {{imm, big, accept}, 4100},
        {{imm, big, put_string(TL_OP_STR_USER, 0, 3896), accept}, 8000},
        {{imm, put_string(TL_OP_STR, 0, 5), put_string(TL_OP_BYTES, 0, 6), accept}, 24},
        {{imm, load(TL_OP_LOAD, 1, 0, 8), load(TL_OP_ADD, 2, 1, 0), load(TL_OP_AND, 3, 2, 0),
          load(TL_OP_SHL, 4, 3, 0, 63), load(TL_OP_SHR, 5, 4, 0, 63), load(TL_OP_SAR, 6, 5, 0, 63),
          load(TL_OP_SWAP, 7, 6, 2), load(TL_OP_MATCH, 8, 7, 0, 0),
          set(TL_OP_TASK, 9, TL_TASK_COMM), put(8, 8), put(9, 8), accept},
         16},
        {{imm, load(TL_OP_MATCH, 1, 0, 0, 9), insn(TL_OP_DATA), insn(TL_OP_DATA), put(1, 1),
          accept},
         4},
        {{imm, put(0, 8), insn(TL_OP_REJECT)}, 8},
        // The longer way counts, also if it ends in a rejection: it stores as well.
        {{imm, jump(TL_OP_JEQ, 0, 0, 1), put(0, 8), put(0, 4), accept}, 12},
        {{imm, jump(TL_OP_JEQ, 0, 0, 2), put(0, 8), accept, accept}, 8},
        {{imm, jump(TL_OP_JEQ, 0, 0, 3), put(0, 8), put(0, 8), insn(TL_OP_REJECT), accept}, 16},
        // Written on both ways.
        {{imm, jump(TL_OP_JEQ, 0, 0, 2), set(TL_OP_IMM, 1), jump(TL_OP_JMP, 0, 0, 1),
          set(TL_OP_IMM, 1), put(1, 4), accept},
         4},
        {{set(TL_OP_ARG, 15, TL_ARGS_MAX - 1), put(15, 8), accept}, 8},
        {{set(TL_OP_REG, 0, mock_regs - 1), put(0, 8), accept}, 8, TL_AT_OFFSET},
        {{set(TL_OP_RETVAL, 0), put(0, 8), accept}, 8, TL_AT_RETURN},
        {{set(TL_OP_RETVAL, 0), put(0, 8), accept}, 8, TL_AT_CALL_RETURN},
        {{set(TL_OP_DURATION, 3), put(3, 8), accept}, 8, TL_AT_CALL_RETURN},
        {{set(TL_OP_FIELD, 3, 0), put(3, 8), accept}, 8, TL_AT_CALL_RETURN, 8},
        {{set(TL_OP_FIELD, 3, 1), put(3, 8), accept}, 8, TL_AT_CALL_RETURN, 9},
        {{set(TL_OP_FIELD, 15, 40), put(15, 8), accept}, 8, TL_AT_CALL_RETURN, 48},
        {{part(TL_OP_FIELD, 4, 4), put(0, 4), accept}, 4, TL_AT_CALL_RETURN, 8},
        {{part(TL_OP_FIELD, 0, 1), put(0, 1), accept}, 4, TL_AT_CALL_RETURN, 4},
        {{part(TL_OP_RETVAL, 0, 4), put(0, 4), accept}, 4, TL_AT_RETURN},
        {{imm, load(TL_OP_LOAD_KERNEL, 0, 0, 4, ~0ULL, TL_INSN_SIGNED), put(0, 4), accept}, 4},
    };
    for (const Accepted& a : all) {
        const tl_verdict v = verify(a.program, a.site, a.fields);

        EXPECT_EQ(v.text, nullptr) << v.text << " at " << v.insn;
        EXPECT_EQ(v.size, a.size);
    }
}

// What the return of a call can count on.
TEST(Verifier, StatesTheLeastThatAnAcceptedHitStores) {
    const tl_insn imm = set(TL_OP_IMM, 0, 1);
    const tl_insn string = put_string(TL_OP_STR_KERNEL, 0, TL_STR_MAX);
    const tl_insn reject = insn(TL_OP_REJECT);
    const std::vector<std::pair<Program, __u32>> all = {
        {{accept}, 0},
        {{imm, put(0, 1), put(0, 8), insn(TL_OP_PUT_FAULTS), accept}, 16},
        {{imm, put(0, 8), string, accept}, 12}, // it may be empty
        // The shorter way.
        {{imm, jump(TL_OP_JEQ, 0, 0, 1), put(0, 8), put(0, 4), accept}, 4},
        {{imm, jump(TL_OP_JEQ, 0, 0, 2), put(0, 8), jump(TL_OP_JMP, 0, 0, 1), imm, accept}, 0},
        {{imm, put(0, 8), jump(TL_OP_JEQ, 0, 0, 1), accept, put(0, 8), accept}, 8},
        {{imm, put(0, 8), jump(TL_OP_JEQ, 0, 0, 2), put(0, 8), accept, accept}, 8},
        // Of what is rejected nothing is kept, so nobody counts on it.
        {{imm, jump(TL_OP_JEQ, 0, 0, 1), reject, put(0, 8), accept}, 8},
        {{imm, jump(TL_OP_JEQ, 0, 0, 2), put(0, 8), accept, reject}, 8},
        {{imm, put(0, 8), reject}, 0},
    };
    for (const auto& [program, least] : all) {
        const tl_verdict v = verify(program);

        EXPECT_EQ(v.text, nullptr) << v.text << " at " << v.insn;
        EXPECT_EQ(v.least, least);
    }
}

// What was on the stack where the interpreter's slots will be.
__attribute__((noinline)) void soil_stack(__u8 with) {
    volatile __u8 room[2048];

    for (volatile __u8& byte : room)
        byte = with;
}

class RandomPrograms : public testing::Test {
protected:
    static constexpr __u64 kernel = 0xffff888000000000;
    static constexpr __u64 user = 0x7f0000000000;

    void SetUp() override {
        mock = {};
        for (__u64 i = 0; i < 3 * mock_page; i++) {
            if (i / mock_page == 1)
                continue; // a hole
            const __u8 byte = random_() % 40 ? static_cast<__u8>(random_()) : 0;
            mock.kernel.store(kernel + i, &byte, 1);
            mock.user.store(user + i, &byte, 1);
        }
        for (auto& word : regs_.word)
            word = address();
        for (auto& word : regs_.arg)
            word = address();
        regs_.stack = kernel + 64;
        regs_.result = address();
    }

    __u64 address() {
        switch (random_() % 8) {
        case 0:
            return random_();
        case 1:
            return random_() % 3;
        case 2:
        case 3:
            return user + random_() % (4 * mock_page);
        default:
            return kernel + random_() % (4 * mock_page);
        }
    }

    // Mostly near what can pass.
    tl_insn instruction(std::size_t left) {
        static const __u8 sizes[] = {1, 2, 4, 8};
        tl_insn i = {};
        const auto slot = [&] {
            return static_cast<__u8>(random_() % 400 ? random_() % 3 : random_() % 20);
        };

        i.op = static_cast<__u8>(random_() % 300 ? 2 + random_() % (TL_OPS - 2) : random_() % 256);
        i.dst = slot();
        i.a = slot();
        i.b = slot();
        i.size = random_() % 200 ? sizes[random_() % 4] : static_cast<__u8>(random_());
        i.flags = random_() % 200 ? random_() % 2 : static_cast<__u8>(random_());
        i.jump = static_cast<__u16>(random_() % 200 ? random_() % (left + 1) : random_());
        switch (i.op) {
        case TL_OP_REG:
            i.imm = random_() % (mock_regs + (random_() % 20 == 0));
            break;
        case TL_OP_ARG:
            i.imm = random_() % (TL_ARGS_MAX + (random_() % 20 == 0));
            break;
        case TL_OP_LOAD_KERNEL:
        case TL_OP_LOAD_USER:
            i.imm = random_() % 4 ? random_() % 64 : -(random_() % 64);
            break;
        case TL_OP_STR_KERNEL:
        case TL_OP_STR_USER:
        case TL_OP_STR:
        case TL_OP_BYTES:
            i.imm = random_() % 8 ? random_() % 200 : random_() % 1030;
            i.flags = i.op == TL_OP_BYTES ? 0 : i.flags * TL_INSN_ARRAY;
            break;
        case TL_OP_LOAD:
            i.imm = random_() % 4 ? random_() % 64 : -(random_() % 64);
            break;
        case TL_OP_SHL:
        case TL_OP_SHR:
        case TL_OP_SAR:
            i.imm = random_() % 64;
            break;
        case TL_OP_TASK:
            i.imm = random_() % (TL_TASK_WORDS + (random_() % 20 == 0));
            break;
        case TL_OP_MATCH:
            i.imm = random_() % 9 | random_() % 12 << 32;
            break;
        case TL_OP_FIELD:
            i.imm = random_() % 20 ? random_() % 48 : address();
            break;
        default:
            i.imm = address();
        }
        return i;
    }

    Program program() {
        Program p;
        const std::size_t n = random_() % 10 ? random_() % 24 : random_() % 300;

        for (__u8 i = 0; i < 3 && random_() % 8; i++)
            p.push_back(set(TL_OP_IMM, i, address()));
        for (std::size_t i = 0; i < n; i++) {
            p.push_back(instruction(n - i - 1));
            if (p.back().op == TL_OP_MATCH && random_() % 20)
                for (__u32 left = tl_match_data(&p.back()); left > 0; left--)
                    p.push_back(insn(TL_OP_DATA));
        }
        p.push_back(random_() % 6 ? accept : insn(TL_OP_REJECT));
        return p;
    }

    std::mt19937_64 random_{2026};
    tl_regs regs_ = {};
};

TEST_F(RandomPrograms, WhatPassesKeepsToItsSizeAndEnds) {
    unsigned accepted = 0;
    unsigned recorded = 0;
    unsigned full = 0;
    unsigned least = 0;
    std::set<int> ops;

    for (int round = 0; round < 150000; round++) {
        const Program p = program();
        const tl_site site = static_cast<tl_site>(random_() % 4);
        const __u32 entry_size = random_() % 8 ? 48 : random_() % 48;
        const tl_verdict v = verify(p, site, entry_size);

        if (v.text)
            continue;
        accepted++;
        for (const tl_insn& i : p)
            ops.insert(i.op);
        ASSERT_LE(v.size, TL_FIELDS_MAX + 0u);

        // The instructions and the fields each end before a page that traps.
        Guarded code(p.size() * sizeof(tl_insn));
        std::memcpy(code.start, p.data(), p.size() * sizeof(tl_insn));
        // The entry's too. Only the return of a call has them.
        Guarded entry(entry_size);
        const tl_entered seen = {entry.start, random_()};
        const tl_entered* entered = site == TL_AT_CALL_RETURN ? &seen : nullptr;
        std::vector<__u8> first;
        int first_size = 0;
        for (int time = 0; time < 2; time++) {
            Guarded fields(v.size);

            mock.kernel.reads.clear();
            mock.user.reads.clear();
            soil_stack(time ? 0xff : 0x00);
            const int size =
                tl_run(reinterpret_cast<tl_insn*>(code.start), &regs_, entered, fields.start);
            ASSERT_TRUE(fields.intact());
            ASSERT_LE(size, static_cast<int>(v.size));
            ASSERT_GE(size, TL_REJECTED);
            if (size != TL_REJECTED) {
                ASSERT_GE(size, static_cast<int>(v.least));
                least += size == static_cast<int>(v.least) && size > 0;
            }
            ASSERT_EQ(size < 0 ? 0 : size % 4, 0);
            // A step an instruction, and a string of n has n / 64 + 3 reads at most.
            ASSERT_LE(mock.kernel.reads.size() + mock.user.reads.size(), p.size() * 20);
            const std::vector<__u8> bytes(fields.start, fields.start + (size < 0 ? 0 : size));
            if (time == 0) {
                first = bytes;
                first_size = size;
            }
            // Nothing in it depends on what a slot held before.
            ASSERT_EQ(size, first_size);
            ASSERT_EQ(bytes, first);
        }
        recorded += first_size > 0;
        full += first_size > 0 && first_size == static_cast<int>(v.size);
    }
    // Enough came through to mean something.
    EXPECT_GT(accepted, 10000u);
    EXPECT_GT(recorded, 3000u);
    EXPECT_GT(full, 300u); // the sizes are no wild guesses either
    EXPECT_GT(least, 300u);
    EXPECT_EQ(ops.size(), TL_OPS + 0u);
    RecordProperty("accepted", static_cast<int>(accepted));
    RecordProperty("recorded", static_cast<int>(recorded));
    RecordProperty("full", static_cast<int>(full));
}

} // namespace
