// SPDX-License-Identifier: GPL-2.0
// A guard decides as the program that it stands for, and stands for no other.
#include "mock_machine.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <span>

#include "shared/guard.h"
#include "spec/compile.h"
#include "spec/probe_spec.h"

using namespace trapline;

namespace {

constexpr __u64 edges[] = {
    0,          1,          2,          0x7f,       0x80,
    0x81,       0xff,       0x100,      0x7fff,     0x8000,
    0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
    ~0ULL >> 1, 1ULL << 63, ~0ULL - 1,  ~0ULL,      0xffffffff80000000,
};

constexpr tl_op comparisons[] = {TL_OP_JEQ, TL_OP_JNE,  TL_OP_JLT,
                                 TL_OP_JLE, TL_OP_JSLT, TL_OP_JSLE};

Program guarded(tl_insn load, tl_op compare, __u64 constant, bool first) {
    load.dst = 0;
    return {load, set(TL_OP_IMM, 1, constant),
            first ? jump(compare, 1, 0, 1) : jump(compare, 0, 1, 1), insn(TL_OP_REJECT),
            insn(TL_OP_ACCEPT)};
}

bool guards(const Program& program, tl_guard& guard) {
    return tl_guard_of(&guard, program.data(), static_cast<__u32>(program.size())) != 0;
}

// What a program that stores nothing makes of a hit.
bool accepts(const Program& program, const tl_regs& regs, __u64 duration = 0) {
    const tl_entered entered{nullptr, duration};
    return tl_run(program.data(), &regs, &entered, nullptr) == 0;
}

TEST(Guard, DecidesAsTheProgramDoes) {
    unsigned passed = 0;
    unsigned rejected = 0;
    unsigned idle = 0;
    for (const tl_op op : comparisons) {
        for (const __u8 size : {0, 1, 2, 4, 8}) {
            for (const __u8 flags : {0, TL_INSN_SIGNED}) {
                for (const __u64 constant : edges) {
                    for (const bool first : {false, true}) {
                        const Program p =
                            guarded(part(TL_OP_ARG, 2, size, flags), op, constant, first);
                        tl_guard guard{};
                        const bool there = guards(p, guard);
                        unsigned accepted = 0;
                        for (const __u64 value : edges) {
                            tl_regs regs{};
                            regs.arg[2] = value;
                            const bool expected = accepts(p, regs);
                            accepted += expected;
                            if (!there)
                                continue;
                            ASSERT_EQ(tl_guard_passes(&guard, value), expected)
                                << op << " size " << +size << " flags " << +flags << " constant "
                                << constant << " value " << value << first;
                            (expected ? passed : rejected)++;
                        }
                        if (there)
                            continue;
                        idle++;
                        EXPECT_TRUE(accepted == 0 || accepted == std::size(edges));
                    }
                }
            }
        }
    }
    EXPECT_GT(passed, 10000U);
    EXPECT_GT(rejected, 10000U);
    // Less than the least and more than the most; and not more than the most, not less than the
    // least: unsigned and signed, of ten kinds of values.
    EXPECT_EQ(idle, 8U * 10);
}

// The conditions of PROBEs, as the tool compiles them, on each value that may be at an edge.
class GuardOf : public testing::Test {
protected:
    // What decides; and is asserted to decide as the program.
    struct Case {
        tl_regs regs{};
        __u64 duration = 0;
    };

