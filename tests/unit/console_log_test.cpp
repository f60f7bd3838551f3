// SPDX-License-Identifier: GPL-2.0
// Dumps found in a kernel's log, whatever became of their lines on the way.
#include "recording/console_log.h"

#include <gtest/gtest.h>

#include "console_fixture.h"
#include "recording_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

ConsoleLog parse(std::string_view text, std::size_t piece = std::string_view::npos) {
    ConsoleLogParser parser;
    for (; text.size() > piece; text.remove_prefix(piece))
        parser.add(text.substr(0, piece));
    parser.add(text);
    return parser.finish();
}

// "S:bytes R:bytes ..."
std::string items(const ConsoleDump& dump) {
    std::string all;
    for (const ConsoleItem& item : dump.items)
        all += fmt::format("{}{}:{}", all.empty() ? "" : " ", item.kind, item.bytes);
    return all;
}

TestConsole small() {
    TestConsole console;
    for (const auto& [kind, bytes] : {std::pair{'S', "one"}, {'R', "four"}, {'R', "fives"}})
        console.item(kind, bytes);
    console.item('E', "\x02");
    return console;
}

constexpr const char* small_items = "S:one R:four R:fives E:\x02";

TEST(ConsoleLog, WholeDump) {
    const std::string text = small().text();
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::string_view::npos}) {
        const ConsoleLog log = parse(text, piece);
        ASSERT_EQ(log.dumps.size(), 1U);
        EXPECT_EQ(log.damaged, 0U);
        EXPECT_EQ(log.dumps[0].tag, "0badcafe.1");
        EXPECT_EQ(items(log.dumps[0]), small_items);
        EXPECT_EQ(log.dumps[0].lines, 4U);
        EXPECT_EQ(log.dumps[0].lost, 0U);
        EXPECT_TRUE(log.dumps[0].ended);
    }
    EXPECT_TRUE(parse("").dumps.empty());
    EXPECT_TRUE(parse("trapline: loaded\n@0badcafe.1 0 S 1/1\n").dumps.empty());
}

TEST(ConsoleLog, AllBytes) {
    std::string bytes;
    for (int i = 0; i < 256; i++)
        bytes += static_cast<char>(i);
    for (std::size_t length = 1; length <= bytes.size(); length += 17) {
        TestConsole console;
        console.item('R', bytes.substr(256 - length));
        const ConsoleLog log = parse(console.text());
        ASSERT_EQ(log.dumps.size(), 1U);
        EXPECT_EQ(log.dumps[0].items.at(0).bytes, bytes.substr(256 - length));
    }
}

// Times, levels and callers before it, CR before the newline, other lines between, no newline
// at the end.
TEST(ConsoleLog, AsConsolesShowIt) {
    const std::vector<std::string> lines = small().lines;
    const ConsoleLog log = parse(
        "[    1.234567] " + lines[0] + "\r\n<0>[    1.234568][  T123] " + lines[1] +
        "\r\nRIP: 0010:f+0x1/0x2\r\nNov 29 box kernel: " + lines[2] + "\x1b[0m\r\n\r\n" + lines[3]);
    ASSERT_EQ(log.dumps.size(), 1U);
    EXPECT_EQ(log.damaged, 0U);
    EXPECT_EQ(items(log.dumps[0]), small_items);
}

TEST(ConsoleLog, TwoLinesInOne) {
    const std::vector<std::string> lines = small().lines;
    const ConsoleLog log =
        parse(lines[0] + "[    1.2] " + lines[1] + "\n" + lines[2].substr(0, 30) + lines[3] + "\n");
    EXPECT_EQ(log.damaged, 1U);
    EXPECT_EQ(items(log.dumps.at(0)), "S:one R:four E:\x02");
    EXPECT_EQ(log.dumps[0].lost, 1U);
}

