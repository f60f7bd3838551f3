// SPDX-License-Identifier: GPL-2.0
// Events as JSON, read back with the library that wrote it.
#include "output/json.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "output_fixture.h"

using namespace trapline;
using namespace trapline::test;
using Json = nlohmann::ordered_json;

namespace {

Json parse_line(const std::string& line) {
    EXPECT_EQ(line.back(), '\n');
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
    return Json::parse(line); // throws if it isn't JSON, or not UTF-8
}

Json printed(const EventLayout& layout, const std::vector<std::byte>& bytes) {
    JsonPrinter printer;
    return parse_line(Sample(bytes).print(printer, layout));
}

Json returned(std::uint64_t value) {
    return printed(make_layout(TRAPLINE_RETURN, {}, {raw64}), RecordBytes().number(value));
}

Json argument(std::uint16_t status, std::string_view text) {
    return printed(make_layout(TRAPLINE_ENTRY, {text_field}), RecordBytes().string(status, text))
        .at("args")
        .at(0);
}

TEST(JsonOutput, Call) {
    JsonPrinter printer;
    Sample sample(RecordBytes()
                      .number(std::uint64_t{0xffff888100000000})
                      .number(std::uint64_t{12345})
                      .number(std::uint64_t{0x1000}));
    sample.event.flags = TL_IRQS_OFF | 1;
    EXPECT_EQ(sample.print(printer, make_layout(TRAPLINE_CALL, {raw64}, {raw64})),
              "{\"time_ns\":12345678901,\"cpu\":3,\"pid\":4710,\"tid\":4711,\"comm\":\"cat\","
              "\"flags\":\"d..1\",\"event\":\"vfs_read\",\"kind\":\"call\","
              "\"args\":[\"0xffff888100000000\"],\"return\":\"0x1000\",\"duration_ns\":12345}\n");
}

TEST(JsonOutput, EntryAndReturn) {
    const Json entry =
        printed(make_layout(TRAPLINE_ENTRY, {raw64}), RecordBytes().number(std::uint64_t{0}));
    EXPECT_EQ(entry.at("kind"), "entry");
    EXPECT_EQ(entry.at("args"), Json::array({"0x0"}));
    EXPECT_FALSE(entry.contains("return"));
    EXPECT_FALSE(entry.contains("duration_ns"));
    EXPECT_FALSE(entry.contains("errno"));
    EXPECT_FALSE(entry.contains("late"));
    const Json ret = returned(1);
    EXPECT_EQ(ret.at("kind"), "return");
    EXPECT_EQ(ret.at("return"), "0x1");
    EXPECT_FALSE(ret.contains("args"));
    EXPECT_FALSE(ret.contains("duration_ns"));
    EXPECT_EQ(printed(make_layout(TRAPLINE_ENTRY, {}), {}).at("args"), Json::array());
}

TEST(JsonOutput, RegistersAtAnOffset) {
    EventLayout layout = make_layout(TRAPLINE_ENTRY, {raw64, raw64});
    layout.at_entry = false;
    layout.entry_fields[0].name = "di";
    layout.entry_fields[1].name = "si";
    const Json json =
        printed(layout, RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{2}));
    EXPECT_EQ(json.at("registers"), Json({{"di", "0x1"}, {"si", "0x2"}}));
    EXPECT_FALSE(json.contains("args"));
}

TEST(JsonOutput, Errors) {
    EXPECT_EQ(returned(-std::uint64_t{2}).at("return"), "0xfffffffffffffffe");
    EXPECT_EQ(returned(-std::uint64_t{2}).at("errno"), "ENOENT");
    EXPECT_EQ(returned(0xfffffffe).at("return"), "0xfffffffe");
    EXPECT_EQ(returned(0xfffffffe).at("errno"), "ENOENT");
    EXPECT_EQ(returned(-std::uint64_t{4000}).at("errno"), "4000");
    EXPECT_FALSE(returned(-std::uint64_t{4096}).contains("errno"));
    EXPECT_FALSE(returned(0).contains("errno"));
}

TEST(JsonOutput, Strings) {
    EXPECT_EQ(argument(TL_STR_WHOLE, "abc"), "abc");
    EXPECT_EQ(argument(TL_STR_WHOLE, ""), "");
    EXPECT_EQ(argument(TL_STR_CUT, "abc"), Json({{"text", "abc"}, {"status", "cut"}}));
    EXPECT_EQ(argument(TL_STR_FAULT, ""), Json({{"text", ""}, {"status", "fault"}}));
    EXPECT_TRUE(argument(TL_STR_NULL, "").is_null());
}

