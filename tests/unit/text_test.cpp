// SPDX-License-Identifier: GPL-2.0
// Events as lines: every rule of the format, and names and strings that want to harm a terminal.
#include "output/text.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "output_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

constexpr std::size_t event_column = 51; // of a line with short numbers

std::string line(const EventLayout& layout, const std::vector<std::byte>& bytes) {
    TextPrinter printer;
    return Sample(bytes).print(printer, layout);
}

// The event alone, without the columns before it and the newline.
std::string shown(const EventLayout& layout, const std::vector<std::byte>& bytes) {
    const std::string text = line(layout, bytes);
    const std::size_t at = text.find("678: ");
    EXPECT_EQ(text.back(), '\n');
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    return text.substr(at + 5, text.size() - at - 6);
}

std::string returned(std::uint64_t value) {
    return shown(make_layout(TRAPLINE_RETURN, {}, {raw64}), RecordBytes().number(value));
}

std::string entered_with(std::uint16_t status, std::string_view text) {
    return shown(make_layout(TRAPLINE_ENTRY, {text_field}), RecordBytes().string(status, text));
}

TEST(Text, Columns) {
    EXPECT_EQ(line(make_layout(TRAPLINE_ENTRY, {}), {}),
              "             cat-4711    [003] ....     12.345678: vfs_read()\n");
    TextPrinter printer;
    Sample sample;
    sample.event.tid = 12345678;
    sample.event.cpu = 1234;
    sample.event.ticks = 12'345'678'000'000'999;
    sample.event.flags = TL_IRQS_OFF | 1;
    sample.comm("exactly16letters");
    EXPECT_EQ(sample.print(printer, make_layout(TRAPLINE_ENTRY, {})),
              "exactly16letters-12345678 [1234] d..1 12345678.000000: vfs_read()\n");
}

TEST(Text, AppendsToWhatIsThere) {
    TextPrinter printer;
    Sample sample;
    sample.event.fields = sample.bytes;
    std::string out = "before\n";
    printer.print(sample.event, make_layout(TRAPLINE_ENTRY, {}), sample.clock, out);
    printer.print(sample.event, make_layout(TRAPLINE_ENTRY, {}), sample.clock, out);
    EXPECT_EQ(out.substr(0, 24), "before\n             cat-");
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
}

TEST(Text, CommsAreMadeSafe) {
    TextPrinter printer;
    const auto comm = [&](std::string_view name) {
        const std::string text =
            Sample().comm(name).print(printer, make_layout(TRAPLINE_ENTRY, {}));
        return text.substr(0, text.find("-4711"));
    };
    EXPECT_EQ(comm("kworker/0:1H"), "    kworker/0:1H");
    EXPECT_EQ(comm("Web Content"), "     Web Content");
    EXPECT_EQ(comm("\033[2Jx"), "        \\033[2Jx");
    EXPECT_EQ(comm("a\nb"), "            a\\nb");
    EXPECT_EQ(comm("\xff\xff\xff\xff\xff"), "\\377\\377\\377\\377\\377");
    EXPECT_EQ(comm("\xc3\xa9"), "        \\303\\251");
    EXPECT_EQ(comm(""), "           <...>");
}

TEST(Text, Flags) {
    const auto flags = [](unsigned bits) {
        const auto shown_flags = flag_characters(static_cast<std::uint16_t>(bits));
        return std::string(shown_flags.begin(), shown_flags.end());
    };
    EXPECT_EQ(flags(0), "....");
    EXPECT_EQ(flags(TL_IRQS_OFF), "d...");
    EXPECT_EQ(flags(TL_BH_OFF), "b...");
    EXPECT_EQ(flags(TL_IRQS_OFF | TL_BH_OFF), "D...");
    EXPECT_EQ(flags(TL_NEED_RESCHED), ".N..");
    EXPECT_EQ(flags(TL_SOFTIRQ), "..s.");
    EXPECT_EQ(flags(TL_HARDIRQ), "..h.");
    EXPECT_EQ(flags(TL_HARDIRQ | TL_SOFTIRQ), "..H.");
    EXPECT_EQ(flags(TL_NMI), "..z.");
    EXPECT_EQ(flags(TL_NMI | TL_SOFTIRQ), "..z.");
    EXPECT_EQ(flags(TL_NMI | TL_HARDIRQ), "..Z.");
    EXPECT_EQ(flags(1), "...1");
    EXPECT_EQ(flags(10), "...a");
    EXPECT_EQ(flags(15), "...f");
    EXPECT_EQ(flags(TL_IRQS_OFF | TL_NEED_RESCHED | TL_HARDIRQ | 2), "dNh2");
}