// A line cut or changed at any place is not taken for another.
TEST(ConsoleLog, DamagedAnywhere) {
    const std::vector<std::string> lines = small().lines;
    const std::string& line = lines[1];
    const std::size_t first = std::string_view(TL_CONSOLE_MARK).size();
    const auto expect_lost = [&](const std::string& damaged) {
        const ConsoleLog log = parse(lines[0] + "\n" + damaged + "\n" + lines[2] + "\n" + lines[3]);
        ASSERT_EQ(log.dumps.size(), 1U) << damaged;
        EXPECT_EQ(log.damaged, 1U) << damaged;
        EXPECT_EQ(items(log.dumps[0]), "S:one R:fives E:\x02") << damaged;
        EXPECT_EQ(log.dumps[0].lines, 4U);
        EXPECT_EQ(log.dumps[0].lost, 1U);
    };
    for (std::size_t i = first; i < line.size(); i++) {
        expect_lost(line.substr(0, i));
        expect_lost(line.substr(0, i) + line.substr(i + 1));
        std::string changed = line;
        changed[i] = changed[i] == '1' ? '2' : '1';
        expect_lost(changed);
    }
}

// Right sums around what is no line of a dump.
TEST(ConsoleLog, NonsenseWithItsSum) {
    for (const char* text : {"0badcafe.1 0 S 1/1 AAAA",  "0badcafe 0 S 1/1 AAAA",
                             "0badcafe. 0 S 1/1 AAAA",   "0badcafe.1. 0 S 1/1 AAAA",
                             "0badcafe..1 0 S 1/1 AAAA", "0badcafe.1.2.3 0 S 1/1 AAAA",
                             "0badcaf.1 0 S 1/1 AAAA",   "0badcafe.1 4294967296 S 1/1 AAAA",
                             "0badcafe.1 -1 S 1/1 AAAA", "0badcafe.1 0 SS 1/1 AAAA",
                             "0badcafe.1 0  1/1 AAAA",   "0badcafe.1 0 S 0/1 AAAA",
                             "0badcafe.1 0 S 2/1 AAAA",  "0badcafe.1 0 S 1/18 AAAA",
                             "0badcafe.1 0 S 1/1 AAA",   "0badcafe.1 0 S 1/1 A=AA",
                             "0badcafe.1 0 S 1/1 A===",  "0badcafe.1 0 S 1/1 AA*A",
                             "0badcafe.1 0 S 1/1 ",      "0badcafe.1 0 S 1 AAAA",
                             "0badcafe.1 0 S 1/1",       ""}) {
        const ConsoleLog log =
            parse(fmt::format("{}{} {}\n", TL_CONSOLE_MARK, text, console_sum(text)));
        const bool good = std::string_view(text) == "0badcafe.1 0 S 1/1 AAAA";
        EXPECT_EQ(log.dumps.size(), good ? 1U : 0U) << text;
        EXPECT_EQ(log.damaged, good ? 0U : 1U) << text;
    }
    const std::string long_text = "0badcafe.1 0 S 1/1 " + std::string(644, 'A');
    EXPECT_EQ(parse(TL_CONSOLE_MARK + long_text + " " + console_sum(long_text)).damaged, 1U);
}

TEST(ConsoleLog, LongItemsAndTheirParts) {
    const std::string bytes(1000, 'x');
    TestConsole console;
    console.item('S', "one");
    console.item('R', bytes);
    console.item('R', "last");
    ASSERT_EQ(console.lines.size(), 5U);
    EXPECT_EQ(items(parse(console.text()).dumps.at(0)), "S:one R:" + bytes + " R:last");
    for (const std::size_t missing : {1U, 2U, 3U}) {
        std::vector<std::string> lines = console.lines;
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(missing));
        std::string text;
        for (const std::string& line : lines)
            text += line + "\n";
        const ConsoleLog log = parse(text);
        EXPECT_EQ(items(log.dumps.at(0)), "S:one R:last") << missing;
        EXPECT_EQ(log.dumps[0].lost, 1U);
    }
}

// Of two items that miss the parts between them, no third is made.
TEST(ConsoleLog, PartsOfDifferentItems) {
    TestConsole console;
    console.item('R', std::string(900, 'x'));
    console.item('R', std::string(900, 'y'));
    const ConsoleLog log = parse(console.lines[0] + "\n" + console.lines[3] + "\n");
    EXPECT_EQ(items(log.dumps.at(0)), "");
    EXPECT_EQ(log.dumps[0].lost, 2U);
}