TEST(JsonOutput, HostileStringsStayJson) {
    EXPECT_EQ(argument(TL_STR_WHOLE, "\"},{\\\n\033"), "\"},{\\\n\033");
    EXPECT_EQ(argument(TL_STR_WHOLE, std::string_view("a\0b", 3)), std::string("a\0b", 3));
    EXPECT_EQ(argument(TL_STR_WHOLE, "caf\xc3\xa9"), "caf\xc3\xa9");
    // What isn't UTF-8 becomes U+FFFD.
    EXPECT_EQ(argument(TL_STR_WHOLE, "a\xff\x62"), "a\xef\xbf\xbd\x62");
    EXPECT_EQ(argument(TL_STR_CUT, "a\xc3").at("text"), "a\xef\xbf\xbd");
    EXPECT_EQ(argument(TL_STR_WHOLE, "\xed\xa0\x80").get<std::string>().find('\xed'),
              std::string::npos); // half of a surrogate pair
}

TEST(JsonOutput, AnyBytesAnywhere) {
    JsonPrinter printer;
    std::string all;
    for (int c = 0; c < 256; c++)
        all += static_cast<char>(c);
    Sample sample(RecordBytes().string(TL_STR_FAULT, all + all));
    for (std::size_t from = 1; from < 256; from += 15) {
        sample.comm(std::string_view(all).substr(from, 15));
        const std::string line = sample.print(printer, make_layout(TRAPLINE_ENTRY, {text_field}));
        EXPECT_EQ(parse_line(line).at("args").at(0).at("status"), "fault");
        // Nor may anything reach a terminal that it obeys.
        EXPECT_TRUE(
            std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= ' ' && c <= '~'; }));
    }
}

TEST(JsonOutput, CommEndsAtItsNul) {
    JsonPrinter printer;
    const auto comm = [&](std::string_view name) {
        return parse_line(Sample().comm(name).print(printer, make_layout(TRAPLINE_ENTRY, {})))
            .at("comm");
    };
    EXPECT_EQ(comm("exactly16letters"), "exactly16letters");
    EXPECT_EQ(comm(std::string_view("ab\0cd", 5)), "ab");
    EXPECT_EQ(comm(""), "");
}

TEST(JsonOutput, FaultedNumbersAndTheirMask) {
    const Json json = printed(
        make_layout(TRAPLINE_ENTRY, {raw64, raw64, faults_field}),
        RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{0}).number(std::uint32_t{2}));
    EXPECT_EQ(json.at("args"), Json::array({"0x1", Json({{"status", "fault"}})}));
}

TEST(JsonOutput, Marks) {
    const Json mark = printed(mark_layout(), RecordBytes().string(TL_STR_WHOLE, "half way"));
    EXPECT_EQ(mark.at("event"), "mark");
    EXPECT_EQ(mark.at("kind"), "mark");
    EXPECT_EQ(mark.at("text"), "half way");
    EXPECT_FALSE(mark.contains("args"));
}