TEST(Text, Call) {
    const EventLayout layout = make_layout(TRAPLINE_CALL, {raw64, raw32}, {raw64});
    EXPECT_EQ(shown(layout, RecordBytes()
                                .number(std::uint64_t{0xffff888100000000})
                                .number(std::uint32_t{0})
                                .number(std::uint64_t{12345})
                                .number(std::uint64_t{0x1000})),
              "vfs_read(0xffff888100000000, 0x0) = 0x1000 <12.3 us>");
    EXPECT_EQ(shown(make_layout(TRAPLINE_CALL, {}, {raw64}),
                    RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{0})),
              "vfs_read() = 0x0 <1 ns>");
}

TEST(Text, EntryAndReturn) {
    EXPECT_EQ(shown(make_layout(TRAPLINE_ENTRY, {raw64, raw64}),
                    RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{0xab})),
              "vfs_read(0x1, 0xab)");
    EXPECT_EQ(returned(0x1000), "vfs_read() = 0x1000");
}

TEST(Text, NamesAndTypes) {
    EventLayout layout = make_layout(
        TRAPLINE_CALL, {pointer64, signed32, signed8, unsigned64, hex64, bool8, text_field},
        {signed32});
    layout.named = true;
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint64_t{0xffff888000000000})
                                             .number(std::int32_t{-100})
                                             .number(std::int8_t{-1})
                                             .number(~std::uint64_t{0})
                                             .number(std::uint64_t{0x18})
                                             .number(std::uint8_t{1})
                                             .string(TL_STR_WHOLE, "a\"b")
                                             .number(std::uint64_t{1})
                                             .number(std::int32_t{-13});
    EXPECT_EQ(shown(layout, bytes),
              "vfs_read(file=0xffff888000000000, fd=-100, delta=-1, count=18446744073709551615, "
              "flags=0x18, on=true, s=\"a\\\"b\") = -13 EACCES <1 ns>");
    layout.return_fields.clear();
    layout.entry_fields = {bool8};
    EXPECT_EQ(shown(layout, RecordBytes().number(std::uint8_t{7}).number(std::uint64_t{1})),
              "vfs_read(on=7) <1 ns>");
}

TEST(Text, TypedReturnsThatAreErrors) {
    const auto returns = [](const Field& field, auto value) {
        return shown(make_layout(TRAPLINE_RETURN, {}, {field}), RecordBytes().number(value));
    };
    EXPECT_EQ(returns(signed32, std::int32_t{-2}), "vfs_read() = -2 ENOENT");
    EXPECT_EQ(returns(signed32, std::int32_t{-4096}), "vfs_read() = -4096");
    EXPECT_EQ(returns(signed32, std::int32_t{64}), "vfs_read() = 64");
    EXPECT_EQ(returns(signed8, std::int8_t{-2}), "vfs_read() = -2 ENOENT");
    EXPECT_EQ(returns(pointer64, -std::uint64_t{12}), "vfs_read() = -12 ENOMEM");
    EXPECT_EQ(returns(pointer64, std::uint64_t{0xfffffff4}), "vfs_read() = 0xfffffff4");
    EXPECT_EQ(returns(unsigned64, -std::uint64_t{2}), "vfs_read() = 18446744073709551614");
    EXPECT_EQ(returns(hex64, -std::uint64_t{2}), "vfs_read() = 0xfffffffffffffffe");
    EXPECT_EQ(returns(bool8, std::uint8_t{0}), "vfs_read() = false");
}

