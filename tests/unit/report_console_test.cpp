// SPDX-License-Identifier: GPL-2.0
// `trapline report --console` on logs as the module writes them.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "console_fixture.h"
#include "recording/console_reader.h"
#include "recording_fixture.h"
#include "report_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

constexpr std::uint64_t s = 1'000'000'000;

EventLayout call_layout() {
    EventLayout call = layout(1, TRAPLINE_CALL, 1);
    call.name = "vfs_read";
    call.return_fields.push_back({.name = "return"});
    return call;
}

EventLayout entry_layout() {
    EventLayout entry = layout(2, TRAPLINE_ENTRY, 1);
    entry.name = "until:ext4:ext4_sync_file";
    return entry;
}

std::vector<std::uint8_t> call_fields(std::uint64_t argument, std::uint64_t duration,
                                      std::uint64_t returned) {
    std::vector<std::uint8_t> fields = number_field(argument);
    for (const std::uint64_t number : {duration, returned}) {
        const std::vector<std::uint8_t> more = number_field(number);
        fields.insert(fields.end(), more.begin(), more.end());
    }
    return fields;
}

TestConsole example(const std::string& tag = "0badcafe.1") {
    TestConsole console(tag);
    console.item('S', TestConsole::session(1234, 0));
    console.item('L', TestConsole::label(call_layout()));
    console.item('L', TestConsole::label(entry_layout()));
    console.item(
        'R', TestConsole::record(0, 1, 2 * s, task(99, 99, "cat"), call_fields(0xa, 12'345, 5)));
    console.item(
        'R', TestConsole::record(1, 2, 3 * s, task(42, 42, "dd"), number_field(0xb), TL_IRQS_OFF));
    console.item(
        'R', TestConsole::record(0, TL_ID_MARK, 5 * s, task(7, 7, "sh"), string_field("half way")));
    console.item('S', TestConsole::session(1234, 0));
    console.item('E', TestConsole::end(3));
    return console;
}

constexpr const char* first_line =
    "             cat-99      [000] ....      2.000000: vfs_read(0xa) = 0x5 <12.3 us>\n";
constexpr const char* second_line =
    "              dd-42      [001] d...      3.000000: until:ext4:ext4_sync_file(0xb)\n";
constexpr const char* third_line =
    "              sh-7       [000] ....      5.000000: mark: half way\n";

class ReportConsole : public ReportRun {
protected:
    int run(const std::string& log, std::vector<std::string> words = {}) {
        store(path(), log);
        words.insert(words.end(), {"--console", path()});
        return ReportRun::run(words);
    }

    static std::string without(const TestConsole& console, std::size_t line) {
        TestConsole rest = console;
        rest.lines.erase(rest.lines.begin() + static_cast<std::ptrdiff_t>(line));
        return rest.text();
    }

    std::string path() const { return dir_ / "log"; }

private:
    TempDir dir_;
};

TEST_F(ReportConsole, Text) {
    EXPECT_EQ(run(example().text()), 0);
    EXPECT_EQ(out, std::string(first_line) + second_line + third_line);
    EXPECT_EQ(err, "trapline: these are the newest 3 of 1234 recorded events\n");
}

TEST_F(ReportConsole, OtherForms) {
    EXPECT_EQ(run(example().text(), {"--json", "--comm", "dd"}), 0);
    const auto event = nlohmann::json::parse(out);
    EXPECT_EQ(event.at("time_ns"), 3 * s);
    EXPECT_EQ(event.at("event"), "until:ext4:ext4_sync_file");
    EXPECT_EQ(run(example().text(), {"--csv", "--probe", "vfs_*"}), 0);
    EXPECT_TRUE(contains(out, "2000000000,0,99,99,cat,....,vfs_read,call,0xa,,0x5,,12345\n"))
        << out;
    EXPECT_EQ(run(example().text(), {"--summary"}), 0);
    EXPECT_TRUE(contains(out, "Linux 6.1.0 x86_64 on box")) << out;
    EXPECT_TRUE(contains(out, "a crash of the kernel")) << out;
    EXPECT_TRUE(contains(out, "newest 3 of 1234")) << out;
}

// An oops' dump that a panic has begun anew is shown once.
TEST_F(ReportConsole, TakenOverByAPanic) {
    TestConsole first = example();
    first.lines.resize(5);
    EXPECT_EQ(run(first.text() + example("0badcafe.1.2").text()), 0);
    EXPECT_EQ(out, std::string(first_line) + second_line + third_line);
    EXPECT_EQ(err, "trapline: these are the newest 3 of 1234 recorded events\n");
}

TEST_F(ReportConsole, DroppedRecordsAreTold) {
    TestConsole console;
    console.item('S', TestConsole::session(10, 4));
    console.item('E', TestConsole::end(0));
    EXPECT_EQ(run(console.text()), 0);
    EXPECT_EQ(err, "trapline: these are the newest 0 of 10 recorded events; 4 found no room in the "
                   "rings\n");
}

TEST_F(ReportConsole, LostRecord) {
    EXPECT_EQ(run(without(example(), 4)), Error::failed);
    EXPECT_EQ(out, std::string(first_line) + third_line);
    EXPECT_TRUE(contains(err, "1 of the dump's 8 lines are lost or damaged")) << err;
    EXPECT_TRUE(contains(err, "1 of the dump's 3 records are missing")) << err;
}

TEST_F(ReportConsole, DamagedLineIsCounted) {
    std::string text = example().text();
    text[text.find(" R ")] = '_';
    EXPECT_EQ(run(text), Error::failed);
    EXPECT_EQ(out, std::string(second_line) + third_line);
    EXPECT_TRUE(contains(err, "log: 1 lines of a dump are damaged")) << err;
}

TEST_F(ReportConsole, LostLabel) {
    EXPECT_EQ(run(without(example(), 1)), Error::failed);
    EXPECT_EQ(out, std::string(second_line) + third_line);
    EXPECT_TRUE(contains(err, "1 records can't be read: what describes their event is lost"))
        << err;
}

TEST_F(ReportConsole, TheClockIsToldTwice) {
    const std::string whole = std::string(first_line) + second_line + third_line;
    EXPECT_EQ(run(without(example(), 0)), Error::failed);
    EXPECT_EQ(out, whole);
    EXPECT_FALSE(contains(err, "clock")) << err;
    TestConsole console = example();
    console.lines.erase(console.lines.begin() + 6);
    EXPECT_EQ(run(without(console, 0)), Error::failed);
    EXPECT_TRUE(contains(err, "what describes the clock is lost")) << err;
}

TEST_F(ReportConsole, EndLost) {
    TestConsole console = example();
    console.lines.resize(4);
    EXPECT_EQ(run(console.text()), Error::failed);
    EXPECT_EQ(out, first_line);
    EXPECT_TRUE(contains(err, "the dump's end is missing")) << err;
}

TEST_F(ReportConsole, SeveralDumpsInRealTime) {
    EXPECT_EQ(run(example("00000001.1").text() + example("00000002.1").text(), {"--comm", "cat"}),
              0);
    EXPECT_TRUE(contains(out, "log:00000001.1: ")) << out;
    EXPECT_TRUE(contains(out, "log:00000002.1: ")) << out;
    EXPECT_TRUE(contains(out, "1700000001.000000: vfs_read(0xa)")) << out;
}

// One that can't be shown, or isn't there any more, hides no other, and is told of.
TEST_F(ReportConsole, ADamagedDumpBesidesAnother) {
    TestConsole clockless = example("00000002.1");
    clockless.lines.erase(clockless.lines.begin() + 6);
    clockless.lines.erase(clockless.lines.begin());
    EXPECT_EQ(run(example("00000001.1").text() + clockless.text(), {"--comm", "cat"}),
              Error::failed);
    EXPECT_EQ(out, first_line);
    EXPECT_TRUE(contains(err, "log:00000002.1: it doesn't tell when it was recorded")) << err;
    std::string ruins;
    for (const std::string& line : example("00000003.1").lines)
        ruins += line.substr(0, line.size() - 1) + "\n";
    EXPECT_EQ(run(example().text() + ruins), Error::failed);
    EXPECT_TRUE(contains(out, first_line)) << out;
    EXPECT_TRUE(contains(err, "8 lines of a dump are damaged")) << err;
    failure.clear();
    TestConsole other = clockless;
    for (std::string& line : other.lines) { // under another tag, with its sum
        const std::size_t from = std::string_view(TL_CONSOLE_MARK).size();
        const std::string text = "00000004.1" + line.substr(from + 10, line.size() - from - 10 - 9);
        line = TL_CONSOLE_MARK + text + ' ' + console_sum(text);
    }
    EXPECT_EQ(run(clockless.text() + other.text()), Error::failed);
    EXPECT_TRUE(contains(failure, "none of its dumps can be shown")) << failure;
}

// What no kernel prints.
TEST_F(ReportConsole, HostileItems) {
    EventLayout wrong = call_layout();
    wrong.id = 7;
    TestConsole console;
    console.item('S', "short");
    console.item('S', std::string(200, '\0'));
    console.item('S', TestConsole::session());
    console.item('L', "x");
    console.item('L', bytes_of(std::uint16_t{1}) + "{}");
    console.item('L', bytes_of(std::uint16_t{2}) + layout_json(wrong));
    console.item('L', TestConsole::label(wrong));
    console.item('R', "short");
    console.item('R', TestConsole::record(0, 3, 1, task(1, 1, "x"), {}));
    console.item('R', TestConsole::record(0, 7, 1, task(1, 1, "x"), number_field(1)));
    console.item('R', TestConsole::record(~0U, 7, 1, task(1, 1, "x"), call_fields(1, 2, 3)));
    console.item('R', TestConsole::record(0, TL_ID_MARK, 1, task(1, 1, "x"), {0, 0, 9, 0}));
    console.item('R',
                 TestConsole::record(3, 7, 9 * s, task(1, 1, "\x1b[2J"), call_fields(1, 2, 3)));
    console.item('R', TestConsole::record(3, 7, 8 * s, task(1, 1, "x"), call_fields(1, 2, 3)));
    console.item('Z', "unknown");
    console.item('E', TestConsole::end(7));
    EXPECT_EQ(run(console.text()), Error::failed);
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 2) << out;
    EXPECT_LT(out.find("8.000000"), out.find("9.000000"));
    EXPECT_FALSE(contains(out, "\x1b"));
    EXPECT_TRUE(contains(err, "the label of event 1: ")) << err;
    EXPECT_TRUE(contains(err, "the label of event 2: it is that of event 7")) << err;
    EXPECT_TRUE(contains(err, "5 records can't be read")) << err;
    EXPECT_FALSE(contains(err, "records are missing")) << err;
}

TEST_F(ReportConsole, NoDump) {
    EXPECT_EQ(run("[    0.000000] Linux version 6.1.0\n"), Error::failed);
    EXPECT_TRUE(contains(failure, "log: there is no dump of trapline's in it")) << failure;
    EXPECT_EQ(run(TL_CONSOLE_MARK "0badcafe.1 0 S\n"), Error::failed);
    EXPECT_TRUE(contains(failure, "that can be read")) << failure;
    EXPECT_TRUE(contains(err, "1 lines of a dump are damaged")) << err;
}

TEST_F(ReportConsole, NoDirectoryBesides) {
    EXPECT_EQ(run(example().text(), {"trapline-data"}), Error::usage);
    EXPECT_TRUE(contains(failure, "trapline-data")) << failure;
}

} // namespace
