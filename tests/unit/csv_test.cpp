// SPDX-License-Identifier: GPL-2.0
// Events as comma-separated values: columns, quoting, and names that want to break out of a cell.
#include "output/csv.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "output_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

constexpr std::string_view front = "12345678901,3,4710,4711,cat,....,vfs_read,";

std::vector<EventLayout> one(EventLayout layout) {
    return {std::move(layout)};
}

// What follows the fixed columns in front, without the newline.
std::string cells(const EventLayout& layout, const std::vector<std::byte>& bytes) {
    CsvColumns columns;
    CsvPrinter printer(columns, one(layout));
    const std::string row = Sample(bytes).print(printer, layout);
    EXPECT_EQ(row.substr(0, front.size()), front);
    EXPECT_EQ(row.back(), '\n');
    EXPECT_EQ(std::count(row.begin(), row.end(), '\n'), 1);
    return row.substr(front.size(), row.size() - front.size() - 1);
}

std::string text_cell(std::uint16_t status, std::string_view text) {
    const std::string all =
        cells(make_layout(TRAPLINE_ENTRY, {text_field}), RecordBytes().string(status, text));
    EXPECT_TRUE(all.starts_with("entry,") && all.ends_with(",,,,")) << all;
    return all.substr(6, all.size() - 10);
}

TEST(Csv, HeaderNamesEveryFieldOnce) {
    EventLayout first =
        make_layout(TRAPLINE_CALL, {{"arg0"}, {"arg1"}, faults_field}, {{"return"}});
    EventLayout second = make_layout(TRAPLINE_ENTRY, {{"arg1"}, {"di"}});
    second.id = 2;
    CsvColumns columns;
    const CsvPrinter printer(columns, std::vector<EventLayout>{first, second});
    EXPECT_EQ(columns.header(false), "time_ns,cpu,pid,tid,comm,flags,event,kind,arg0,arg1,di,text,"
                                     "return,errno,duration_ns\n");
    EXPECT_EQ(columns.header(true),
              "trace,realtime_ns,time_ns,cpu,pid,tid,comm,flags,event,kind,arg0,arg1,di,text,"
              "return,errno,duration_ns\n");
}

TEST(Csv, NamesAndTypes) {
    EventLayout layout =
        make_layout(TRAPLINE_CALL, {signed32, unsigned64, bool8, text_field}, {signed32});
    layout.named = true;
    CsvColumns columns;
    const CsvPrinter printer(columns, one(layout));
    EXPECT_EQ(columns.header(false), "time_ns,cpu,pid,tid,comm,flags,event,kind,fd,count,on,s,text,"
                                     "return,errno,duration_ns\n");
    EXPECT_EQ(cells(layout, RecordBytes()
                                .number(std::int32_t{-100})
                                .number(std::uint64_t{5000})
                                .number(std::uint8_t{0})
                                .string(TL_STR_WHOLE, "a,b")
                                .number(std::uint64_t{7})
                                .number(std::int32_t{-2})),
              "call,-100,5000,false,\"a,b\",,-2,ENOENT,7");
}

TEST(Csv, Call) {
    EXPECT_EQ(cells(make_layout(TRAPLINE_CALL, {raw64, raw32}, {raw64}),
                    RecordBytes()
                        .number(std::uint64_t{0xffff888100000000})
                        .number(std::uint32_t{0})
                        .number(std::uint64_t{12345})
                        .number(std::uint64_t{0x1000})),
              "call,0xffff888100000000,0x0,,0x1000,,12345");
}

TEST(Csv, EntryAndReturn) {
    EXPECT_EQ(cells(make_layout(TRAPLINE_ENTRY, {raw64}), RecordBytes().number(std::uint64_t{1})),
              "entry,0x1,,,,");
    EXPECT_EQ(
        cells(make_layout(TRAPLINE_RETURN, {}, {raw64}), RecordBytes().number(-std::uint64_t{2})),
        "return,,0xfffffffffffffffe,ENOENT,");
    EXPECT_EQ(cells(make_layout(TRAPLINE_RETURN, {}, {raw64}),
                    RecordBytes().number(-std::uint64_t{4000})),
              "return,,0xfffffffffffff060,4000,");
}

TEST(Csv, CellsOfOneRowDoNotStayForTheNext) {
    EventLayout call = make_layout(TRAPLINE_CALL, {raw64}, {raw64});
    EventLayout entry = make_layout(TRAPLINE_ENTRY, {raw32});
    entry.id = 2;
    CsvColumns columns;
    CsvPrinter printer(columns, std::vector<EventLayout>{call, entry});
    Sample(
        RecordBytes().number(std::uint64_t{1}).number(std::uint64_t{5}).number(-std::uint64_t{2}))
        .print(printer, call);
    EXPECT_EQ(Sample(RecordBytes().number(std::uint32_t{7})).print(printer, entry),
              std::string(front) + "entry,,0x7,,,,\n");
}

TEST(Csv, Strings) {
    EXPECT_EQ(text_cell(TL_STR_WHOLE, "/etc/passwd"), "/etc/passwd");
    EXPECT_EQ(text_cell(TL_STR_WHOLE, ""), "");
    EXPECT_EQ(text_cell(TL_STR_WHOLE, "a,b"), "\"a,b\"");
    EXPECT_EQ(text_cell(TL_STR_WHOLE, "say \"x\""), "\"say \"\"x\"\"\"");
    EXPECT_EQ(text_cell(TL_STR_WHOLE, "a\r\nb\\\033"), "a\\r\\nb\\\\\\033");
    EXPECT_EQ(text_cell(TL_STR_CUT, "abc"), "abc...");
    EXPECT_EQ(text_cell(TL_STR_FAULT, "abc"), "abc(fault)");
    EXPECT_EQ(text_cell(TL_STR_NULL, ""), "(null)");
}