TEST(Text, Enumerations) {
    const auto shows = [](const Field& field, std::uint32_t value) {
        EventLayout layout = make_layout(TRAPLINE_ENTRY, {field});
        layout.named = true;
        const std::string text = shown(layout, RecordBytes().number(value));
        return text.substr(std::string_view("vfs_read(mode=").size());
    };
    const Field plain = enum_field({{"NO", 0}, {"ONE", 1}, {"TWO", 2}});
    EXPECT_EQ(shows(plain, 2), "TWO)");
    EXPECT_EQ(shows(plain, 3), "3)") << "numbered, not bits";
    const Field negative = enum_field({{"BAD", -std::uint64_t{1}}, {"GOOD", 0}}, true);
    EXPECT_EQ(shows(negative, 0xffffffff), "BAD)");
    EXPECT_EQ(shows(negative, 0xfffffffe), "-2)");
    const Field bits = enum_field({{"NONE", 0}, {"R", 1}, {"W", 2}, {"X", 4}, {"RW", 3}, {"S", 8}});
    EXPECT_EQ(shows(bits, 0), "NONE)");
    EXPECT_EQ(shows(bits, 3), "RW)");
    EXPECT_EQ(shows(bits, 5), "R|X)");
    EXPECT_EQ(shows(bits, 0x46), "W|X|0x40)");
    EXPECT_EQ(shows(bits, 0x40), "0x40)") << "no name for any of its bits";
    EXPECT_EQ(shows(bits, 0x80000001), "R|0x80000000)");
    const Field unnamed_zero = enum_field({{"R", 1}, {"W", 2}, {"X", 4}, {"ALL", 7}});
    EXPECT_EQ(shows(unnamed_zero, 0), "0)");
    EXPECT_EQ(shows(unnamed_zero, 7), "ALL)");
    EXPECT_EQ(shows(unnamed_zero, 0xf), "R|W|X|0x8)");
    const Field not_of_bits = enum_field({{"R", 1}, {"W", 2}, {"X", 4}, {"MODE", 0x18}});
    EXPECT_EQ(shows(not_of_bits, 0x19), "25)") << "what 0x18 consists of isn't known";
    const Field counted =
        enum_field({{"A", 0}, {"B", 1}, {"C", 2}, {"D", 3}, {"E", 4}, {"F", 5}, {"LAST", 5}});
    EXPECT_EQ(shows(counted, 6), "6)") << "numbered without a gap, not bits";
}

TEST(Text, EnumerationsOfBitsWithASign) {
    const auto shows = [](const Field& field, std::uint32_t value) {
        return shown(make_layout(TRAPLINE_ENTRY, {field}), RecordBytes().number(value));
    };
    const Field low = enum_field({{"R", 1}, {"W", 2}, {"X", 4}}, true);
    EXPECT_EQ(shows(low, 0x11), "vfs_read(R|0x10)");
    EXPECT_EQ(shows(low, 0xfffffffd), "vfs_read(-3)") << "an error, or a complement";
    const Field top = enum_field(
        {{"R", 1}, {"W", 2}, {"T", 0xffffffff80000000}, {"ERR", -std::uint64_t{9}}}, true);
    EXPECT_EQ(shows(top, 0xfffffff7), "vfs_read(ERR)");
    EXPECT_EQ(shows(top, 0x80000001), "vfs_read(-2147483647)") << "its values aren't bits";
    const Field all = enum_field({{"R", 1}, {"W", 2}, {"T", 0xffffffff80000000}}, true);
    EXPECT_EQ(shows(all, 0x80000001), "vfs_read(R|T)");
    EXPECT_EQ(shows(all, 0x80000004), "vfs_read(T|0x4)");
}

