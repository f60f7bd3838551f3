// SPDX-License-Identifier: GPL-2.0
// The PROBE argument: all its forms, and where the caret points in what isn't one.
#include "spec/probe_spec.h"

#include <gtest/gtest.h>
#include <sstream>

#include "util/error.h"

using namespace trapline;

namespace {

using Kind = std::optional<trapline_probe_kind>;

// "why @ column of the caret", after checking that the argument is shown above the caret.
std::string refusal(std::string_view text, Kind kind = std::nullopt, std::string_view shown = {}) {
    if (shown.empty())
        shown = text;
    try {
        parse_probe(text, kind);
    } catch (const UsageError& error) {
        EXPECT_EQ(error.exit_code(), 2);
        EXPECT_NE(error.hint().find("kretprobe:FUNC"), std::string::npos);
        const std::string what = error.what();
        const std::size_t first = what.find('\n');
        const std::size_t second = what.find('\n', first + 1);
        constexpr std::size_t shown_whole = 240;
        if (shown.size() <= shown_whole) {
            EXPECT_EQ(what.substr(first + 1, second - first - 1), "    " + std::string(shown));
        }
        const std::string carets = what.substr(second + 1);
        EXPECT_EQ(carets.find_first_not_of(' '), carets.size() - 1);
        EXPECT_EQ(carets.back(), '^');
        EXPECT_EQ(what.substr(0, 11), "bad probe: ");
        return what.substr(11, first - 11) + " @ " + std::to_string(carets.size() - 1 - 4);
    }
    return "accepted";
}

TEST(ProbeSpec, PlainFunctionIsACall) {
    const ProbeSpec spec = parse_probe("vfs_read");
    EXPECT_EQ(spec.kind, TRAPLINE_CALL);
    EXPECT_EQ(spec.function, "vfs_read");
    EXPECT_EQ(spec.module, "");
    EXPECT_EQ(spec.number, 0U);
    EXPECT_EQ(spec.offset, 0U);
    EXPECT_FALSE(spec.has_offset);
    EXPECT_FALSE(spec.oops_size);
    EXPECT_EQ(spec.text, "vfs_read");
}

TEST(ProbeSpec, CommandWideKind) {
    EXPECT_EQ(parse_probe("vfs_read", TRAPLINE_ENTRY).kind, TRAPLINE_ENTRY);
    EXPECT_EQ(parse_probe("vfs_read", TRAPLINE_RETURN).kind, TRAPLINE_RETURN);
    EXPECT_EQ(parse_probe("kprobe:vfs_read", TRAPLINE_ENTRY).kind, TRAPLINE_ENTRY);
    EXPECT_EQ(parse_probe("kretprobe:vfs_read", TRAPLINE_RETURN).kind, TRAPLINE_RETURN);
    EXPECT_EQ(parse_probe("vfs_read+4", TRAPLINE_ENTRY).offset, 4U);
}

TEST(ProbeSpec, Prefixes) {
    const ProbeSpec entry = parse_probe("kprobe:ext4:ext4_sync_file+0x1c");
    EXPECT_EQ(entry.kind, TRAPLINE_ENTRY);
    EXPECT_EQ(entry.module, "ext4");
    EXPECT_EQ(entry.function, "ext4_sync_file");
    EXPECT_EQ(entry.offset, 0x1cU);
    const ProbeSpec ret = parse_probe("kretprobe:snd-hda:f");
    EXPECT_EQ(ret.kind, TRAPLINE_RETURN);
    EXPECT_EQ(ret.module, "snd-hda");
    EXPECT_EQ(parse_probe("kprobe:f").module, "");
    EXPECT_EQ(parse_probe("kernel:f").module, "kernel");
}

TEST(ProbeSpec, SymbolCharacters) {
    EXPECT_EQ(parse_probe("do_work.isra.0").function, "do_work.isra.0");
    EXPECT_EQ(parse_probe("_ZN4core3fmt$x").function, "_ZN4core3fmt$x");
    EXPECT_EQ(parse_probe("kprobe_register").function, "kprobe_register");
}

TEST(ProbeSpec, OffsetMakesAnEntryProbe) {
    const ProbeSpec decimal = parse_probe("f+28");
    EXPECT_EQ(decimal.kind, TRAPLINE_ENTRY);
    EXPECT_EQ(decimal.offset, 28U);
    EXPECT_TRUE(decimal.has_offset);
    EXPECT_EQ(parse_probe("f+0X1C").offset, 0x1cU);
    EXPECT_EQ(parse_probe("f+0xffffffffffffffff").offset, UINT64_MAX);
    const ProbeSpec zero = parse_probe("f+0");
    EXPECT_EQ(zero.kind, TRAPLINE_ENTRY);
    EXPECT_TRUE(zero.has_offset);
    EXPECT_FALSE(parse_probe("kprobe:f").has_offset);
}

TEST(ProbeSpec, PastedFromAnOops) {
    const ProbeSpec plain = parse_probe("vfs_read+0x1c/0x80");
    EXPECT_EQ(plain.kind, TRAPLINE_ENTRY);
    EXPECT_EQ(plain.offset, 0x1cU);
    EXPECT_EQ(plain.oops_size, 0x80U);
    for (const char* text : {"f+0x1c/0x80 [ext4]", "f+0x1c/0x80[ext4]", "f+0x1c/0x80\t [ext4] ",
                             "f+0x1c/0x80 [ext4 0123456789abcdef]", "ext4:f+0x1c/0x80 [ext4]"}) {
        const ProbeSpec spec = parse_probe(text);
        EXPECT_EQ(spec.module, "ext4") << text;
        EXPECT_EQ(spec.function, "f") << text;
        EXPECT_EQ(spec.offset, 0x1cU) << text;
        EXPECT_EQ(spec.oops_size, 0x80U) << text;
        EXPECT_EQ(spec.text, text);
    }
    EXPECT_EQ(parse_probe("f ").function, "f");
}

TEST(ProbeSpec, NumberChoosesAmongDuplicates) {
    EXPECT_EQ(parse_probe("f#2").number, 2U);
    const ProbeSpec spec = parse_probe("kprobe:m:f#12+0x4/0x8");
    EXPECT_EQ(spec.number, 12U);
    EXPECT_EQ(spec.offset, 4U);
    EXPECT_EQ(spec.oops_size, 8U);
}

TEST(ProbeSpec, CaretsOnNames) {
    EXPECT_EQ(refusal(""), "a function's name is expected here @ 0");
    EXPECT_EQ(refusal("kprobe:"), "a function's name is expected here @ 7");
    EXPECT_EQ(refusal("ext4:"), "a function's name is expected here @ 5");
    EXPECT_EQ(refusal("+4"), "a function's name is expected here @ 0");
    EXPECT_EQ(refusal(":f"), "a module's name is expected before ':' @ 0");
    EXPECT_EQ(refusal("kprobe::f"), "a module's name is expected before ':' @ 7");
    EXPECT_EQ(refusal("m:n:f"), "':' is not expected here @ 3");
    EXPECT_EQ(refusal("f\\x"), "'\\' is not expected here @ 1");
    EXPECT_EQ(refusal("f\nx", {}, "f\\nx"), "'\\n' is not expected here @ 1");
    EXPECT_EQ(refusal("vfs-read"), "'-' is not expected here @ 3");
    EXPECT_EQ(refusal("vfs_read ()"), "' ' is not expected here @ 8");
    EXPECT_EQ(refusal("f g"), "' ' is not expected here @ 1");
    EXPECT_EQ(refusal(" f"), "a function's name is expected here @ 0");
    EXPECT_EQ(refusal("9f"), "a function's name doesn't begin with a digit @ 0");
    EXPECT_EQ(refusal("kprobe:m:" + std::string(600, 'f')), "the name is too long @ 9");
    EXPECT_EQ(refusal("m:" + std::string(508, 'f')), "accepted");
    EXPECT_EQ(refusal("m:" + std::string(509, 'f')), "accepted");
    EXPECT_EQ(refusal("m:" + std::string(510, 'f')), "the name is too long @ 2");
}

TEST(ProbeSpec, ASetIsNoProbe) {
    try {
        parse_probe("@set");
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_TRUE(std::string(error.what()).find("compiled probes are no probe") !=
                    std::string::npos);
        EXPECT_EQ(error.hint(), "trapline trace @SET, and record, take them alone");
    }
}

TEST(ProbeSpec, Patterns) {
    const ProbeSpec spec = parse_probe("kprobe:ext4:ext4_[!a-c]*_?(inode) if $pid == 1");
    EXPECT_TRUE(spec.pattern);
    EXPECT_EQ(spec.module, "ext4");
    EXPECT_EQ(spec.function, "ext4_[!a-c]*_?");
    EXPECT_TRUE(spec.arguments && spec.condition);
    EXPECT_FALSE(parse_probe("f+4/8 [ext4]").pattern) << "a module";
    EXPECT_EQ(refusal("vfs_[rw"), "']' is expected behind this @ 4");
    EXPECT_EQ(refusal("vfs_*+4"), "a pattern means whole functions, by their names @ 5");
    EXPECT_EQ(refusal("vfs_*#2"), "a pattern means whole functions, by their names @ 5");
    EXPECT_EQ(refusal("vfs_*:3"), "a pattern means whole functions, by their names @ 5");
    EXPECT_EQ(refusal("m*:f"), "a pattern means whole functions, by their names @ 2");
}

TEST(ProbeSpec, Addresses) {
    const ProbeSpec spec = parse_probe("kretprobe:0xffffffff81000000 if $retval < 0");
    EXPECT_EQ(spec.address, 0xffffffff81000000U);
    EXPECT_EQ(spec.kind, TRAPLINE_RETURN);
    EXPECT_EQ(refusal("0x"), "a hexadecimal digit is expected here @ 2");
    EXPECT_EQ(refusal("0xfffg"), "'g' is not expected here @ 5");
    EXPECT_EQ(refusal("0x1234+4"), "'+' is not expected here @ 6");
}

TEST(ProbeSpec, CaretsOnNumbers) {
    constexpr const char* number = "a number is expected here, decimal or 0x and hexadecimal";
    EXPECT_EQ(refusal("f+"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f+x"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f+-4"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f++4"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f+ 4"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f+0x"), "a hexadecimal digit is expected here @ 4");
    EXPECT_EQ(refusal("f+0xzz"), "a hexadecimal digit is expected here @ 4");
    EXPECT_EQ(refusal("f+0x-1"), "a hexadecimal digit is expected here @ 4");
    EXPECT_EQ(refusal("f+0x1g"), "'g' is not expected here @ 5");
    EXPECT_EQ(refusal("f+1c"), "'c' is not expected here @ 3");
    EXPECT_EQ(refusal("f+18446744073709551616"), "the number is too large @ 2");
    EXPECT_EQ(refusal("f+0x10000000000000000"), "the number is too large @ 4");
    EXPECT_EQ(refusal("f+0x1c/"), std::string(number) + " @ 7");
    EXPECT_EQ(refusal("f+0x1c/0x8"), "the function's size is less than the offset in it @ 7");
    EXPECT_EQ(refusal("f/0x80"), "'/' is not expected here @ 1");
    EXPECT_EQ(refusal("f#0"), "functions of one name are counted from 1 @ 2");
    EXPECT_EQ(refusal("f#"), std::string(number) + " @ 2");
    EXPECT_EQ(refusal("f#99999"), "there are not so many functions of one name @ 2");
}

TEST(ProbeSpec, CaretsOnLinesAndFiles) {
    EXPECT_EQ(refusal("fs/open.c:0"), "no file has such a line @ 10");
    EXPECT_EQ(refusal("fs/open.c:2147483648"), "no file has such a line @ 10");
    EXPECT_EQ(refusal("vfs_read:2147483648"), "no file has such a line @ 9");
    EXPECT_EQ(refusal("vfs_read:2147483647"), "accepted");
    EXPECT_EQ(refusal("kretprobe:fs/open.c:12"),
              "kretprobe: means a whole function's return, so there can't be a line @ 19");
    EXPECT_EQ(refusal("kretprobe:vfs_read:12"),
              "kretprobe: means a whole function's return, so there can't be a line @ 18");
    EXPECT_EQ(refusal("vfs_read:12", TRAPLINE_RETURN),
              "--return means a whole function's return, so there can't be a line @ 8");
    EXPECT_EQ(refusal("vfs_read@"), "the file that has the function is expected behind '@' @ 9");
    EXPECT_EQ(refusal("vfs_read@(count)"),
              "the file that has the function is expected behind '@' @ 9");
}

TEST(ProbeSpec, CaretsOnBrackets) {
    EXPECT_EQ(refusal("f+1/2 []"), "a module's name is expected in brackets @ 7");
    EXPECT_EQ(refusal("f+1/2 [ext4"), "']' is expected here @ 11");
    EXPECT_EQ(refusal("f+1/2 [ext4 xyz]"), "']' is expected here @ 12");
    EXPECT_EQ(refusal("f+1/2 [ext4] x"), "'x' is not expected here @ 13");
    EXPECT_EQ(refusal("xfs:f+1/2 [ext4]"), "this contradicts 'xfs:' @ 11");
}

TEST(ProbeSpec, Contradictions) {
    EXPECT_EQ(refusal("kprobe:f", TRAPLINE_RETURN),
              "kprobe: means the entry, --return the return @ 0");
    EXPECT_EQ(refusal("kretprobe:f", TRAPLINE_ENTRY),
              "kretprobe: means the return, --entry the entry @ 0");
    EXPECT_EQ(refusal("kretprobe:f+4"),
              "kretprobe: means a whole function's return, so there can't be an offset @ 11");
    EXPECT_EQ(refusal("f+4", TRAPLINE_RETURN),
              "--return means a whole function's return, so there can't be an offset @ 1");
    EXPECT_EQ(refusal("f+0x4/0x8 [m]", TRAPLINE_RETURN),
              "--return means a whole function's return, so there can't be an offset @ 1");
}

TEST(ProbeSpec, HostileTextIsShownEscaped) {
    EXPECT_EQ(refusal("f\033[2J", std::nullopt, "f\\033[2J"), "'\\033' is not expected here @ 1");
    EXPECT_EQ(refusal("\xc3\xa9+f", std::nullopt, "\\303\\251+f"),
              "a function's name is expected here @ 0");
    EXPECT_EQ(refusal("f [\n", std::nullopt, "f [\\n"),
              "a module's name is expected in brackets @ 3");
    // The caret counts what is shown.
    EXPECT_EQ(refusal("f\t\t?", std::nullopt, "f\\t\\t?"), "'\\t' is not expected here @ 1");
    EXPECT_EQ(refusal("f\t[m]\t?", std::nullopt, "f\\t[m]\\t?"), "'?' is not expected here @ 8");
    EXPECT_EQ(refusal(std::string_view("f\0g", 3), std::nullopt, "f\\000g"),
              "'\\000' is not expected here @ 1");
}

// Whether the condition is taken apart right is condition_test.cpp's.
TEST(ProbeSpec, AConditionFollowsAnyPlace) {
    for (const std::string place : {"f", "kprobe:f", "m:f#2", "kprobe:m:f+0"}) {
        for (const std::string condition :
             {" if $arg1 == 1", "  if\t$arg1 == 1 ", " if($arg1 == 1)", " /$arg1 == 1/",
              " / $arg1 == 1 /  ", "\t/$arg1==1/", "\tif $arg1 == 1"}) {
            const std::string text = place + condition;
            const ProbeSpec spec = parse_probe(text);
            const ProbeSpec plain = parse_probe(place);
            EXPECT_EQ(spec.text, text);
            EXPECT_EQ(spec.kind, plain.kind);
            EXPECT_EQ(spec.module, plain.module);
            EXPECT_EQ(spec.function, "f");
            EXPECT_EQ(spec.number, plain.number);
            EXPECT_EQ(event_name(spec), event_name(plain));
            ASSERT_TRUE(spec.condition) << text;
            EXPECT_EQ(spec.condition->left.builtin, Builtin::argument);
            EXPECT_EQ(spec.condition->left.which, 0U);
            EXPECT_FALSE(spec.arguments);
        }
    }
    EXPECT_FALSE(parse_probe("f").condition);
    EXPECT_TRUE(parse_probe("kretprobe:f if $retval < 0").condition);
    EXPECT_TRUE(parse_probe("f if $retval < 0", TRAPLINE_RETURN).condition);
    EXPECT_TRUE(parse_probe("if if $retval < 0").condition);
    EXPECT_EQ(parse_probe("iffy").function, "iffy");
    EXPECT_EQ(parse_probe("if").function, "if");
}

// What is in it is expression_test.cpp's.
TEST(ProbeSpec, AListFollowsAnyPlaceAtOnce) {
    for (const std::string place :
         {"f", "kprobe:f", "m:f#2", "kprobe:m:f+0", "f+0x1c/0x80 [ext4]"}) {
        const ProbeSpec plain = parse_probe(place);
        for (const std::string list : {"()", "( )", "($arg1)", "(%rdi, (u32)%rsi:x)"}) {
            for (const std::string condition : {"", " if (%rdi) == 1", " /%rdi == 1/", "  "}) {
                const ProbeSpec spec = parse_probe(place + list + condition);
                EXPECT_EQ(spec.function, plain.function);
                EXPECT_EQ(spec.module, plain.module);
                EXPECT_EQ(spec.offset, plain.offset);
                EXPECT_EQ(event_name(spec), event_name(plain));
                ASSERT_TRUE(spec.arguments) << place << list << condition;
                EXPECT_EQ(spec.condition.has_value(), condition.find('1') != std::string::npos);
                EXPECT_FALSE(spec.arguments->result);
            }
        }
    }
    EXPECT_EQ(parse_probe("f(a, b->c, d[2])").arguments->items.size(), 3U);
    EXPECT_TRUE(parse_probe("f(a)=$retval:x").arguments->result);
    EXPECT_TRUE(parse_probe("f() = $retval->a if a == 1").condition);
    EXPECT_FALSE(parse_probe("f if (a) == 1").arguments) << "a condition's parentheses";
    EXPECT_FALSE(parse_probe("f if(a == 1)").arguments);
    EXPECT_FALSE(parse_probe("f /(a) == 1/").arguments);
    EXPECT_EQ(refusal("f (a)"), "' ' is not expected here @ 1");
    EXPECT_EQ(refusal("(a)"), "a function's name is expected here @ 0");
    EXPECT_EQ(refusal("f+(a)"), "a number is expected here, decimal or 0x and hexadecimal @ 2");
    EXPECT_EQ(refusal("f(a)/a == 1/"), "'=', ' if CONDITION' or the end is expected here @ 4");
}

TEST(ProbeSpec, AnOopsHasSlashesToo) {
    for (const char* text : {"f+0x1c/0x80 if %rax == 0", "f+0x1c/0x80 /%rax == 0/"}) {
        const ProbeSpec spec = parse_probe(text);
        EXPECT_EQ(spec.offset, 0x1cU);
        EXPECT_EQ(spec.oops_size, 0x80U);
        EXPECT_TRUE(spec.condition);
    }
    for (const char* text : {"f+0x1c/0x80 [ext4] if %rax == 0", "f+0x1c/0x80 [ext4] /%rax == 0/"})
        EXPECT_EQ(parse_probe(text).module, "ext4");
    EXPECT_FALSE(parse_probe("f+0x1c/0x80 [ext4]").condition);
}

TEST(ProbeSpec, ReturnsArePrintedBehindAList) {
    for (const char* text : {"f = $retval", "f = ", "f = $retval if $arg1 == 1"}) {
        try {
            parse_probe(text);
            ADD_FAILURE() << text;
        } catch (const UsageError& error) {
            EXPECT_NE(std::string(error.what()).find("stands behind a list"), std::string::npos);
            EXPECT_NE(error.hint().find("vfs_read() = $retval"), std::string::npos);
            EXPECT_NE(error.hint().find("double quotes"), std::string::npos);
        }
    }
}

TEST(ProbeSpec, CaretsWithACondition) {
    EXPECT_EQ(refusal(" if $arg1 == 1"), "a function's name is expected here @ 0");
    EXPECT_EQ(refusal("f g if $arg1 == 1"), "' ' is not expected here @ 1");
    EXPECT_EQ(refusal("f $arg1 == 1"), "' ' is not expected here @ 1");
    EXPECT_EQ(refusal("f+ if $arg1 == 1"),
              "a number is expected here, decimal or 0x and hexadecimal @ 2");
    EXPECT_EQ(refusal("f+99999999999999999999 if %rax == 1"), "the number is too large @ 2");
    EXPECT_EQ(refusal("f /$arg1 == 1"), "'/' is expected behind the condition @ 13");
    EXPECT_EQ(refusal("f /"), "'/' is expected behind the condition @ 3");
    EXPECT_EQ(refusal("f /$arg1 == 1/ { }"), "nothing is expected behind the condition @ 15");
}

// Of a PROBE of any length as much is shown as a few lines have, with the place in it.
TEST(ProbeSpec, CaretsInALongOne) {
    for (const std::size_t before : {0U, 100U, 10'000U}) {
        const std::string text = "f(" + std::string(before, ' ') + "%" + std::string(20'000, 'x');
        try {
            parse_probe(text);
            FAIL() << before;
        } catch (const UsageError& error) {
            const std::string what = error.what();
            EXPECT_LT(what.size(), 1000U);
            std::istringstream lines(what);
            std::string line;
            std::string shown;
            std::getline(lines, line);
            std::getline(lines, shown);
            std::getline(lines, line);
            EXPECT_EQ(shown.at(line.find('^')), '%') << what;
            EXPECT_EQ(shown.substr(shown.size() - 3), "...");
            EXPECT_EQ(shown.substr(4, 2), before < 1000 ? "f(" : "..");
        }
    }
}

TEST(ProbeSpec, EventNames) {
    EXPECT_EQ(event_name(parse_probe("vfs_read")), "vfs_read");
    EXPECT_EQ(event_name(parse_probe("kprobe:vfs_read+28")), "vfs_read+0x1c");
    EXPECT_EQ(event_name(parse_probe("vfs_read+0")), "vfs_read");
    EXPECT_EQ(event_name(parse_probe("ext4:f")), "ext4:f");
    EXPECT_EQ(event_name(parse_probe("f+0x1c/0x80 [ext4]")), "ext4:f+0x1c");
    EXPECT_EQ(event_name(parse_probe("kernel:f")), "f");
    EXPECT_EQ(event_name(parse_probe("vmlinux:f#2+4")), "f#2+0x4");
}

} // namespace