TEST(JsonOutput, OneOfSeveralTraces) {
    JsonPrinter printer("a\033");
    Sample sample;
    sample.clock = ClockConversion(1'000'000'000, ClockAnchor{0, 0, 1'700'000'000'000'000'000});
    EXPECT_TRUE(sample.print(printer, make_layout(TRAPLINE_ENTRY, {}))
                    .starts_with("{\"trace\":\"a\\u001b\",\"realtime_ns\":1700000012345678901,"
                                 "\"time_ns\":12345678901,\"cpu\":3,"));
}

TEST(JsonOutput, StragglersAndShortRecords) {
    JsonPrinter printer;
    Sample sample;
    sample.event.straggler = true;
    EXPECT_EQ(parse_line(sample.print(printer, make_layout(TRAPLINE_ENTRY, {}))).at("late"), true);
    const Json bad = printed(make_layout(TRAPLINE_ENTRY, {raw64}), {});
    EXPECT_TRUE(bad.contains("error"));
    EXPECT_FALSE(bad.contains("args"));
}

TEST(JsonOutput, FormatsOfLists) {
    EventLayout layout =
        make_layout(TRAPLINE_ENTRY, {character8, error32, ip4, hex_bytes, ip6, mac});
    layout.named = true;
    const Json json = printed(
        layout, RecordBytes()
                    .number(std::uint8_t{'a'})
                    .number(std::int32_t{-2})
                    .number(std::uint32_t{0x0100007f}) // 7f 00 00 01
                    .string(TL_STR_WHOLE, std::string("\x00\xff\x0a", 3))
                    .string(TL_STR_WHOLE, std::string("\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", 16))
                    .string(TL_STR_WHOLE, std::string("\x02\x42\0\0\0\x01", 6)));
    EXPECT_EQ(json.at("args"), Json({{"c", "a"},
                                     {"e", -2},
                                     {"ip4", "127.0.0.1"},
                                     {"hex", "00ff0a"},
                                     {"ip6", "fe80::1"},
                                     {"mac", "02:42:00:00:00:01"}}));
    layout.entry_fields = {hex_bytes, mac};
    const Json cut =
        printed(layout, RecordBytes().string(TL_STR_FAULT, "\x01").string(TL_STR_NULL, ""));
    EXPECT_EQ(cut.at("args"),
              Json({{"hex", {{"text", "01"}, {"status", "fault"}}}, {"mac", nullptr}}));
}

TEST(JsonOutput, NamesAndTypes) {
    const Field mode = enum_field({{"OFF", 0}, {"ON", 1}});
    EventLayout layout =
        make_layout(TRAPLINE_CALL,
                    {pointer64, signed32, unsigned64, bool8, text_field, mode, hex64}, {signed32});
    layout.named = true;
    const Json json = printed(layout, RecordBytes()
                                          .number(std::uint64_t{0xffff888000000000})
                                          .number(std::int32_t{-100})
                                          .number(~std::uint64_t{0})
                                          .number(std::uint8_t{1})
                                          .string(TL_STR_WHOLE, "text")
                                          .number(std::uint32_t{1})
                                          .number(std::uint64_t{0x18})
                                          .number(std::uint64_t{1})
                                          .number(std::int32_t{-2}));
    EXPECT_EQ(json.at("args"), Json({{"file", "0xffff888000000000"},
                                     {"fd", -100},
                                     {"count", ~std::uint64_t{0}},
                                     {"on", true},
                                     {"s", "text"},
                                     {"mode", "ON"},
                                     {"flags", "0x18"}}));
    EXPECT_EQ(json.at("return"), -2);
    EXPECT_EQ(json.at("errno"), "ENOENT");
    layout.entry_fields = {mode, bool8};
    layout.return_fields.clear();
    const Json odd = printed(
        layout,
        RecordBytes().number(std::uint32_t{9}).number(std::uint8_t{2}).number(std::uint64_t{1}));
    EXPECT_EQ(odd.at("args"), Json({{"mode", 9}, {"on", 2}}));
    EXPECT_FALSE(odd.contains("return"));
}

Json with_stack(const EventLayout& layout, RecordBytes bytes, std::uint16_t status,
                std::uint16_t length) {
    JsonPrinter printer({}, some_names);
    return parse_line(Sample(add_stack(bytes, status, length)).print(printer, layout));
}

TEST(JsonOutput, Stacks) {
    const EventLayout entry = make_layout(TRAPLINE_ENTRY, {raw64, stack_field});
    const RecordBytes one = RecordBytes().number(std::uint64_t{1});
    Json json = with_stack(entry, one, TL_STACK_WHOLE, 2);
    EXPECT_EQ(json.at("args"), Json::array({"0x1"}));
    EXPECT_EQ(json.at("stack"), Json::array({"ksys_read+0x67", "ext4_x+0x1 [ext4]"}));
    EXPECT_FALSE(json.contains("stack_status"));

    json = with_stack(entry, one, TL_STACK_CUT, 3);
    EXPECT_EQ(json.at("stack").at(2), "0xffffffff81000030");
    EXPECT_EQ(json.at("stack_status"), "cut");

    json = with_stack(entry, one, TL_STACK_FAULT, 0);
    EXPECT_EQ(json.at("stack"), Json::array());
    EXPECT_EQ(json.at("stack_status"), "fault");
}

// The stack is no second result, and not the only one.
TEST(JsonOutput, StacksBesideResults) {
    const RecordBytes error = RecordBytes().number(-std::uint64_t{2});
    Json json = with_stack(make_layout(TRAPLINE_RETURN, {}, {raw64, stack_field}), error,
                           TL_STACK_WHOLE, 1);
    EXPECT_EQ(json.at("return"), "0xfffffffffffffffe");
    EXPECT_EQ(json.at("errno"), "ENOENT");
    json = with_stack(make_layout(TRAPLINE_RETURN, {}, {stack_field}), {}, TL_STACK_WHOLE, 1);
    EXPECT_FALSE(json.contains("return"));
    EXPECT_EQ(json.at("stack").size(), 1U);
}

TEST(JsonOutput, SymbolsOfAddresses) {
    JsonPrinter printer({}, some_names);
    EventLayout layout = make_layout(TRAPLINE_ENTRY, {symbol64, caller64});
    layout.named = true;
    const RecordBytes bytes = RecordBytes().number(std::uint64_t{0xffffffff81000010});
    const Json json =
        parse_line(Sample(RecordBytes(bytes).number(std::uint64_t{0x10})).print(printer, layout));
    EXPECT_EQ(json.at("args"), Json({{"func", "ext4_ops [ext4]"}, {"$caller", "0x10"}}));
}

} // namespace