TEST(Text, FormatsOfLists) {
    EventLayout layout =
        make_layout(TRAPLINE_ENTRY, {character8, error32, ip4, hex_bytes, ip6, mac});
    layout.named = true;
    EXPECT_EQ(shown(layout, RecordBytes()
                                .number(std::uint8_t{'a'})
                                .number(std::int32_t{-2})
                                .number(std::uint32_t{0x0100007f}) // 7f 00 00 01
                                .string(TL_STR_WHOLE, std::string("\x00\xff\x0a", 3))
                                .string(TL_STR_WHOLE,
                                        std::string("\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16))
                                .string(TL_STR_WHOLE, std::string("\x02\x42\0\0\0\x01", 6))),
              "vfs_read(c='a', e=-2 ENOENT, ip4=127.0.0.1, hex=00ff0a, ip6=fe80::1, "
              "mac=02:42:00:00:00:01)");
    // Not all of it could be read.
    layout.entry_fields = {character8, error32, hex_bytes, ip6, mac, mac};
    EXPECT_EQ(shown(layout, RecordBytes()
                                .number(std::uint8_t{'\n'})
                                .number(std::int32_t{7})
                                .string(TL_STR_FAULT, "\x01")
                                .string(TL_STR_FAULT, "\x01\x02")
                                .string(TL_STR_FAULT, "")
                                .string(TL_STR_NULL, "")),
              "vfs_read(c='\\n', e=7, hex=01(fault), ip6=0102(fault), mac=(fault), mac=(null))");
    EXPECT_EQ(
        shown(make_layout(TRAPLINE_RETURN, {}, {error32}), RecordBytes().number(std::int32_t{-13})),
        "vfs_read() = -13 EACCES");
}

TEST(Text, RegistersAtAnOffset) {
    EventLayout layout = make_layout(TRAPLINE_ENTRY, {raw64, raw64});
    layout.name = "vfs_read+0x1c";
    layout.at_entry = false;
    layout.entry_fields[0].name = "di";
    layout.entry_fields[1].name = "si";
    EXPECT_EQ(shown(layout, RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{0xab})),
              "vfs_read+0x1c: di=0x1 si=0xab");
}

TEST(Text, RawReturnsThatAreErrors) {
    EXPECT_EQ(returned(0), "vfs_read() = 0x0");
    EXPECT_EQ(returned(-std::uint64_t{2}), "vfs_read() = -2 ENOENT");
    EXPECT_EQ(returned(-std::uint64_t{512}), "vfs_read() = -512 ERESTARTSYS");
    EXPECT_EQ(returned(-std::uint64_t{4000}), "vfs_read() = -4000");
    EXPECT_EQ(returned(-std::uint64_t{4095}), "vfs_read() = -4095");
    EXPECT_EQ(returned(-std::uint64_t{4096}), "vfs_read() = 0xfffffffffffff000");
    EXPECT_EQ(returned(0xfffffffe), "vfs_read() = -2 ENOENT");
    EXPECT_EQ(returned(0xfffff001), "vfs_read() = -4095");
    EXPECT_EQ(returned(0xfffff000), "vfs_read() = 0xfffff000");
    EXPECT_EQ(returned(0x1fffffffe), "vfs_read() = 0x1fffffffe");
    // Arguments are never taken for errors.
    EXPECT_EQ(shown(make_layout(TRAPLINE_ENTRY, {raw64}), RecordBytes().number(-std::uint64_t{2})),
              "vfs_read(0xfffffffffffffffe)");
}

TEST(Text, Durations) {
    EXPECT_EQ(duration_text(0), "0 ns");
    EXPECT_EQ(duration_text(999), "999 ns");
    EXPECT_EQ(duration_text(1000), "1.0 us");
    EXPECT_EQ(duration_text(12'345), "12.3 us");
    EXPECT_EQ(duration_text(12'350), "12.4 us");
    EXPECT_EQ(duration_text(999'949), "999.9 us");
    EXPECT_EQ(duration_text(999'950), "1.0 ms");
    EXPECT_EQ(duration_text(4'560'000), "4.6 ms");
    EXPECT_EQ(duration_text(999'949'999), "999.9 ms");
    EXPECT_EQ(duration_text(999'950'000), "1.0 s");
    EXPECT_EQ(duration_text(1'200'000'000), "1.2 s");
    EXPECT_EQ(duration_text(999'900'000'000), "999.9 s");
    EXPECT_EQ(duration_text(86'400'000'000'000), "86400 s");
    EXPECT_EQ(duration_text(UINT64_MAX), "18446744073 s");
}

TEST(Text, Strings) {
    EXPECT_EQ(entered_with(TL_STR_WHOLE, "/etc/passwd"), "vfs_read(\"/etc/passwd\")");
    EXPECT_EQ(entered_with(TL_STR_WHOLE, ""), "vfs_read(\"\")");
    EXPECT_EQ(entered_with(TL_STR_CUT, "/etc"), "vfs_read(\"/etc\"...)");
    EXPECT_EQ(entered_with(TL_STR_FAULT, ""), "vfs_read((fault))");
    EXPECT_EQ(entered_with(TL_STR_FAULT, "abc"), "vfs_read(\"abc\"(fault))");
    EXPECT_EQ(entered_with(TL_STR_NULL, ""), "vfs_read((null))");
    EXPECT_EQ(entered_with(TL_STR_WHOLE, "a\"b\\c\nd\033[31m\xff"),
              "vfs_read(\"a\\\"b\\\\c\\nd\\033[31m\\377\")");
    EXPECT_EQ(entered_with(TL_STR_WHOLE, std::string_view("a\0b", 3)), "vfs_read(\"a\\000b\")");
}

TEST(Text, NothingUnprintableGetsOut) {
    std::string all;
    for (int c = 0; c < 256; c++)
        all += static_cast<char>(c);
    TextPrinter printer;
    Sample sample(RecordBytes().string(TL_STR_WHOLE, all));
    for (std::size_t from = 1; from < 256; from += 15) {
        sample.comm(std::string_view(all).substr(from, 15));
        const std::string text = sample.print(printer, make_layout(TRAPLINE_ENTRY, {text_field}));
        EXPECT_TRUE(
            std::all_of(text.begin(), text.end() - 1, [](char c) { return c >= ' ' && c <= '~'; }));
    }
}

TEST(Text, FaultedNumbers) {
    EXPECT_EQ(shown(make_layout(TRAPLINE_ENTRY, {raw64, raw64, faults_field}),
                    RecordBytes()
                        .number(std::uint64_t{0})
                        .number(std::uint64_t{0})
                        .number(std::uint32_t{2})),
              "vfs_read(0x0, (fault))");
}

TEST(Text, StragglersAreMarked) {
    TextPrinter printer;
    Sample sample;
    sample.event.straggler = true;
    const std::string text = sample.print(printer, make_layout(TRAPLINE_ENTRY, {}));
    EXPECT_TRUE(text.ends_with("vfs_read() [late]\n")) << text;
}

TEST(Text, Marks) {
    EXPECT_EQ(shown(mark_layout(), RecordBytes().string(TL_STR_WHOLE, "half \"way\"\033")),
              "mark: half \"way\"\\033");
    EXPECT_EQ(shown(mark_layout(), RecordBytes().string(TL_STR_CUT, "half")), "mark: \"half\"...");
}

TEST(Text, NamesAreMadeSafe) {
    EventLayout layout = make_layout(TRAPLINE_ENTRY, {raw64});
    layout.name = "\033[2Jname";
    layout.at_entry = false;
    layout.entry_fields[0].name = "d\ni";
    EXPECT_EQ(shown(layout, RecordBytes().number(std::uint64_t{1})), "\\033[2Jname: d\\ni=0x1");
}

TEST(Text, OneOfSeveralTracesIsInRealTime) {
    TextPrinter printer(false, "box: ");
    Sample sample;
    sample.clock = ClockConversion(1'000'000'000, ClockAnchor{0, 0, 1'700'000'000'000'000'000});
    EXPECT_EQ(sample.print(printer, make_layout(TRAPLINE_ENTRY, {})),
              "box:              cat-4711    [003] .... 1700000012.345678: vfs_read()\n");
}

TEST(Text, Seconds) {
    EXPECT_EQ(seconds_text(9'119'394'999), "9.119394");
    EXPECT_EQ(seconds_text(0), "0.000000");
    EXPECT_EQ(seconds_text(1'700'000'000'000'001'000), "1700000000.000001");
}

TEST(Text, ShortRecordsAreNamedAsSuch) {
    const std::string text =
        shown(make_layout(TRAPLINE_CALL, {raw64}, {raw64}), RecordBytes().number(std::uint64_t{1}));
    EXPECT_EQ(text, "vfs_read: (the record is not what its event's layout says)");
}

TEST(Text, ColourOnlyWhenAsked) {
    const EventLayout layout = make_layout(TRAPLINE_CALL, {raw64}, {raw64});
    Sample sample(
        RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{5}).number(-std::uint64_t{2}));
    TextPrinter off;
    TextPrinter on(true);
    EXPECT_EQ(sample.print(off, layout).find('\033'), std::string::npos);
    EXPECT_EQ(sample.print(on, layout).substr(event_column),
              "\033[1mvfs_read\033[0m(0x1) = \033[31m-2 ENOENT\033[0m \033[2m<5 ns>\033[0m\n");
}

std::string with_stack(std::uint16_t status, std::uint16_t length, const std::string& prefix = {}) {
    TextPrinter printer(false, prefix, some_names);
    RecordBytes bytes;
    add_stack(bytes.number(std::uint64_t{0}), status, length);
    return Sample(bytes).print(printer, make_layout(TRAPLINE_RETURN, {}, {raw64, stack_field}));
}

TEST(Text, StackIsAFrameALineUnderTheEvent) {
    const std::string event =
        "             cat-4711    [003] ....     12.345678: vfs_read() = 0x0\n";
    EXPECT_EQ(with_stack(TL_STACK_WHOLE, 3), event + "\tksys_read+0x67\n"
                                                     "\text4_x+0x1 [ext4]\n"
                                                     "\t0xffffffff81000030\n");
    EXPECT_EQ(with_stack(TL_STACK_CUT, 1), event + "\tksys_read+0x67\n\t...\n");
    EXPECT_EQ(with_stack(TL_STACK_FAULT, 1), event + "\tksys_read+0x67\n\t(fault)\n");
    EXPECT_EQ(with_stack(TL_STACK_FAULT, 0), event + "\t(fault)\n");
    EXPECT_EQ(with_stack(TL_STACK_WHOLE, 0), event);
    EXPECT_TRUE(with_stack(TL_STACK_WHOLE, 1, "trace: ").ends_with("\ntrace: \tksys_read+0x67\n"));
}

TEST(Text, SymbolsOfAddresses) {
    TextPrinter printer(false, {}, some_names);
    EventLayout layout = make_layout(TRAPLINE_CALL, {symbol64, caller64}, {symbol64});
    layout.named = true;
    const auto shown_of = [&](std::uint64_t at) {
        const RecordBytes bytes = RecordBytes().number(at).number(at).number(std::uint64_t{1});
        return Sample(RecordBytes(bytes).number(at)).print(printer, layout).substr(event_column);
    };
    EXPECT_EQ(shown_of(0xffffffff81000010),
              "vfs_read(func=ext4_ops [ext4], $caller=ksys_read+0x67) = ext4_ops [ext4] <1 ns>\n");
    EXPECT_EQ(shown_of(0), "vfs_read(func=0x0, $caller=0x0) = 0x0 <1 ns>\n");
    EXPECT_EQ(shown(make_layout(TRAPLINE_ENTRY, {symbol64}),
                    RecordBytes().number(std::uint64_t{0xffffffff81000010})),
              "vfs_read(0xffffffff81000010)");
}

} // namespace