    static Program compiled(const std::string& probe, bool ret) {
        CompiledProbe made = compile_probe(parse_probe(probe), 1, 1'000'000'000);
        return ret ? made.ret : made.entry;
    }

    // How many of `cases` are accepted; none: there is no guard. What the program stores and
    // rejects for something else isn't the guard's.
    template <typename Value>
    static std::optional<unsigned> accepted(const Program& program, std::span<const Case> cases,
                                            Value value) {
        tl_guard guard{};
        if (!guards(program, guard))
            return std::nullopt;
        std::array<__u8, 4096> stored{};
        std::array<__u8, 4096> kept{};
        unsigned count = 0;
        for (const Case& one : cases) {
            const tl_entered entered{kept.data(), one.duration};
            const bool expected =
                tl_run(program.data(), &one.regs, &entered, stored.data()) != TL_REJECTED;
            EXPECT_EQ(tl_guard_passes(&guard, value(one)) != 0, expected) << value(one);
            count += expected;
        }
        return count;
    }

    static std::vector<__u64> around(std::initializer_list<__u64> values) {
        std::vector<__u64> all(std::begin(edges), std::end(edges));
        for (const __u64 value : values)
            for (const __u64 by : {-2, -1, 0, 1, 2})
                all.push_back(value + by);
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    static std::vector<Case> cases(const std::vector<__u64>& values, void (*put)(Case&, __u64)) {
        std::vector<Case> all(values.size());
        for (std::size_t i = 0; i < values.size(); i++)
            put(all[i], values[i]);
        return all;
    }
};

TEST_F(GuardOf, ReturnValues) {
    // Errors of int functions are a range of their own; so are several values.
    const auto all = cases(around({__u64(-4095), 0xfffff001, 0xffffffea, 4096}),
                           [](Case& one, __u64 value) { one.regs.result = value; });
    for (const char* condition :
         {"$retval < 0", "$retval == -22", "$retval != -22", "$retval > 4096", "$retval <= -1",
          "$retval >= 0", "$retval > 1 && $retval < 128", "$retval == 1 || $retval == 128"}) {
        const auto count = accepted(compiled("vfs_read if " + std::string(condition), true), all,
                                    [](const Case& one) { return one.regs.result; });
        ASSERT_TRUE(count) << condition;
        EXPECT_GT(*count, 0U) << condition;
        EXPECT_LT(*count, all.size()) << condition;
    }
    // Three values apart are too many.
    EXPECT_FALSE(
        accepted(compiled("vfs_read if $retval == 1 || $retval == 3 || $retval == 5", true), all,
                 [](const Case& one) { return one.regs.result; }));
}

TEST_F(GuardOf, Durations) {
    const auto all =
        cases(around({1000, 1'000'000}), [](Case& one, __u64 value) { one.duration = value; });
    for (const char* condition : {"$duration > 1ms", "$duration <= 1us", "$duration == 1us",
                                  "$duration != 1us", "$duration > 1us && $duration < 1ms"}) {
        const auto count = accepted(compiled("vfs_read if " + std::string(condition), true), all,
                                    [](const Case& one) { return one.duration; });
        ASSERT_TRUE(count) << condition;
        EXPECT_GT(*count, 0U) << condition;
        EXPECT_LT(*count, all.size()) << condition;
    }
}

TEST_F(GuardOf, WordsOfTasks) {
    for (const auto& [name, word] :
         {std::pair("$pid", TL_TASK_TGID), std::pair("$tid", TL_TASK_TID),
          std::pair("$uid", TL_TASK_UID), std::pair("$cpu", TL_TASK_CPU)}) {
        for (const char* condition : {"== 7", "!= 7", "> 7", "<= 7"}) {
            unsigned count = 0;
            for (const __u64 value : {0, 1, 6, 7, 8, 1000}) {
                mock.task[word] = value;
                const Case one;
                const auto passed =
                    accepted(compiled(fmt::format("vfs_read if {} {}", name, condition), false),
                             {&one, 1}, [&](const Case&) { return value; });
                ASSERT_TRUE(passed) << name << condition;
                count += *passed;
            }
            EXPECT_GT(count, 0U);
            EXPECT_LT(count, 6U);
        }
    }
    mock = {};
}

// What these load isn't narrowed, whatever a client has put there.
TEST_F(GuardOf, WholeWordsOfTasksAndDurations) {
    for (const tl_op op : {TL_OP_TASK, TL_OP_DURATION}) {
        for (const __u8 size : {1, 4, 77}) {
            tl_insn load = part(op, TL_TASK_TGID, size, TL_INSN_SIGNED);
            const Program program = guarded(load, TL_OP_JEQ, 0x100000180, false);
            tl_guard guard{};
            ASSERT_TRUE(guards(program, guard));
            mock.task[TL_TASK_TGID] = 0x100000180;
            EXPECT_TRUE(accepts(program, {}, 0x100000180));
            EXPECT_TRUE(tl_guard_passes(&guard, 0x100000180));
            EXPECT_FALSE(tl_guard_passes(&guard, 0x180));
        }
    }
    mock = {};
}

TEST_F(GuardOf, NamesOfTasks) {
    constexpr __u64 comm = 0xffff888000001000;
    for (const std::string wanted : {"", "d", "dd", "ddd", "12345678", "1234567890abcde"}) {
        for (const char* relation : {"==", "!="}) {
            const Program program =
                compiled(fmt::format("vfs_read if comm {} \"{}\"", relation, wanted), false);
            tl_guard guard{};
            ASSERT_TRUE(guards(program, guard)) << wanted;
            ASSERT_TRUE(tl_guard_is_text(program.data()));
            unsigned passed = 0;
            for (const std::string name : {"", "d", "dd", "ddd", "D", "12345678", "123456789",
                                           "1234567890abcde", "1234567890abcd"}) {
                // What is behind the NUL may be anything.
                std::string bytes = name + std::string(1, '\0');
                bytes.resize(TL_COMM_SIZE, '#');
                mock = {};
                mock.task[TL_TASK_COMM] = comm;
                mock.kernel.store(comm, bytes);
                std::array<__u64, 2> words{};
                std::memcpy(words.data(), bytes.data(), bytes.size());
                const bool expected = (name == wanted) == (std::string(relation) == "==");
                std::array<__u8, 4096> stored{};
                const tl_regs regs{};
                EXPECT_EQ(tl_run(program.data(), &regs, nullptr, stored.data()) != TL_REJECTED,
                          expected);
                EXPECT_EQ(tl_guard_passes(&guard, tl_comm_is(&guard.comm, words[0], words[1])) != 0,
                          expected)
                    << name << ' ' << relation << ' ' << wanted;
                passed += expected;
            }
            EXPECT_GT(passed, 0U);
        }
    }
    mock = {};
}

// Of what && joins the first comparisons that are of one value guard; of what || joins, none may.
TEST_F(GuardOf, BeginningsOfOthers) {
    const auto first_guards = [](const char* condition) {
        const Program program = compiled(fmt::format("vfs_read if {}", condition), false);
        tl_guard guard{};
        return guards(program, guard);
    };
    EXPECT_TRUE(first_guards("$arg1 == 1 && $arg2 == 2"));
    EXPECT_TRUE(first_guards("$pid == 1 && comm == \"dd\""));
    EXPECT_TRUE(first_guards("comm == \"dd\" && $pid == 1"));
    EXPECT_FALSE(first_guards("$arg1 == 1 || $arg2 == 2"));
    EXPECT_FALSE(first_guards("comm == \"dd\" || comm == \"cat\""));
    EXPECT_FALSE(first_guards("$arg1 == $arg2"));

    const Program program = compiled("vfs_read if $arg1 == 1 && $arg2 == 2", false);
    tl_guard guard{};
    ASSERT_TRUE(guards(program, guard));
    EXPECT_TRUE(tl_guard_passes(&guard, 1));
    EXPECT_FALSE(tl_guard_passes(&guard, 2));
}

TEST(Guard, OfNothingElse) {
    tl_guard guard{};
    const Program plain = guarded(part(TL_OP_REG, 2, 8), TL_OP_JLT, 5, false);
    EXPECT_TRUE(guards(plain, guard));
    const auto changed = [&](void (*change)(Program&)) {
        Program p = plain;
        change(p);
        return guards(p, guard);
    };
    EXPECT_FALSE(changed([](Program& p) { p[0].op = TL_OP_IMM; }));
    EXPECT_FALSE(changed([](Program& p) { p[0].op = TL_OP_LOAD; }));
    EXPECT_FALSE(changed([](Program& p) { p[1].op = TL_OP_ARG; }));
    EXPECT_FALSE(changed([](Program& p) { p[1].op = TL_OP_PUT; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].op = TL_OP_JMP; })) << "never rejects";
    EXPECT_FALSE(changed([](Program& p) { p[2].op = TL_OP_PUT; }));
    EXPECT_FALSE(changed([](Program& p) { p[2].a = 1; })) << "a constant with itself";
    EXPECT_FALSE(changed([](Program& p) { p[2].b = 0; }));
    EXPECT_FALSE(changed([](Program& p) { p[3].op = TL_OP_ACCEPT; }));
    // What is added is moved by; but not what goes to another slot.
    const auto adding = [&](__u8 a, __u8 dst) {
        Program p = plain;
        tl_insn add = insn(TL_OP_ADD);
        add.a = a;
        add.dst = dst;
        add.imm = 3;
        p.insert(p.begin() + 1, add);
        return guards(p, guard);
    };
    EXPECT_TRUE(adding(0, 0));
    EXPECT_TRUE(tl_guard_passes(&guard, 1)); // 4 < 5
    EXPECT_FALSE(tl_guard_passes(&guard, 2));
    EXPECT_TRUE(tl_guard_passes(&guard, ~0ULL)); // 2 < 5
    EXPECT_FALSE(tl_guard_passes(&guard, __u64(-4)));
    EXPECT_FALSE(adding(0, 2));
}

} // namespace
