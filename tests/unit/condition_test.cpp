// SPDX-License-Identifier: GPL-2.0
// Conditions: what is accepted, what is refused and where the caret points; and the programs made
// of them, run on a mock machine, against what the manual says, worked out directly.
#include "mock_machine.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "spec/compile.h"
#include "spec/condition_program.h"
#include "spec/registers.h"
#include "util/errno_name.h"
#include "util/error.h"

using namespace trapline;

namespace {

__extension__ using Int = __int128;

constexpr std::uint64_t tsc_hz = 2'394'567'000;

// "why @ column of the caret"; the hint goes to `hint`.
std::string refusal(const std::string& text, std::string* hint = nullptr) {
    try {
        compile_probe(parse_probe(text), 1, tsc_hz);
    } catch (const UsageError& error) {
        const std::string what = error.what();
        const std::size_t first = what.find('\n');
        const std::size_t second = what.find('\n', first + 1);
        EXPECT_EQ(what.substr(0, 11), "bad probe: ");
        constexpr std::size_t shown_whole = 240;
        if (text.size() <= shown_whole) {
            EXPECT_EQ(what.substr(first + 5, second - first - 5), text);
        }
        EXPECT_FALSE(error.hint().empty()) << text;
        if (hint != nullptr)
            *hint = error.hint();
        return what.substr(11, first - 11) + " @ " +
               std::to_string(what.size() - 1 - second - 1 - 4);
    }
    return "accepted";
}

std::string hint_of(const std::string& text) {
    std::string hint;
    refusal(text, &hint);
    return hint;
}

// A hit: registers, what the stack holds, the return.
struct Hit {
    std::array<std::uint64_t, mock_regs> word{};
    std::array<std::uint64_t, TL_ARGS_MAX> arg{};
    bool stack_readable = true;
    std::uint64_t retval = 0;
    std::uint64_t ticks = 0;
};

// Runs a probe's programs as the module does.
class Machine {
public:
    explicit Machine(const std::string& text, std::uint64_t hz = tsc_hz)
        : spec_(parse_probe(text)), probe_(compile_probe(spec_, 1, hz)) {
        const bool of_call = spec_.kind == TRAPLINE_CALL;
        if (spec_.kind != TRAPLINE_RETURN) {
            const tl_verdict entry =
                verify(probe_.entry, spec_.offset != 0 ? TL_AT_OFFSET : TL_AT_ENTRY);
            EXPECT_EQ(entry.text, nullptr) << text << ": " << entry.text << " at " << entry.insn;
            kept_ = entry.least;
        }
        if (spec_.kind != TRAPLINE_ENTRY) {
            const tl_verdict ret =
                verify(probe_.ret, of_call ? TL_AT_CALL_RETURN : TL_AT_RETURN, kept_);
            EXPECT_EQ(ret.text, nullptr) << text << ": " << ret.text << " at " << ret.insn;
        }
    }

    bool rejected_at_entry(const Hit& hit) {
        load(hit);
        return tl_run(probe_.entry.data(), &regs_, nullptr, fields_.data()) == TL_REJECTED;
    }

    bool records(const Hit& hit) {
        if (spec_.kind != TRAPLINE_RETURN && rejected_at_entry(hit))
            return false;
        if (spec_.kind == TRAPLINE_ENTRY)
            return true;
        regs_.result = hit.retval;
        regs_.arg.fill(0xbad); // nobody's any more
        std::array<__u8, 64> ret{};
        const tl_entered entered = {fields_.data(), hit.ticks};
        return tl_run(probe_.ret.data(), &regs_, spec_.kind == TRAPLINE_CALL ? &entered : nullptr,
                      ret.data()) != TL_REJECTED;
    }

private:
    void load(const Hit& hit) {
        constexpr std::uint64_t stack = 0xffff888000000000;
        std::copy(hit.word.begin(), hit.word.end(), regs_.word.begin());
        std::copy_n(hit.arg.begin(), regs_.arg.size(), regs_.arg.begin());
        regs_.stack = hit.stack_readable ? stack : 0xdead;
        if (hit.stack_readable)
            mock.kernel.store(stack, &hit.arg[6], 8 * (hit.arg.size() - 6));
        mock.kernel.reads.clear();
    }