TEST(ConsoleLog, EndMissing) {
    std::vector<std::string> lines = small().lines;
    const ConsoleLog log = parse(lines[0] + "\n" + lines[2] + "\n");
    EXPECT_FALSE(log.dumps.at(0).ended);
    EXPECT_EQ(log.dumps[0].lines, 3U);
    EXPECT_EQ(log.dumps[0].lost, 1U);
}

// A log that was put together of two has its lines twice; the first of a kind counts.
TEST(ConsoleLog, LinesTwice) {
    const std::string text = small().text();
    ConsoleLog log = parse(text + text);
    EXPECT_EQ(log.damaged, 0U);
    EXPECT_EQ(items(log.dumps.at(0)), small_items);
    TestConsole other;
    other.item('S', "two");
    log = parse(text + other.text());
    EXPECT_EQ(log.damaged, 1U);
    EXPECT_EQ(items(log.dumps.at(0)), small_items);
}

TEST(ConsoleLog, SeveralDumpsByTurns) {
    const std::vector<std::string> first = small().lines;
    TestConsole second("0badcafe.2");
    second.item('S', "other");
    second.item('E', "\x01");
    const ConsoleLog log = parse(first[0] + "\n" + second.lines[0] + "\n" + first[1] + "\n" +
                                 first[2] + "\n" + second.lines[1] + "\n" + first[3] + "\n");
    ASSERT_EQ(log.dumps.size(), 2U);
    EXPECT_EQ(items(log.dumps[0]), small_items);
    EXPECT_EQ(log.dumps[1].tag, "0badcafe.2");
    EXPECT_EQ(items(log.dumps[1]), "S:other E:\x01");
}

// A panic has begun it anew: that counts if it is whole, and else there are two.
TEST(ConsoleLog, ADumpThatWasTakenOver) {
    const std::vector<std::string> first = small().lines;
    TestConsole second("0badcafe.1.2");
    for (const auto& [kind, bytes] : {std::pair{'S', "one"}, {'R', "four"}, {'E', "\x01"}})
        second.item(kind, bytes);
    const std::string cut = first[2].substr(0, 40) + second.lines[0] + "\n";
    const std::string begun = first[0] + "\n" + first[1] + "\n" + cut + second.lines[1] + "\n";
    ConsoleLog log = parse(begun + second.lines[2] + "\n");
    ASSERT_EQ(log.dumps.size(), 1U);
    EXPECT_EQ(log.dumps[0].tag, "0badcafe.1.2");
    EXPECT_EQ(items(log.dumps[0]), "S:one R:four E:\x01");
    EXPECT_EQ(log.damaged, 0U); // none of what is shown
    log = parse(begun);
    ASSERT_EQ(log.dumps.size(), 2U);
    EXPECT_EQ(items(log.dumps[0]), "S:one R:four");
    EXPECT_EQ(items(log.dumps[1]), "S:one R:four");
    EXPECT_EQ(log.damaged, 1U);
    // Another run, and another session, are others' dumps.
    TestConsole other("0badcafe.12.2");
    other.item('E', "\x01");
    EXPECT_EQ(parse(small().text() + other.text()).dumps.size(), 2U);
}

// More than crashes make: each would cost memory.
TEST(ConsoleLog, EndlesslyManyDumps) {
    std::string text;
    for (int i = 0; i < 300; i++) {
        TestConsole dump(fmt::format("{:08x}.1", i));
        dump.item('S', "one");
        text += dump.text();
    }
    const ConsoleLog log = parse(text);
    EXPECT_EQ(log.dumps.size(), 256U);
    EXPECT_EQ(log.damaged, 44U);
}

TEST(ConsoleLog, WithoutNewlines) {
    const std::string line = small().lines[0];
    const ConsoleLog log =
        parse(std::string(200'000, 'x') + "\n" + line + std::string(200'000, ' '));
    EXPECT_EQ(items(log.dumps.at(0)), "S:one");
}

TEST(ConsoleLog, File) {
    const TempDir dir;
    store(dir / "log", small().text());
    EXPECT_EQ(items(read_console_log(dir / "log").dumps.at(0)), small_items);
    EXPECT_TRUE(contains(error_of([&] { read_console_log(dir / "none"); }), dir / "none"));
    EXPECT_TRUE(contains(error_of([&] { read_console_log(dir.path()); }), "cannot read"));
}

} // namespace