TEST(Csv, FaultedNumbers) {
    EXPECT_EQ(cells(make_layout(TRAPLINE_ENTRY, {raw64, raw64, faults_field}),
                    RecordBytes()
                        .number(std::uint64_t{0})
                        .number(std::uint64_t{0})
                        .number(std::uint32_t{2})),
              "entry,0x0,(fault),,,,");
}

// A name that is a column's already, or twice in one event, still has one of its own.
TEST(Csv, NamesThatCollide) {
    EventLayout layout = make_layout(TRAPLINE_CALL, {{"flags"}, {"x"}, {"x"}}, {raw64, {"return"}});
    CsvColumns columns;
    CsvPrinter printer(columns, one(layout));
    EXPECT_EQ(columns.header(false), "time_ns,cpu,pid,tid,comm,flags,event,kind,flags_,x,x_,"
                                     "return_,text,return,errno,duration_ns\n");
    RecordBytes bytes;
    for (const std::uint64_t n : {1, 2, 3, 4, 5, 6})
        bytes.number(n);
    EXPECT_EQ(Sample(bytes).print(printer, layout),
              std::string(front) + "call,0x1,0x2,0x3,0x6,,0x5,,4\n");
}

TEST(Csv, HostileNames) {
    EventLayout layout = make_layout(TRAPLINE_ENTRY, {{"a,\"\033"}});
    layout.name = "e\n,";
    CsvColumns columns;
    CsvPrinter printer(columns, one(layout));
    EXPECT_NE(columns.header(false).find(",\"a,\"\"\\033\",text,"), std::string::npos);
    Sample sample(RecordBytes().number(std::uint64_t{1}));
    sample.comm("\"\033[2J,");
    EXPECT_EQ(sample.print(printer, layout),
              "12345678901,3,4710,4711,\"\"\"\\033[2J,\",....,\"e\\n,\",entry,0x1,,,,\n");
}

TEST(Csv, Marks) {
    CsvColumns columns;
    CsvPrinter printer(columns, one(make_layout(TRAPLINE_ENTRY, {raw64})));
    Sample sample(RecordBytes().string(TL_STR_WHOLE, "here, now"));
    EXPECT_EQ(sample.print(printer, mark_layout()),
              "12345678901,3,4710,4711,cat,....,mark,mark,,\"here, now\",,,\n");
}

TEST(Csv, OneOfSeveralTraces) {
    CsvColumns columns;
    CsvPrinter printer(columns, one(make_layout(TRAPLINE_ENTRY, {})), "a,b");
    Sample sample;
    sample.clock = ClockConversion(1'000'000'000, ClockAnchor{0, 0, 1'700'000'000'000'000'000});
    EXPECT_EQ(sample.print(printer, make_layout(TRAPLINE_ENTRY, {})),
              "\"a,b\",1700000012345678901,12345678901,3,4710,4711,cat,....,vfs_read,entry,,,,\n");
}

TEST(Csv, RecordsThatAreNotWhatTheirLayoutSaysHaveEmptyCells) {
    EXPECT_EQ(
        cells(make_layout(TRAPLINE_CALL, {raw64}, {raw64}), RecordBytes().number(std::uint64_t{1})),
        "call,,,,,");
}

TEST(Csv, AStackIsOneCell) {
    const EventLayout layout = make_layout(TRAPLINE_RETURN, {}, {raw64, stack_field});
    CsvColumns columns;
    CsvPrinter printer(columns, one(layout), {}, some_names);
    EXPECT_EQ(columns.header(false), "time_ns,cpu,pid,tid,comm,flags,event,kind,stack,text,"
                                     "return,errno,duration_ns\n");
    const auto row = [&](std::uint16_t status, std::uint16_t length) {
        RecordBytes bytes;
        add_stack(bytes.number(std::uint64_t{7}), status, length);
        return Sample(bytes).print(printer, layout).substr(front.size());
    };
    EXPECT_EQ(row(TL_STACK_WHOLE, 2), "return,ksys_read+0x67;ext4_x+0x1 [ext4],,0x7,,\n");
    EXPECT_EQ(row(TL_STACK_CUT, 1), "return,ksys_read+0x67;...,,0x7,,\n");
    EXPECT_EQ(row(TL_STACK_FAULT, 0), "return,(fault),,0x7,,\n");
}

// Not the result's column, if there is no result.
TEST(Csv, AStackIsNoResult) {
    const EventLayout layout = make_layout(TRAPLINE_RETURN, {}, {stack_field});
    RecordBytes bytes;
    EXPECT_EQ(cells(layout, add_stack(bytes, TL_STACK_WHOLE, 1)), "return,0xffffffff81000010,,,,");
}

TEST(Csv, SymbolsOfAddresses) {
    const EventLayout layout = make_layout(TRAPLINE_CALL, {caller64}, {symbol64});
    CsvColumns columns;
    CsvPrinter printer(columns, one(layout), {}, some_names);
    const RecordBytes bytes =
        RecordBytes().number(std::uint64_t{0xffffffff81000020}).number(std::uint64_t{1});
    EXPECT_EQ(Sample(RecordBytes(bytes).number(std::uint64_t{0xffffffff81000010}))
                  .print(printer, layout)
                  .substr(front.size()),
              "call,ext4_x+0x1 [ext4],,ext4_ops [ext4],,1\n");
}

} // namespace