    ProbeSpec spec_;
    CompiledProbe probe_;
    __u32 kept_ = 0;
    tl_regs regs_{};
    std::array<__u8, 512> fields_{};
};

bool records(const std::string& condition, const Hit& hit, std::uint64_t hz = tsc_hz) {
    return Machine("f if " + condition, hz).records(hit);
}

bool of_retval(const std::string& condition, std::uint64_t retval) {
    Hit hit;
    hit.retval = retval;
    return records(condition, hit);
}

bool of_arg3(const std::string& condition, std::uint64_t value) {
    Hit hit;
    hit.arg[2] = value;
    return records(condition, hit);
}

TEST(Condition, Numbers) {
    EXPECT_TRUE(of_arg3("$arg3 == 1234", 1234));
    EXPECT_TRUE(of_arg3("$arg3 == 0x1F", 31));
    EXPECT_TRUE(of_arg3("$arg3 == 0XfF", 255));
    EXPECT_TRUE(of_arg3("$arg3 == 0", 0));
    EXPECT_TRUE(of_arg3("$arg3 == 64KiB", 65536));
    EXPECT_TRUE(of_arg3("$arg3 == 0x2MiB", 2 << 20));
    EXPECT_TRUE(of_arg3("$arg3 == 3GiB", 3221225472));
    EXPECT_TRUE(of_arg3("$arg3 == 18446744073709551615", UINT64_MAX));
    EXPECT_TRUE(of_arg3("$arg3 == 0xffffffffffffffff", UINT64_MAX));
    EXPECT_TRUE(of_arg3("$arg3 == -1", UINT64_MAX));
    EXPECT_TRUE(of_arg3("$arg3 == - 0x10", -std::uint64_t{16}));
    EXPECT_TRUE(of_arg3("$arg3 == -9223372036854775808", std::uint64_t{1} << 63));
    EXPECT_TRUE(of_arg3("$arg3 == -8GiB", -(std::uint64_t{8} << 30)));
    EXPECT_TRUE(of_arg3("$arg3 == -0", 0));
    EXPECT_TRUE(of_arg3("$arg3 == ENOENT", 2));
    EXPECT_TRUE(of_arg3("$arg3 == -EWOULDBLOCK", -std::uint64_t{11}));
    EXPECT_TRUE(of_arg3("$arg3 == -ERESTARTSYS", -std::uint64_t{512}));
}

TEST(Condition, CalculatedNumbers) {
    EXPECT_TRUE(of_arg3("$arg3 == (6 * 7)", 42));
    EXPECT_TRUE(of_arg3("$arg3 == 6*7", 42));
    EXPECT_TRUE(of_arg3("$arg3 == 2 + 3 * 4 - 1", 13)) << "in C's order";
    EXPECT_TRUE(of_arg3("$arg3 == (2 + 3) * 4", 20));
    EXPECT_TRUE(of_arg3("$arg3 == 4 * 4KiB", 16384));
    EXPECT_TRUE(of_arg3("$arg3 == 47 % 5", 2));
    EXPECT_TRUE(of_arg3("$arg3 == -47 % 5", -std::uint64_t{2})) << "as C has it";
    EXPECT_TRUE(of_arg3("$arg3 == 47 / 5 * 5 + 47 % 5", 47));
    EXPECT_TRUE(of_arg3("$arg3 == 47 div 5", 9));
    EXPECT_TRUE(of_arg3("$arg3 == (0x50 | 0x0f)", 0x5f));
    EXPECT_TRUE(of_arg3("$arg3 == (0x5f ^ 0xff)", 0xa0));
    EXPECT_TRUE(of_arg3("$arg3 == (0x5f & 0xf0)", 0x50));
    EXPECT_TRUE(of_arg3("$arg3 == (1 | 6 ^ 2 & 3)", 5)) << "& binds tighter than ^, ^ than |";
    EXPECT_TRUE(of_arg3("$arg3 == (1 | 2 << 1 + 1)", 9)) << "+ binds tighter than <<";
    EXPECT_TRUE(of_arg3("$arg3 == ~0", UINT64_MAX));
    EXPECT_TRUE(of_arg3("$arg3 == ~0xf", 0xfffffffffffffff0));
    EXPECT_TRUE(of_arg3("$arg3 == ~(4KiB - 1)", 0xfffffffffffff000));
    EXPECT_TRUE(of_arg3("($arg3 & ~0xf) == 0x20", 0x2f));
    EXPECT_TRUE(of_arg3("$arg3 == 1 << 40 >> 8", std::uint64_t{1} << 32));
    EXPECT_FALSE(of_arg3("$arg3 == 6 * 7", 43));
    EXPECT_EQ(refusal("f if $arg3 == ~$arg1"),
              "a number or an error's name is expected behind '~' @ 15");
    EXPECT_EQ(refusal("f if $arg3 == 0xffffffffffffffff * 0xffffffffffffffff"),
              "the number is too large @ 14");
}

TEST(Condition, EscapesInTexts) {
    const std::string known = "is not known: \\\", \\\\, \\n and \\t are";
    EXPECT_EQ(refusal("f if comm == \"a\\x\""), "'\\x' " + known + " @ 15");
    EXPECT_EQ(refusal("f if comm == \"\\0\""), "'\\0' " + known + " @ 14");
    EXPECT_EQ(refusal("f if comm == \"a\\\"\\\\\\n\\t\""), "accepted");
}

TEST(Condition, NamesWithTheirMarkAndWithout) {
    EXPECT_TRUE(of_retval("$retval == 5", 5));
    EXPECT_TRUE(of_retval("$ret == 5", 5));
    EXPECT_TRUE(of_retval("retval == 5", 5));
    EXPECT_TRUE(of_retval("ret==5", 5));
    EXPECT_FALSE(of_retval("ret==5", 6));
    EXPECT_TRUE(of_arg3("arg3 == 5", 5));
    EXPECT_TRUE(records("duration < 5ns", {.ticks = 3}));
    Hit hit;
    for (unsigned n = 0; n < TL_ARGS_MAX; n++)
        hit.arg[n] = 1000 + n;
    for (unsigned n = 1; n <= TL_ARGS_MAX; n++) {
        const std::string name = "$arg" + std::to_string(n);
        EXPECT_TRUE(records(name + " == " + std::to_string(999 + n), hit)) << n;
        EXPECT_FALSE(records(name + " != " + std::to_string(999 + n), hit)) << n;
    }
}

TEST(Condition, Registers) {
    std::set<std::uint32_t> words;
    for (const Register& known : registers) {
        EXPECT_TRUE(words.insert(known.word).second);
        Hit hit;
        hit.word[known.word] = 77;
        const std::string condition = " if %" + std::string(known.name) + " == 77";
        EXPECT_TRUE(Machine("f+4" + condition).records(hit)) << known.name;
        EXPECT_TRUE(Machine("kprobe:f" + condition).records(hit)) << known.name;
        EXPECT_TRUE(Machine("f" + condition).records(hit)) << known.name;
        EXPECT_FALSE(Machine("f+4" + condition).records({})) << known.name;
    }
    ASSERT_LE(*words.rbegin(), pt_regs_words);
    ASSERT_EQ(mock_regs, pt_regs_words);
}

// In the order of tightness: comparison, !, &&, ||.
TEST(Condition, Precedence) {
    const std::string a = "$arg1 == 1";
    const std::string b = "$arg2 == 1";
    const std::string c = "$arg3 == 1";
    struct Case {
        std::string text;
        bool (*expected)(bool, bool, bool);
    };
    const Case cases[] = {
        {a + "||" + b + "&&" + c, [](bool x, bool y, bool z) { return x || (y && z); }},
        {a + "&&" + b + "||" + c, [](bool x, bool y, bool z) { return (x && y) || z; }},
        {"(" + a + "||" + b + ")&&" + c, [](bool x, bool y, bool z) { return (x || y) && z; }},
        {"!" + a + "&&" + b + "||" + c, [](bool x, bool y, bool z) { return (!x && y) || z; }},
        {"!(" + a + "&&" + b + ")||" + c, [](bool x, bool y, bool z) { return !(x && y) || z; }},
        {"!(" + a + "&&!(" + b + "||" + c + "))",
         [](bool x, bool y, bool z) { return !x || y || z; }},
        {"!!" + a + " && ! ! ! " + b + "&&((" + c + "))",
         [](bool x, bool y, bool z) { return x && !y && z; }},
    };
    for (const Case& test : cases) {
        Machine machine("f if " + test.text);
        for (unsigned bits = 0; bits < 8; bits++) {
            Hit hit;
            for (unsigned n = 0; n < 3; n++)
                hit.arg[n] = bits >> n & 1;
            EXPECT_EQ(machine.records(hit),
                      test.expected((bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0))
                << test.text << " " << bits;
        }
    }
}

TEST(Condition, WhatIsAskedOfTheEntryIsTestedThere) {
    Hit hit;
    hit.arg[0] = 1;
    hit.retval = 1;
    const auto rejected = [&](const std::string& text) {
        return Machine("f if " + text).rejected_at_entry(hit);
    };
    EXPECT_TRUE(rejected("$arg1 == 2"));
    EXPECT_TRUE(rejected("$arg1 == 2 && $retval == 1"));
    EXPECT_TRUE(rejected("$retval == 1 && ($arg1 == 2 || $arg2 == 2)"));
    EXPECT_TRUE(rejected("!($retval == 1 || $arg1 == 1)"));
    EXPECT_TRUE(rejected("$duration > 1ns && (%rax == 2 && $retval == 1)"));
    EXPECT_FALSE(rejected("$arg1 == 2 || $retval == 1"));
    EXPECT_FALSE(rejected("$retval == 2"));
    EXPECT_TRUE(records("$arg1 == 2 || $retval == 1", hit));
    EXPECT_FALSE(records("$arg1 == 2 || $retval == 2", hit));
    EXPECT_TRUE(records("$arg1 == 1 || $retval == 2", hit));
}

TEST(Condition, AValueByItselfIsComparedWith0) {
    Hit hit;
    hit.arg[0] = 6;
    hit.arg[1] = 0;
    hit.retval = 1;
    const auto is = [&](const std::string& condition) { return records(condition, hit); };
    for (const char* condition :
         {"$arg1", "$retval", "!$arg2", "!!$arg1", "($arg1)", "!($arg2)", "($arg1 & 4)",
          "!($arg1 & 1)", "$arg1 && !$arg2", "$arg2 || $retval", "($arg2 || $arg1) && $retval",
          "($arg1 & 2) && ($arg1 & 4) != 0", "(($arg1))", "$arg1 == 6 && $retval"})
        EXPECT_TRUE(is(condition)) << condition;
    for (const char* condition : {"$arg2", "!$arg1", "!$retval", "($arg1 & 1)", "!($arg1 & 4)",
                                  "$arg2 && $arg1", "$arg2 || !$retval"})
        EXPECT_FALSE(is(condition)) << condition;
    EXPECT_TRUE(Machine("f /$arg2/").rejected_at_entry(hit));
    EXPECT_FALSE(Machine("f /!$arg2/").rejected_at_entry(hit));
}

TEST(Condition, RefusedWithACaret) {
    const char* value = "a value is expected here";
    const char* relation = "a comparison is expected here: == != < <= > or >=";
    struct Case {
        std::string text;
        std::string why;
        std::size_t column;
    };
    const Case cases[] = {
        {"f if", value, 4},
        {"f if ", value, 5},
        {"f //", value, 3},
        {"f if  < 0", value, 6},
        {"f if $retval <", value, 14},
        {"f if $retval < 0 &&", value, 19},
        {"f if  == 5 &&  < 0", value, 6},
        {"f if $arg1 == 5 &&  < 0", value, 20},
        {"f if ( < 0)", value, 7},
        {"f if $arg1 == 1 || ()", value, 20},
        {"f if $arg1 == !1", value, 14},
        {"f if $ == 1", "a name is expected behind '$'", 5},
        {"f if $retval $arg1", relation, 13},
        {"f if $duration", "$duration is compared with a time: a number and ns, us, ms or s", 5},
        {"f if comm", "$comm is no number", 5},
        {"f if 5", "a constant is compared with a constant: nothing varies", 5},
        {"f if $arg1 & 4", relation, 11},
        {"f if $retval + $arg1 < 0", "behind '+' a number is expected", 13},
        {"f if 5 - $arg1 == 1", "behind '-' a number is expected", 7},
        {"f if $arg1 * 2 == 1", "'*' works on numbers only", 11},
        {"f if $arg1 << 64 == 1", "a shift is by 0 to 63 bits", 14},
        {"f if $arg1 == 1 / 0", "nothing can be divided by 0", 18},
        {"f if $arg1 == 1 div 0", "nothing can be divided by 0", 20},
        {"f if $arg1 == 1 % (3 - 3)", "nothing can be divided by 0", 18},
        {"f if $arg1 == 0xffffffffffffffff + 1", "the number is too large", 14},
        {"f if $arg1 == -1 - 0x8000000000000000", "the number is too large", 14},
        {"f if $arg1 == 1 << 63 << 1", "the number is too large", 14},
        {"f if $arg1 == ()", value, 15},
        {"f if $arg1 == (1", "')' is expected here", 16},
        {"f if $retval = 0", "'==' compares", 13},
        {"f if $arg1 == 'a'", "''' is not expected here", 14},
        {"f if * == 5", value, 7},
        {"f if $uid == -1", "$uid is never that: it is from 0 to 4294967295", 13},
        {"f if $pid > 4294967296", "$pid is never that: it is from 0 to 4294967295", 12},
        {"f if \\ == 5", "'\\' is not expected here", 5},
        {"f if ] == 5", "']' is not expected here", 5},
        {"f if $arg1 & 1 == 0", relation, 11},
        {"f if $arg1 == 1 & $arg2 == 1", "'&&', '||' or the end of the condition is expected here",
         16},
        {"f if $arg1 == 1 and $arg2 == 1",
         "'&&', '||' or the end of the condition is expected here", 16},
        {"f if 0 < $arg1 < 5", "'&&', '||' or the end of the condition is expected here", 15},
        {"f if $arg1 == 1)", "'&&', '||' or the end of the condition is expected here", 15},
        {"f if ($arg1 == 1", "'&&', '||' or ')' is expected here", 16},
        {"f if ($arg1 == 1 $arg2", "'&&', '||' or ')' is expected here", 17},
        {"f if 1 == 1", "a constant is compared with a constant: nothing varies", 5},
        {"f if -$arg1 == 1", "a number or an error's name is expected behind '-'", 6},
        {"f if $arg1 == --1", "a number or an error's name is expected behind '-'", 15},
        {"f if $arg1 == -", "a number or an error's name is expected behind '-'", 15},
        // Names.
        {"f if $foo == 1", "there is no $foo", 5},
        {"f if foo == $arg1", "there is no foo to be had", 5},
        {"f if foo->bar == 1", "there is no foo to be had", 5},
        {"f if foo == 1", "there is no foo to be had", 5},
        {"f if 1 == foo", "there is no foo to be had", 10},
        {"f if true == 1", "a constant is compared with a constant: nothing varies", 5},
        {"f if $retvall == 1", "there is no $retvall", 5},
        {"f if $ENOENT == $retval", "there is no $ENOENT", 5},
        {"f if $arg == 1", "there is no $arg", 5},
        {"f if $arg1x == 1", "there is no $arg1x", 5},
        {"f if $stack64 == 1", "there are $stack0 to $stack63", 5},
        {"f if $arg0 == 1", "arguments are counted from 1", 5},
        {"f if arg33 == 1", "there are $arg1 to $arg32", 5},
        {"f if $arg99999999999999999999 == 1", "there are $arg1 to $arg32", 5},
        {"f if %foo == 1", "there is no %foo", 5},
        {"f if % == 1", "'%' is not expected here", 5},
        {"f if %rip == 1", "%rip is the probe's own place, always the same", 5},
        // Numbers.
        {"f if $arg1 == 010", "a number doesn't begin with 0: decimal or 0x and hexadecimal", 14},
        {"f if $arg1 == 0x", "a hexadecimal digit is expected behind 0x", 14},
        {"f if $arg1 == 0xg", "a hexadecimal digit is expected behind 0x", 14},
        {"f if $arg1 == 18446744073709551616", "the number is too large", 14},
        {"f if $arg1 == 16777216GiBx", "'GiBx' is no unit: KiB, MiB, GiB, ns, us, ms and s are",
         22},
        {"f if $arg1 == 17179869184GiB", "the number is too large", 14},
        {"f if $arg1 == -9223372036854775809", "the number is too large", 15},
        {"f if $arg1 == 64K", "'K' is no unit: KiB, MiB, GiB, ns, us, ms and s are", 16},
        {"f if $arg1 == 1e6", "'e6' is no unit: KiB, MiB, GiB, ns, us, ms and s are", 15},
        // Times.
        {"f if $duration > 5", "$duration is compared with a time: a number and ns, us, ms or s",
         17},
        {"f if $duration > 0", "$duration is compared with a time: a number and ns, us, ms or s",
         17},
        {"f if 5KiB < $duration", "$duration is compared with a time: a number and ns, us, ms or s",
         5},
        {"f if $duration > -5us", "a duration is never negative", 17},
        {"f if $duration > 1.5ms", "numbers are whole", 18},
        {"f if $duration > $arg1", "$duration is compared with a time, as in 100us", 17},
        {"f if $arg1 < $duration", "$duration is compared with a time, as in 100us", 5},
        {"f if $duration != $retval", "$duration is compared with a time, as in 100us", 18},
        {"f if $arg1 == 5ms", "only $duration is compared with a time", 14},
        {"f if 1s == $retval", "only $duration is compared with a time", 5},
        // What would be always so, or never.
        {"f if $arg3 < 0", "$arg3 is unsigned, so it is never less than 0", 13},
        {"f if $arg3 >= 0", "$arg3 is unsigned, so it is never less than 0", 14},
        {"f if 0 > %rdi", "%rdi is unsigned, so it is never less than 0", 5},
        {"f if !($duration < 0ns)", "$duration is unsigned, so it is never less than 0", 19},
        {"f if $retval > 0xfffffffffffff000", "$retval is signed, and this would be -4096", 15},
        {"f if $retval >= 0xfffff001", "$retval is signed, and this would be -4095", 16},
        {"f if 4294967295 < $retval", "$retval is signed, and this would be -1", 5},
        // What isn't to be had there.
        {"kprobe:f if $retval < 0", "at the entry there is no $retval yet", 12},
        {"f+0 if ret < 0", "at the entry there is no $retval yet", 7},
        {"kprobe:f if $arg1 == 1 && $duration > 1us", "at the entry there is no $duration yet", 26},
        {"f+4 if $retval < 0", "at an instruction there is no $retval yet", 7},
        {"f+4 if $duration < 1s", "at an instruction there is no $duration yet", 7},
        {"f+4 if %rax == 1 || $arg2 == 1", "inside a function $arg2 may be anywhere", 20},
        {"f+0x4/0x80 [m] if $arg2 == 1", "inside a function $arg2 may be anywhere", 18},
        {"kretprobe:f if $arg2 == 1", "a return probe sees no entry, so there is no $arg2", 15},
        {"kretprobe:f if %rdi == 1", "a return probe sees no entry, so there is no %rdi", 15},
        {"kretprobe:f if $duration > 1s", "a return probe sees no entry, so there is no $duration",
         15},
        {"f if $retval < 0 || $arg7 == 1",
         "$arg7 isn't kept until the return, where this is tested", 20},
        {"f if $arg1 == 1 && ($retval < 0 || 5 == %rax)",
         "%rax isn't kept until the return, where this is tested", 40},
        {"f if $retval == $arg9", "$arg9 isn't kept until the return, where this is tested", 16},
    };
    for (const Case& test : cases)
        EXPECT_EQ(refusal(test.text), test.why + " @ " + std::to_string(test.column)) << test.text;
}

TEST(Condition, RefusalsNameTheWayOut) {
    const std::pair<std::string, std::string> cases[] = {
        // What the shell left of "vfs_read if $retval < 0".
        {"vfs_read if  < 0", "single quotes"},
        {"vfs_read if ", "single quotes"},
        {"vfs_read if 5 == ", "single quotes"},
        {"vfs_read /  < 0/", "single quotes"},
        {"vfs_read if $arg1 == 1 &&  < 0", "single quotes"},
        {"vfs_read if  - 1 == 5", "single quotes"},
        {"vfs_read if  + 1 == 5", "single quotes"},
        {"vfs_read if  * 2 == 6", "single quotes"},
        {"vfs_read if  / 2 == 6", "single quotes"},
        {"vfs_read if  % 2 == 1", "single quotes"},
        {"vfs_read if  & 3 == 1", "single quotes"},
        {"vfs_read if  | 3 == 1", "single quotes"},
        {"vfs_read if  ^ 3 == 1", "single quotes"},
        {"vfs_read if  << 3 == 8", "single quotes"},
        {"vfs_read if ( & 3) == 1", "single quotes"},
        {"vfs_read if () == 1", "single quotes"},
        {"vfs_read if ->f_mode == 1", "single quotes"},
        {"vfs_read if .f_mode == 1", "single quotes"},
        {"vfs_read if [0] == 1", "single quotes"},
        {"vfs_read /( & 3) == 1/", "single quotes"},
        {"f if $retvla < 0", "did you mean $retval?"},
        {"f if return < 0", "did you mean $retval?"},
        {"f if $duratoin > 1s", "did you mean $duration?"},
        {"f if dur > 1s", "did you mean $duration?"},
        {"f if $args == 1", "did you mean $arg1?"},
        {"f if $argv == 1", "did you mean $arg1?"},
        {"f if $rdi == 1", "did you mean %rdi?"},
        {"f if %edi == 1", "did you mean %rdi?"},
        {"f if $retval == -ENOENTT", "-ENOENT"},
        {"f if $retval == ENOENTT", "did you mean -ENOENT?"},
        {"f if $arg1 & 1 == 0", "($arg1 & 0x3) != 0"},
        {"f if $arg1 == 1 | $arg2 == 2", "($arg1 & 0x3) != 0"},
        {"f if $arg0 == 1", "$arg1 is the first"},
        {"f if $arg1 < 0", "$arg1 <= -1"},
        {"f if $arg1 >= 0", "$arg1 > -1"},
        {"f if $duration > 1.5ms", "1500us instead of 1.5ms"},
        {"kprobe:f if $retval < 0", "trace the call: FUNC if CONDITION, without kprobe:"},
        {"kretprobe:f if $arg1 == 1", "trace the call: FUNC if CONDITION, without kretprobe:"},
        {"f+4 if $arg1 == 1", "%rdi"},
        {"f if $retval < 0 || $arg7 == 1", "only $arg1 to $arg6 are"},
        {"f if $retval > 0xfffff001", "negative number"},
        {"f if foo == 1", "of this function no parameters are known: $arg1 is the first"},
        {"f if 1 == 2", "a condition compares, as in '$retval < 0"},
    };
    for (const auto& [text, hint] : cases)
        EXPECT_NE(hint_of(text).find(hint), std::string::npos) << text << ": " << hint_of(text);
    EXPECT_EQ(hint_of("f if foo == 1").find("did you mean"), std::string::npos);
    // Both ways out lead somewhere.
    EXPECT_EQ(refusal("f if $arg1 <= -1"), "accepted");
    EXPECT_EQ(refusal("f if $arg1 > -1"), "accepted");
}

TEST(Condition, NestingIsBounded) {
    const auto nested = [](std::size_t depth, const std::string& open, const std::string& close) {
        std::string text = "f if ";
        for (std::size_t n = 0; n < depth; n++)
            text += open;
        text += "$arg1 == 1";
        for (std::size_t n = 0; n < depth; n++)
            text += close;
        return text;
    };
    EXPECT_EQ(refusal(nested(64, "(", ")")), "accepted");
    EXPECT_EQ(refusal(nested(64, "!", "")), "accepted");
    const std::string too_many = "too many '!' and parentheses inside one another @ ";
    EXPECT_EQ(refusal(nested(65, "(", ")")), too_many + "70");
    EXPECT_EQ(refusal(nested(100000, "(", ")")), too_many + "70");
    EXPECT_EQ(refusal(nested(100000, "!", "")), too_many + "70");
    EXPECT_EQ(refusal(nested(100000, "!(", "")), too_many + "70");
}

// What is said of `condition`, here also under '!' and the other way round, for each value.
constexpr std::uint64_t values[] = {
    0,
    1,
    2,
    100,
    0x7fffffff,
    0x80000000,
    0xfffff000, // no error of an int function
    0xfffff001, // -4095
    0xfffff002,
    0xfffffffe,
    0xffffffff, // -1
    0x100000000,
    0x100000001,
    0x1fffff001,
    0x7ffffffffffffffe,
    0x7fffffffffffffff,
    0x8000000000000000,
    0x8000000000000001,
    0xffffffff00000000,
    0xffffffff7fffffff,
    0xffffffffffffefff, // -4097
    0xfffffffffffff000, // -4096
    0xfffffffffffff001, // -4095
    0xfffffffffffff002,
    0xfffffffffffffffd,
    0xfffffffffffffffe,
    0xffffffffffffffff,
};

constexpr std::pair<const char*, Relation> relations[] = {
    {"==", Relation::equal},   {"!=", Relation::unequal}, {"<", Relation::less},
    {"<=", Relation::at_most}, {">", Relation::greater},  {">=", Relation::at_least},
};

bool holds(Int a, Relation relation, Int b) {
    switch (relation) {
    case Relation::equal:
        return a == b;
    case Relation::unequal:
        return a != b;
    case Relation::less:
        return a < b;
    case Relation::at_most:
        return a <= b;
    case Relation::greater:
        return a > b;
    case Relation::at_least:
        break;
    }
    return a >= b;
}

// The number that is shown for a return value.
Int shown(std::uint64_t retval) {
    if (const auto error = errno_of(retval))
        return -Int{*error};
    return static_cast<std::int64_t>(retval);
}

std::string text_of(Int value) {
    std::string digits;
    const bool negative = value < 0;
    if (negative)
        value = -value;
    do
        digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
    while ((value /= 10) != 0);
    return negative ? "-" + digits : digits;
}

TEST(Condition, ReturnValuesAreSignedAndErrorsOfIntFunctionsAreNegative) {
    unsigned compared = 0;
    for (const std::uint64_t constant : values) {
        const Int number = shown(constant); // the number written
        for (const auto& [sign, relation] : relations) {
            const std::string text = text_of(number);
            Machine plain("kretprobe:f if $retval " + std::string(sign) + " " + text);
            Machine turned("kretprobe:f if !($retval " + std::string(sign) + " " + text + ")");
            Machine call("f if " + text + " " + std::string(sign) + " $retval");
            for (const std::uint64_t retval : values) {
                const bool expected = holds(shown(retval), relation, number);
                const Hit hit{.retval = retval};
                ASSERT_EQ(plain.records(hit), expected) << text << sign << retval;
                ASSERT_EQ(turned.records(hit), !expected) << text << sign << retval;
                ASSERT_EQ(call.records(hit), holds(number, relation, shown(retval)))
                    << text << sign << retval;
                compared++;
            }
        }
    }
    EXPECT_EQ(compared, std::size(values) * std::size(values) * 6);
    // What it is for.
    EXPECT_TRUE(of_retval("$retval < 0", 0xfffffffe));
    EXPECT_TRUE(of_retval("$retval < 0", -std::uint64_t{2}));
    EXPECT_TRUE(of_retval("$retval == -ENOENT", 0xfffffffe));
    EXPECT_TRUE(of_retval("$retval == -ENOENT", -std::uint64_t{2}));
    EXPECT_FALSE(of_retval("$retval < 0", 0xfffff000));
    EXPECT_TRUE(of_retval("$retval == 0xffff888012345678", 0xffff888012345678));
    // As bits an error may be written too, and is the same.
    for (const char* text : {"$retval == 0xfffffffe", "$retval == 0xfffffffffffffffe"}) {
        EXPECT_TRUE(of_retval(text, 0xfffffffe));
        EXPECT_TRUE(of_retval(text, -std::uint64_t{2}));
        EXPECT_FALSE(of_retval(text, 2));
    }
}

TEST(Condition, ArgumentsAreUnsignedUnlessComparedWithANegativeNumber) {
    for (const std::uint64_t constant : values) {
        for (const auto& [sign, relation] : relations) {
            for (const bool negative : {false, true}) {
                const Int number =
                    negative ? Int{static_cast<std::int64_t>(constant)} : Int{constant};
                if ((negative && number >= 0) ||
                    (number == 0 && (relation == Relation::less || relation == Relation::at_least)))
                    continue;
                const std::string text = text_of(number);
                Machine plain("kprobe:f if $arg3 " + std::string(sign) + text);
                Machine turned("f if !(%rdx " + std::string(sign) + text + ")");
                for (const std::uint64_t value : values) {
                    Hit hit;
                    hit.arg[2] = value;
                    hit.word[12] = value;
                    const Int has = negative ? Int{static_cast<std::int64_t>(value)} : Int{value};
                    ASSERT_EQ(plain.records(hit), holds(has, relation, number))
                        << text << sign << value;
                    ASSERT_EQ(turned.records(hit), !holds(has, relation, number))
                        << text << sign << value;
                }
            }
        }
    }
}

// Exactly one of <, == and > holds, and the others go with them.
TEST(Condition, ReturnValueWithAnArgument) {
    const auto less = [](std::uint64_t retval, std::uint64_t arg) {
        const auto a = static_cast<std::int64_t>(arg);
        if (retval == arg)
            return false;
        if (retval >= 0xfffff001 && retval <= 0xffffffff)
            return a >= 0;
        return static_cast<std::int64_t>(retval) < a;
    };
    for (const auto& [sign, relation] : relations) {
        Machine plain("f if $retval " + std::string(sign) + " $arg3");
        Machine turned("f if !($retval " + std::string(sign) + " $arg3)");
        Machine reverse("f if $arg3 " + std::string(sign) + " $retval");
        for (const std::uint64_t retval : values) {
            for (const std::uint64_t arg : values) {
                Hit hit{.retval = retval};
                hit.arg[2] = arg;
                const int order = retval == arg ? 0 : less(retval, arg) ? -1 : 1;
                ASSERT_EQ(plain.records(hit), holds(order, relation, 0)) << retval << sign << arg;
                ASSERT_EQ(turned.records(hit), !holds(order, relation, 0)) << retval << sign << arg;
                ASSERT_EQ(reverse.records(hit), holds(0, relation, order)) << retval << sign << arg;
            }
        }
    }
    // A short read or an error, and a whole one.
    Hit hit{.retval = 0xfffffff2};
    hit.arg[2] = 100;
    EXPECT_TRUE(records("$retval < $arg3", hit));
    hit.retval = 99;
    EXPECT_TRUE(records("$retval < $arg3", hit));
    hit.retval = 100;
    EXPECT_FALSE(records("$retval < $arg3", hit));
}

// Of the nanoseconds that are shown, however long a tick is.
TEST(Condition, DurationsAreComparedInWholeNanoseconds) {
    for (const std::uint64_t hz : {1'000'000'000UL, 2'400'000'000UL, tsc_hz, 3'999'999'999UL,
                                   999'999'999UL, 24'000'000UL, 1'000UL, 1UL}) {
        for (const std::uint64_t ns : {0UL, 1UL, 2UL, 3UL, 41UL, 42UL, 100UL, 999'999'999UL,
                                       1'000'000'000UL, 3'600'000'000'000UL}) {
            const Int middle = Int{ns} * hz / 1'000'000'000;
            for (const auto& [sign, relation] : relations) {
                if (ns == 0 && (relation == Relation::less || relation == Relation::at_least))
                    continue;
                const std::string text = std::string(sign) + " " + std::to_string(ns) + "ns";
                Machine plain("f if $duration " + text, hz);
                Machine turned("f if !($duration " + text + ")", hz);
                for (Int ticks = std::max<Int>(middle - 8, 0); ticks <= middle + 8; ticks++) {
                    const Hit hit{.ticks = static_cast<std::uint64_t>(ticks)};
                    const bool expected =
                        holds(ticks * 1'000'000'000 / static_cast<Int>(hz), relation, ns);
                    ASSERT_EQ(plain.records(hit), expected)
                        << hz << " Hz " << text << " " << hit.ticks;
                    ASSERT_EQ(turned.records(hit), !expected)
                        << hz << " Hz " << text << " " << hit.ticks;
                }
            }
        }
    }
    EXPECT_TRUE(records("$duration == 1us", {.ticks = 2400}, 2'400'000'000));
    EXPECT_FALSE(records("$duration == 1us", {.ticks = 2399}, 2'400'000'000));
    EXPECT_TRUE(records("$duration == 1us", {.ticks = 2402}, 2'400'000'000));
    EXPECT_TRUE(records("$duration > 1ms", {.ticks = 2'402'400}, 2'400'000'000));
    EXPECT_FALSE(records("$duration > 1s", {.ticks = 2'400'000'000}, 2'400'000'000));
    // Longer than the clock can count: nothing takes so long.
    EXPECT_FALSE(records("$duration > 18446744073709551615ns", {.ticks = INT64_MAX}));
    EXPECT_TRUE(records("$duration <= 18446744073s", {.ticks = INT64_MAX}));
    EXPECT_FALSE(records("$duration >= 18446744073s", {.ticks = INT64_MAX}));
    EXPECT_EQ(ticks_from(UINT64_MAX, UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(ticks_from(0, 1), 0U);
}

// Neither it nor its opposite holds.
TEST(Condition, WhatCannotBeReadIsNeitherSoNorNot) {
    Hit hit;
    hit.stack_readable = false;
    hit.arg[0] = 1;
    for (const auto& [sign, relation] : relations) {
        for (const char* right : {"1", "-1", "$arg1", "$arg8", "%rax"}) {
            for (const char* before : {"", "!", "!!"}) {
                const std::string atom = std::string(before) + "($arg7 " + sign + " " + right + ")";
                EXPECT_FALSE(records(atom, hit)) << atom;
                EXPECT_TRUE(records(atom + " || $arg1 == 1", hit)) << atom;
                EXPECT_TRUE(records("$arg1 == 1 || " + atom, hit)) << atom;
                EXPECT_FALSE(records(atom + " && $arg1 == 1", hit)) << atom;
                EXPECT_FALSE(records("$arg1 == 1 && " + atom, hit)) << atom;
                EXPECT_FALSE(records("!(" + atom + " || $arg1 != 1)", hit)) << atom;
                EXPECT_TRUE(records("!(" + atom + " && $arg1 != 1)", hit)) << atom;
            }
        }
    }
}

// A condition's text together with what it means, worked out while it is made.
class RandomCondition {
public:
    enum class Mode { entry, instruction, ret, call };

    RandomCondition(std::mt19937_64& random, const Hit& hit) : random_(random), hit_(hit) {}

    // No value: it depends on what can't be read.
    using Truth = std::optional<bool>;

    struct Made {
        std::string text;
        Truth truth;
    };

    Made make(Mode mode) {
        if (mode != Mode::call)
            return any(mode, 3);
        // As parts joined by &&, each of what it may be of.
        Made whole = part();
        for (unsigned more = pick(3); more > 0; more--)
            whole = both(std::move(whole), part(), true);
        return whole;
    }

private:
    unsigned pick(unsigned n) { return static_cast<unsigned>(random_() % n); }

    Made part() {
        Made made = pick(2) != 0 ? any(Mode::entry, 2) : any(Mode::call, 2);
        made.text = "(" + made.text + ")";
        return made;
    }

    Made both(Made a, Made b, bool all) {
        Made made;
        made.text = a.text + (all ? " && " : " || ") + b.text;
        if (a.truth == !all || b.truth == !all)
            made.truth = !all;
        else if (a.truth && b.truth)
            made.truth = all;
        return made;
    }

    Made any(Mode mode, unsigned depth) {
        Made made = all(mode, depth);
        for (unsigned more = pick(3); more > 1; more--)
            made = both(std::move(made), all(mode, depth), false);
        return made;
    }

    Made all(Mode mode, unsigned depth) {
        Made made = unary(mode, depth);
        for (unsigned more = pick(3); more > 1; more--)
            made = both(std::move(made), unary(mode, depth), true);
        return made;
    }

    Made unary(Mode mode, unsigned depth) {
        if (depth == 0 || pick(3) == 0)
            return comparison(mode);
        Made made = pick(2) != 0 ? any(mode, depth - 1) : comparison(mode);
        made.text = "(" + made.text + ")";
        if (pick(2) != 0) {
            made.text = "!" + made.text;
            if (made.truth)
                made.truth = !*made.truth;
        }
        return made;
    }

    struct Variable {
        std::string text;
        std::optional<std::uint64_t> value;
    };

    Variable unsigned_variable(Mode mode) {
        if (mode == Mode::instruction || (mode == Mode::entry && pick(3) == 0)) {
            const Register& reg = registers[pick(registers.size())];
            return {"%" + std::string(reg.name), hit_.word[reg.word]};
        }
        const unsigned n = pick(mode == Mode::call ? 6 : 9);
        const bool faulted = n >= 6 && !hit_.stack_readable;
        return {"$arg" + std::to_string(n + 1),
                faulted ? std::nullopt : std::optional(hit_.arg[n])};
    }

    Made comparison(Mode mode) {
        const auto& [sign, relation] = relations[pick(6)];
        if (mode == Mode::ret || (mode == Mode::call && pick(3) == 0))
            return retval_comparison(mode, sign, relation);
        if (mode == Mode::call && pick(3) == 0)
            return duration_comparison(sign, relation);
        const Variable left = unsigned_variable(mode);
        if (pick(4) == 0) {
            const Variable right = unsigned_variable(mode);
            Made made{.text = left.text + sign + right.text, .truth = {}};
            if (left.value && right.value)
                made.truth = holds(Int{*left.value}, relation, Int{*right.value});
            return made;
        }
        std::uint64_t bits = constant();
        Int number = pick(3) == 0 ? Int{static_cast<std::int64_t>(bits)} : Int{bits};
        if (number == 0)
            number = 1;
        Made made{.text = left.text + " " + sign + " " + text_of(number), .truth = {}};
        if (left.value)
            made.truth =
                holds(number < 0 ? Int{static_cast<std::int64_t>(*left.value)} : Int{*left.value},
                      relation, number);
        return made;
    }

    Made retval_comparison(Mode mode, const char* sign, Relation relation) {
        if (mode == Mode::call && pick(4) == 0) {
            const unsigned n = pick(6);
            const std::uint64_t arg = hit_.arg[n];
            const bool is_error = hit_.retval >= 0xfffff001 && hit_.retval <= 0xffffffff;
            const auto signed_arg = static_cast<std::int64_t>(arg);
            int order = 0;
            if (hit_.retval != arg)
                order = (is_error ? signed_arg >= 0
                                  : static_cast<std::int64_t>(hit_.retval) < signed_arg)
                            ? -1
                            : 1;
            return {"$retval " + std::string(sign) + " $arg" + std::to_string(n + 1),
                    holds(order, relation, 0)};
        }
        const Int number = shown(constant());
        const std::string text = text_of(number);
        if (pick(2) != 0)
            return {text + sign + "$ret", holds(number, relation, shown(hit_.retval))};
        return {"$retval" + std::string(sign) + text, holds(shown(hit_.retval), relation, number)};
    }

    Made duration_comparison(const char* sign, Relation relation) {
        constexpr std::pair<const char*, std::uint64_t> units[] = {
            {"ns", 1}, {"us", 1000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
        const auto& [unit, factor] = units[pick(4)];
        const Int has = Int{hit_.ticks} * 1'000'000'000 / tsc_hz;
        const auto near = static_cast<std::uint64_t>(has) / factor + pick(3);
        const std::uint64_t number = std::max<std::uint64_t>(near, 1);
        return {"$duration " + std::string(sign) + " " + std::to_string(number) + unit,
                holds(has, relation, Int{number} * factor)};
    }

    // Mostly near what the hit has.
    std::uint64_t constant() {
        switch (pick(4)) {
        case 0:
            return values[pick(std::size(values))];
        case 1:
            return hit_.arg[pick(9)] + pick(3) - 1;
        case 2:
            return hit_.retval + pick(3) - 1;
        default:
            return random_();
        }
    }

    std::mt19937_64& random_;
    const Hit& hit_;
};

TEST(Condition, RandomOnesMeanWhatTheySay) {
    std::mt19937_64 random{20};
    const auto value = [&]() -> std::uint64_t {
        const std::uint64_t bits = random();
        return bits % 3 == 0   ? values[(bits >> 8) % std::size(values)]
               : bits % 3 == 1 ? (bits >> 8) % 5
                               : random();
    };
    const std::pair<RandomCondition::Mode, const char*> modes[] = {
        {RandomCondition::Mode::entry, "kprobe:f if "},
        {RandomCondition::Mode::instruction, "f+4 if "},
        {RandomCondition::Mode::ret, "kretprobe:f if "},
        {RandomCondition::Mode::call, "f if "},
    };
    unsigned recorded = 0;
    unsigned rejected = 0;
    unsigned unknown = 0;
    for (int round = 0; round < 40000; round++) {
        Hit hit;
        for (std::uint64_t& word : hit.word)
            word = value();
        for (std::uint64_t& arg : hit.arg)
            arg = value();
        hit.retval = value();
        hit.ticks = value() % 4 == 0 ? value() >> 1 : random() >> (24 + random() % 40);
        hit.stack_readable = random() % 3 != 0;
        const auto& [mode, before] = modes[random() % 4];
        const auto [text, truth] = RandomCondition(random, hit).make(mode);
        const bool expected = truth.value_or(false);
        try {
            ASSERT_EQ(Machine(before + text).records(hit), expected) << before << text;
        } catch (const UsageError& error) {
            FAIL() << error.what();
        }
        (!truth ? unknown : expected ? recorded : rejected)++;
    }
    EXPECT_GT(recorded, 5000U);
    EXPECT_GT(rejected, 5000U);
    EXPECT_GT(unknown, 500U);
}

} // namespace
