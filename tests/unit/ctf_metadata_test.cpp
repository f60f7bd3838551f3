// SPDX-License-Identifier: GPL-2.0
// The CTF description against the real writer of shared/ring.h, decoded by babeltrace2, which is
// among the tests' dependencies.
#include "trace/ctf_metadata.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "record_bytes.h"
#include "recording_fixture.h"
#include "shared/ring.h"

using namespace trapline;
using trapline::test::contains;
using trapline::test::error_of;
using trapline::test::output_of;
using trapline::test::RecordBytes;
using trapline::test::TempDir;

namespace {

constexpr std::uint32_t ring_size = 65536;
constexpr std::uint32_t chunk_size = ring_size / 4;

const EventLayout call{.id = 1,
                       .name = "vfs_read",
                       .kind = TRAPLINE_CALL,
                       .at_entry = true,
                       .entry_fields = {{.name = "arg0"}},
                       .return_fields = {{.name = "return"}}};

// Names that clash, with each other and with ours; a string last, so that its padding counts.
const EventLayout strings{.id = 2,
                          .name = "do_open+0x1c",
                          .kind = TRAPLINE_ENTRY,
                          .at_entry = false,
                          .entry_fields = {{.name = "n", .type = FieldType::raw, .size = 2},
                                           {.name = "faults", .type = FieldType::faults},
                                           {.name = "n", .type = FieldType::string}},
                          .return_fields = {}};

const EventLayout empty{.id = 3,
                        .name = "none",
                        .kind = TRAPLINE_ENTRY,
                        .at_entry = true,
                        .entry_fields = {},
                        .return_fields = {}};

const ClockDescription tsc{
    .name = "tsc",
    .hz = 1'000'000'000,
    .anchor =
        ClockAnchor{.ticks = 1000, .monotonic_ns = 0, .realtime_ns = 1'700'000'000'000'000'000}};

std::string metadata(std::vector<EventLayout> layouts, const ClockDescription& clock) {
    TraceDescription description;
    description.layouts = std::move(layouts);
    description.clock = clock;
    return ctf_metadata(description);
}

TEST(CtfMetadata, StartsAsReadersExpect) {
    EXPECT_TRUE(metadata({}, tsc).starts_with("/* CTF 1.8 */\n"));
}

TEST(CtfMetadata, ClockOffset) {
    const std::string with = metadata({}, tsc);
    EXPECT_TRUE(contains(with, "freq = 1000000000;"));
    EXPECT_TRUE(contains(with, "offset_s = 1699999999;"));
    EXPECT_TRUE(contains(with, "offset = 999999000;"));
    EXPECT_TRUE(contains(with, "absolute = true;"));
    ClockDescription unknown = tsc;
    unknown.anchor.reset();
    EXPECT_TRUE(contains(metadata({}, unknown), "offset_s = 0;\n\toffset = 0;"));
    EXPECT_TRUE(contains(metadata({}, unknown), "absolute = false;"));
    // A counter that began before 1970, as far as the clocks say.
    ClockDescription early = tsc;
    early.anchor = ClockAnchor{.ticks = 1'500'000'000, .monotonic_ns = 0, .realtime_ns = 0};
    EXPECT_TRUE(contains(metadata({}, early), "offset_s = -2;\n\toffset = 500000000;"));
}

TEST(CtfMetadata, NamesAreQuotedAndUnique) {
    EventLayout hostile = strings;
    hostile.name = "a\"b\\c\n\033";
    const std::string text = metadata({hostile}, tsc);
    EXPECT_TRUE(contains(text, "name = \"a\\\"b\\\\c??\";"));
    EXPECT_TRUE(contains(text, " _n;"));
    EXPECT_TRUE(contains(text, " _n_2;"));
}

TraceDescription measured(std::uint64_t ns, std::uint64_t ticks) {
    TraceDescription description;
    description.clock = tsc;
    description.totals.emplace().stop = {
        .ticks = 1000 + ticks, .monotonic_ns = ns, .realtime_ns = 1'700'000'000'000'000'000 + ns};
    return description;
}

TEST(CtfMetadata, TheFrequencyIsMeasuredIfThereWasTime) {
    const std::string exact = ctf_metadata(measured(2'000'000'000, 2'000'000'401));
    EXPECT_TRUE(contains(exact, "freq = 1000000201;")) << "rounded";
    // 1000 ticks at the start's time, whatever the frequency.
    EXPECT_TRUE(contains(exact, "offset_s = 1699999999;"));
    EXPECT_TRUE(contains(exact, "offset = 999999201;"));
    const std::string nominal = "freq = 1000000000;";
    EXPECT_TRUE(
        contains(ctf_metadata(measured(1'000'000'000, 1'000'000'001)), "freq = 1000000001;"));
    EXPECT_TRUE(contains(ctf_metadata(measured(999'999'999, 1'000'000'001)), nominal));
    EXPECT_TRUE(contains(ctf_metadata(measured(2'000'000'000, 0)), nominal));
    TraceDescription unknown = measured(2'000'000'000, 2'000'000'200);
    unknown.clock.anchor.reset();
    EXPECT_TRUE(contains(ctf_metadata(unknown), nominal));
}

// The largest that a description can hold: nothing overflows.
TEST(CtfMetadata, ClocksOfAllSizes) {
    TraceDescription description;
    description.clock = {"tsc", ~0ULL, ClockAnchor{0, 0, ~0ULL}};
    EXPECT_TRUE(contains(ctf_metadata(description), "offset_s = 18446744073;"));
    description.clock = {"tsc", 1, ClockAnchor{~0ULL, 0, 0}};
    EXPECT_TRUE(contains(ctf_metadata(description), "offset_s = 0;")) << "not to be expressed";
    description.clock = {"tsc", 2, ClockAnchor{~0ULL, 0, 0}};
    EXPECT_TRUE(contains(ctf_metadata(description), "offset_s = -9223372036854775808;"));
}

TEST(CtfMetadata, WhatOtherReadersLookFor) {
    TraceDescription description;
    description.version = "1.22.333-rc1";
    description.kernel = {"Linux", "6.1.0-13-amd64", "#1 SMP \"x\"", "x86_64", "myhost", "boot"};
    description.clock = tsc;
    EXPECT_TRUE(contains(ctf_metadata(description), "\nenv {\n"
                                                    "\thostname = \"myhost\";\n"
                                                    "\tdomain = \"kernel\";\n"
                                                    "\tsysname = \"Linux\";\n"
                                                    "\tkernel_release = \"6.1.0-13-amd64\";\n"
                                                    "\tkernel_version = \"#1 SMP \\\"x\\\"\";\n"
                                                    "\tmachine = \"x86_64\";\n"
                                                    "\ttracer_name = \"trapline\";\n"
                                                    "\ttracer_version = \"1.22.333-rc1\";\n"
                                                    "\ttracer_major = 1;\n"
                                                    "\ttracer_minor = 22;\n"
                                                    "\ttracer_patchlevel = 333;\n"
                                                    "\ttrace_creation_datetime = "
                                                    "\"20231114T221320+0000\";\n"
                                                    "};\n"));
    EXPECT_TRUE(contains(ctf_metadata({}), "\nenv {\n"
                                           "\tdomain = \"kernel\";\n"
                                           "\ttracer_name = \"trapline\";\n"))
        << "what isn't known isn't there";
}

TEST(CtfMetadata, HoldsTheDescription) {
    TraceDescription description;
    description.layouts = {call, strings, empty};
    description.clock = tsc;
    description.command = {"*/", "**//", "/* trapline: {", "\n/* trapline: ", "*\\/"};
    const std::string text = ctf_metadata(description);
    EXPECT_EQ(description_json(description_in_metadata(text)), description_json(description));
    EXPECT_EQ(description_in_metadata(text).command, description.command);
    EXPECT_TRUE(is_our_metadata(text));
    const std::size_t comment = text.find("/* trapline: ");
    EXPECT_EQ(text.find("*/", comment), text.size() - 3) << "one comment, to the end";
}

TEST(CtfMetadata, WithoutADescription) {
    const std::string text = metadata({call}, tsc);
    const std::size_t comment = text.find("\n/* trapline: ");
    EXPECT_EQ(error_of([&] { description_in_metadata(text.substr(0, comment)); }),
              "the metadata has no description of a trace by trapline");
    EXPECT_EQ(error_of([&] { description_in_metadata(text.substr(0, text.size() - 3)); }),
              "the trace's description can't be used: it is cut off");
    EXPECT_EQ(error_of([&] { description_in_metadata("\n/* trapline: {} */"); }),
              "the trace's description can't be used: format is missing");
    EXPECT_FALSE(is_our_metadata(text.substr(0, comment)));
    // As an event's name it is none.
    EventLayout named = empty;
    named.name = "\n/* trapline: {} */";
    EXPECT_EQ(metadata({named}, tsc).find("\n/* trapline: "),
              metadata({named}, tsc).rfind("\n/* trapline: "));
}

// A ring of the real kind, written by the real writer.
class Ring {
public:
    Ring() : data_(ring_size) {
        control_.size = ring_size;
        control_.chunk_size = chunk_size;
        tl_ring_writer_init(&writer_, &control_, &consumer_, data_.data());
        std::memcpy(task_.comm, "cat", 4);
        task_.tid = 7;
        task_.tgid = 6;
    }

    void put(std::uint64_t now, const EventLayout& layout, const std::vector<std::byte>& fields) {
        ASSERT_TRUE(tl_ring_enter(&writer_));
        std::uint8_t* at = tl_ring_reserve(&writer_, &task_, layout.id, TL_IRQS_OFF | 1, now,
                                           static_cast<std::uint32_t>(fields.size()));
        ASSERT_NE(at, nullptr);
        std::copy_n(reinterpret_cast<const std::uint8_t*>(fields.data()), fields.size(), at);
        tl_ring_commit(&writer_, at + fields.size());
        tl_ring_leave(&writer_);
    }

    void close() { tl_ring_close(&writer_); }
    void finish(std::uint64_t now) { tl_ring_finish(&writer_, now); }

    void save(const std::filesystem::path& path) const {
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(data_.data()),
                   static_cast<std::streamsize>(writer_.next));
    }

private:
    std::vector<std::uint8_t> data_;
    tl_ring_control control_{};
    tl_ring_consumer consumer_{};
    tl_ring_writer writer_{};
    tl_task task_{};
};

TEST(CtfMetadata, BabeltraceDecodesTheRing) {
    const std::vector<std::byte> call_bytes = RecordBytes()
                                                  .number(std::uint64_t{0x11})
                                                  .number(std::uint64_t{99})
                                                  .number(std::uint64_t{0x44});
    const std::vector<std::byte> string_bytes =
        RecordBytes().number(std::uint16_t{5}).number(std::uint32_t{0}).string(TL_STR_CUT, "abc");
    Ring ring;
    ring.put(1000, call, call_bytes);
    ring.put(1005, strings, string_bytes);
    ring.put(1005 + 0x300000000, call, call_bytes); // too long a silence for 32 bits
    ring.put(1006 + 0x300000000, empty, {});
    ring.put(1007 + 0x300000000, strings, string_bytes);
    ring.close();
    ring.put(1009 + 0x300000000, strings, string_bytes);
    ring.finish(1010 + 0x300000000);

    const TempDir dir;
    ring.save(dir.path() / "cpu0");
    TraceDescription description;
    description.layouts = {call, strings, empty};
    description.clock = tsc;
    description.command = {"a */ comment's end", std::string(200'000, 'x')};
    std::ofstream(dir.path() / "metadata") << ctf_metadata(description);
    const std::string out =
        output_of("babeltrace2 --clock-cycles --no-delta '" + dir.path().string() + "' 2>&1");

    const std::string task = "task: { first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, "
                             "{ tgid = 6, comm = \"cat\" }\n";
    const std::string context = "{ first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, ";
    const std::string call_text =
        "vfs_read: " + context + "{ arg0 = 0x11, duration = 99, return = 0x44 }\n";
    const std::string string_fields =
        "{ n = 0x5, faults = 0x0, n_2 = { status = ( \"cut\" : "
        "container = 1 ), length = 3, text = \"abc\" }, end = { } }\n";
    EXPECT_EQ(out, "[00000000000000001000] " + task +                                      //
                       "[00000000000000001000] " + call_text +                             //
                       "[00000000000000001005] do_open+0x1c: " + context + string_fields + //
                       "[00000000012884902893] " + call_text +                             //
                       "[00000000012884902894] none: " + context + "{ }\n" +               //
                       "[00000000012884902895] do_open+0x1c: " + context + string_fields + //
                       "[00000000012884902897] task: { first_event = 5, cpu_id = 0 }, "
                       "{ flags = 0x11, tid = 7 }, { tgid = 6, comm = \"cat\" }\n" +
                       "[00000000012884902897] do_open+0x1c: { first_event = 5, cpu_id = 0 }, "
                       "{ flags = 0x11, tid = 7 }, " +
                       string_fields);
}

// Numbers that are signed, named or small, read by babeltrace2 as they were written.
TEST(CtfMetadata, WhatListsRecord) {
    const EventLayout listed{
        .id = 1,
        .name = "listed",
        .kind = TRAPLINE_ENTRY,
        .at_entry = true,
        .named = true,
        .entry_fields = {{"file->f_path.dentry", FieldType::raw, 8, NumberForm::pointer},
                         {"file.f_path->dentry", FieldType::raw, 4, NumberForm::ip4},
                         {"$comm", FieldType::string},
                         {"a[0:3]", FieldType::bytes, 8, NumberForm::hex},
                         {"e", FieldType::raw, 4, NumberForm::error},
                         {"at", FieldType::raw, 8, NumberForm::symbol},
                         {"c", FieldType::raw, 1, NumberForm::character}},
        .return_fields = {}};
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint64_t{0xffff888000000000})
                                             .number(std::uint32_t{0x0100007f})
                                             .string(TL_STR_WHOLE, "dd")
                                             .string(TL_STR_WHOLE, std::string("\x00\xff\x0a", 3))
                                             .number(std::int32_t{-2})
                                             .number(std::uint64_t{0xffffffff81000010})
                                             .number(std::uint8_t{'a'});
    Ring ring;
    ring.put(1000, listed, bytes);
    ring.put(1001, listed, bytes);
    ring.finish(1010);

    const TempDir dir;
    ring.save(dir.path() / "cpu0");
    TraceDescription description;
    description.layouts = {listed};
    description.clock = tsc;
    std::ofstream(dir.path() / "metadata") << ctf_metadata(description);
    const std::string out =
        output_of("babeltrace2 --clock-cycles --no-delta '" + dir.path().string() + "' 2>&1");
    const std::string line =
        "listed: { first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, { file__f_path_dentry "
        "= 0xFFFF888000000000, file_f_path__dentry = 0x100007F, _comm = { status = ( \"whole\" : "
        "container = 0 ), length = 2, text = \"dd\" }, a_0_3_ = { status = ( \"whole\" : container "
        "= "
        "0 ), length = 3, bytes = [ [0] = 0x0, [1] = 0xFF, [2] = 0xA ] }, e = -2, "
        "at = 0xFFFFFFFF81000010, c = 97 }\n";
    EXPECT_TRUE(contains(out, "[00000000000000001000] " + line)) << out;
    EXPECT_TRUE(contains(out, "[00000000000000001001] " + line)) << out;
}

TEST(CtfMetadata, TypedNumbers) {
    const auto errors = std::make_shared<const Enumeration>(
        Enumeration{"error", true, {{"BAD", -std::uint64_t{1}}, {"GOOD", 0}}});
    const auto modes = std::make_shared<const Enumeration>(
        Enumeration{"mode", false, {{"OFF", 0}, {"a\"b\\c", 0x80000000}}});
    const auto none = std::make_shared<const Enumeration>();
    EventLayout typed{.id = 1,
                      .name = "typed",
                      .kind = TRAPLINE_CALL,
                      .at_entry = true,
                      .named = true,
                      .entry_fields = {{"s1", FieldType::raw, 1, NumberForm::signed_},
                                       {"s2", FieldType::raw, 2, NumberForm::signed_},
                                       {"s4", FieldType::raw, 4, NumberForm::signed_},
                                       {"s8", FieldType::raw, 8, NumberForm::signed_},
                                       {"u1", FieldType::raw, 1, NumberForm::unsigned_},
                                       {"u8", FieldType::raw, 8, NumberForm::unsigned_},
                                       {"on", FieldType::raw, 1, NumberForm::boolean},
                                       {"at", FieldType::raw, 8, NumberForm::pointer},
                                       {"mode", FieldType::raw, 4, NumberForm::enumeration, modes},
                                       {"none", FieldType::raw, 4, NumberForm::enumeration, none},
                                       {"e", FieldType::raw, 4, NumberForm::enumeration, errors}},
                      .return_fields = {{"return", FieldType::raw, 2, NumberForm::signed_}}};
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::int8_t{-1})
                                             .number(std::int16_t{-2})
                                             .number(std::int32_t{-3})
                                             .number(std::int64_t{-4})
                                             .number(std::uint8_t{255})
                                             .number(~std::uint64_t{0})
                                             .number(std::uint8_t{1})
                                             .number(std::uint64_t{0xffff888000000000})
                                             .number(std::uint32_t{0x80000000})
                                             .number(std::uint32_t{5})
                                             .number(std::int32_t{-1})
                                             .number(std::uint64_t{99})
                                             .number(std::int16_t{-5});
    Ring ring;
    ring.put(1000, typed, bytes);
    ring.put(1001, typed, bytes);
    ring.finish(1010);

    const TempDir dir;
    ring.save(dir.path() / "cpu0");
    TraceDescription description;
    description.layouts = {typed};
    description.clock = tsc;
    std::ofstream(dir.path() / "metadata") << ctf_metadata(description);
    const std::string out =
        output_of("babeltrace2 --clock-cycles --no-delta '" + dir.path().string() + "' 2>&1");
    const std::string line =
        "typed: { first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, { s1 = -1, s2 = -2, s4 "
        "= -3, s8 = -4, u1 = 255, u8 = 18446744073709551615, "
        "on = 1, at = 0xFFFF888000000000, mode = ( \"a\\\"b\\\\c\" : container = 2147483648 ), "
        "none = 5, e = ( \"BAD\" : container = -1 ), duration = 99, return = -5, end = { } }\n";
    EXPECT_TRUE(contains(out, "[00000000000000001000] " + line)) << out;
    EXPECT_TRUE(contains(out, "[00000000000000001001] " + line)) << out;
}

TEST(CtfMetadata, BabeltraceDecodesStacks) {
    EventLayout traced = empty;
    traced.entry_fields = {{.name = "n", .type = FieldType::raw, .size = 4},
                           {.name = "stack", .type = FieldType::stack}};
    const auto stack = [](std::uint32_t n, std::uint16_t status, std::uint64_t frame) {
        RecordBytes bytes;
        bytes.number(n).number(static_cast<std::uint32_t>(status | (frame != 0 ? 1U << 16 : 0)));
        if (frame != 0)
            bytes.number(frame);
        return bytes;
    };
    Ring ring;
    ring.put(1000, traced, stack(1, TL_STACK_WHOLE, 0xffffffff81000010));
    ring.put(1001, traced, stack(2, TL_STACK_FAULT, 0));
    ring.put(1002, traced, stack(3, TL_STACK_CUT, 0xffffffff81000020));
    ring.finish(1003);
    const TempDir dir;
    ring.save(dir.path() / "cpu0");
    std::ofstream(dir.path() / "metadata") << metadata({traced}, tsc);
    const std::string out = output_of("babeltrace2 --clock-cycles --no-delta '" +
                                      dir.path().string() + "' 2>&1 | grep -o 'n = .*'");
    EXPECT_EQ(out, "n = 0x1, stack = { status = ( \"whole\" : container = 0 ), length = 1, "
                   "frames = [ [0] = 0xFFFFFFFF81000010 ] } }\n"
                   "n = 0x2, stack = { status = ( \"fault\" : container = 2 ), length = 0, "
                   "frames = [ ] } }\n"
                   "n = 0x3, stack = { status = ( \"cut\" : container = 1 ), length = 1, "
                   "frames = [ [0] = 0xFFFFFFFF81000020 ] } }\n");
}

} // namespace
