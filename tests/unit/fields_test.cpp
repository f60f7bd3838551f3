// SPDX-License-Identifier: GPL-2.0
// Fields out of records, those that are shorter than they should be included.
#include "trace/fields.h"

#include <gtest/gtest.h>

#include "record_bytes.h"

using namespace trapline;
using trapline::test::RecordBytes;
using State = FieldValue::State;

namespace {

const Field u8{"u8", FieldType::raw, 1};
const Field u16{"u16", FieldType::raw, 2};
const Field u32{"u32", FieldType::raw, 4};
const Field u64{"u64", FieldType::raw, 8};
const Field str{"str", FieldType::string, 0};
const Field faults{"faults", FieldType::faults, 4};
const Field stack{"stack", FieldType::stack};

EventLayout entry(std::vector<Field> fields) {
    return {.id = 1,
            .name = "e",
            .kind = TRAPLINE_ENTRY,
            .at_entry = true,
            .entry_fields = std::move(fields),
            .return_fields = {}};
}

// However much is missing: never a value, never a byte beyond.
void expect_bounds_checked(const EventLayout& layout, const std::vector<std::byte>& bytes) {
    FieldValues values;
    for (std::size_t n = 0; n < bytes.size(); n++) {
        // A vector of its own, so that a sanitizer sees what is read behind it.
        const std::vector<std::byte> part(bytes.begin(),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(n));
        EXPECT_FALSE(decode_fields(layout, part, values)) << n;
        EXPECT_EQ(fields_size(layout, part), std::nullopt) << n;
    }
    EXPECT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(fields_size(layout, bytes), bytes.size());
}

TEST(Fields, NumbersTakeMultiplesOfFour) {
    const EventLayout layout = entry({u8, u16, u32, u64});
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint8_t{0xab})
                                             .number(std::uint16_t{0xcdef})
                                             .number(std::uint32_t{0x12345678})
                                             .number(std::uint64_t{0x1122334455667788});
    EXPECT_EQ(bytes.size(), 20U);
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    ASSERT_EQ(values.entry.size(), 4U);
    EXPECT_EQ(values.entry[0].number, 0xabU);
    EXPECT_EQ(values.entry[1].number, 0xcdefU);
    EXPECT_EQ(values.entry[2].number, 0x12345678U);
    EXPECT_EQ(values.entry[3].number, 0x1122334455667788U);
    expect_bounds_checked(layout, bytes);
}

TEST(Fields, SmallNumbersIgnoreTheirPadding) {
    FieldValues values;
    const std::vector<std::byte> bytes = RecordBytes().number(std::uint32_t{0xffffff7f});
    ASSERT_TRUE(decode_fields(entry({u8}), bytes, values));
    EXPECT_EQ(values.entry[0].number, 0x7fU);
}

TEST(Fields, FiveKindsOfStrings) {
    const EventLayout layout = entry({str, str, str, str, str, u32});
    const std::vector<std::byte> bytes = RecordBytes()
                                             .string(TL_STR_WHOLE, "whole")
                                             .string(TL_STR_WHOLE, "")
                                             .string(TL_STR_CUT, "abcd")
                                             .string(TL_STR_FAULT, "x")
                                             .string(TL_STR_NULL, "")
                                             .number(std::uint32_t{9});
    EXPECT_EQ(bytes.size(), 12U + 4 + 8 + 8 + 4 + 4);
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(values.entry[0].state, State::whole);
    EXPECT_EQ(values.entry[0].text, "whole");
    EXPECT_EQ(values.entry[1].state, State::whole);
    EXPECT_EQ(values.entry[1].text, "");
    EXPECT_EQ(values.entry[2].state, State::cut);
    EXPECT_EQ(values.entry[2].text, "abcd");
    EXPECT_EQ(values.entry[3].state, State::fault);
    EXPECT_EQ(values.entry[3].text, "x");
    EXPECT_EQ(values.entry[4].state, State::null);
    EXPECT_EQ(values.entry[5].number, 9U);
    expect_bounds_checked(layout, bytes);
}

TEST(Fields, CallHasADurationBetween) {
    EventLayout layout = entry({u64, str});
    layout.kind = TRAPLINE_CALL;
    layout.return_fields = {u32};
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint64_t{1})
                                             .string(TL_STR_WHOLE, "abc")
                                             .number(std::uint64_t{777})
                                             .number(std::uint32_t{5});
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(values.entry.size(), 2U);
    EXPECT_EQ(values.duration, 777U);
    ASSERT_EQ(values.ret.size(), 1U);
    EXPECT_EQ(values.ret[0].number, 5U);
    expect_bounds_checked(layout, bytes);

    layout.kind = TRAPLINE_ENTRY;
    EXPECT_EQ(fields_size(layout, bytes), 16U);
    layout.kind = TRAPLINE_RETURN;
    EXPECT_EQ(fields_size(layout, bytes), 20U) << "what its list names, and the result";
    layout.entry_fields = {};
    EXPECT_EQ(fields_size(layout, bytes), 4U);
}

// One program has stored both halves: its mask, at the end, is of the numbers in both.
TEST(Fields, FaultsOfAReturnAreInBothHalves) {
    EventLayout layout = entry({u32, str, u32});
    layout.kind = TRAPLINE_RETURN;
    layout.return_fields = {u64, u32, faults};
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint32_t{1})
                                             .string(TL_STR_WHOLE, "abc")
                                             .number(std::uint32_t{0})
                                             .number(std::uint64_t{0})
                                             .number(std::uint32_t{0})
                                             .number(std::uint32_t{2 | 4});
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(values.entry[0].state, State::number);
    EXPECT_EQ(values.entry[2].state, State::number_fault);
    EXPECT_EQ(values.ret[0].state, State::number_fault);
    EXPECT_EQ(values.ret[1].state, State::number);
    expect_bounds_checked(layout, bytes);
    // Of a call each half has its own.
    layout.kind = TRAPLINE_CALL;
    layout.entry_fields = {u32};
    layout.return_fields = {u32, u32, faults};
    const std::vector<std::byte> of_call = RecordBytes()
                                               .number(std::uint32_t{0})
                                               .number(std::uint64_t{777})
                                               .number(std::uint32_t{0})
                                               .number(std::uint32_t{0})
                                               .number(std::uint32_t{2});
    ASSERT_TRUE(decode_fields(layout, of_call, values));
    EXPECT_EQ(values.entry[0].state, State::number);
    EXPECT_EQ(values.ret[0].state, State::number);
    EXPECT_EQ(values.ret[1].state, State::number_fault);
}

TEST(Fields, WhatFollowsARecordIsNotItsOwn) {
    const std::vector<std::byte> bytes =
        RecordBytes().string(TL_STR_WHOLE, "ab").number(std::uint64_t{1});
    EXPECT_EQ(fields_size(entry({str}), bytes), 8U);
    EXPECT_EQ(fields_size(entry({}), bytes), 0U);
    EXPECT_EQ(fields_size(entry({}), {}), 0U);
}

TEST(Fields, MalformedStringsAreRefused) {
    FieldValues values;
    for (const std::vector<std::byte>& bytes :
         {std::vector<std::byte>(RecordBytes().string(4, "")),
          std::vector<std::byte>(RecordBytes().string(0xffff, "abc")),
          std::vector<std::byte>(RecordBytes().string(TL_STR_NULL, "abc")),
          std::vector<std::byte>(RecordBytes().number(std::uint32_t{0xffff0000}))}) {
        EXPECT_EQ(fields_size(entry({str}), bytes), std::nullopt);
        EXPECT_FALSE(decode_fields(entry({str}), bytes, values));
    }
}

TEST(Fields, FaultsMarkTheNthNumber) {
    const EventLayout layout = entry({u64, str, u32, u64, faults});
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint64_t{0})
                                             .string(TL_STR_WHOLE, "s")
                                             .number(std::uint32_t{0})
                                             .number(std::uint64_t{3})
                                             .number(std::uint32_t{1U << 1});
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(values.entry[0].state, State::number); // a true zero
    EXPECT_EQ(values.entry[1].state, State::whole);
    EXPECT_EQ(values.entry[2].state, State::number_fault);
    EXPECT_EQ(values.entry[3].state, State::number);
    EXPECT_EQ(values.entry[4].state, State::faults);
    expect_bounds_checked(layout, bytes);
}

TEST(Fields, TheLastFaultBitStandsForAllBeyond) {
    std::vector<Field> fields(34, u32);
    fields.push_back(faults);
    RecordBytes bytes;
    for (std::uint32_t i = 0; i < 34; i++)
        bytes.number(i == 32 ? std::uint32_t{5} : std::uint32_t{0});
    bytes.number(std::uint32_t{1U << 31});
    FieldValues values;
    ASSERT_TRUE(decode_fields(entry(fields), std::vector<std::byte>(bytes), values));
    EXPECT_EQ(values.entry[30].state, State::number);
    EXPECT_EQ(values.entry[31].state, State::number_fault);
    EXPECT_EQ(values.entry[32].state, State::number);
    EXPECT_EQ(values.entry[33].state, State::number_fault);
}

TEST(Fields, ValuesOfTheRecordBeforeDoNotStay) {
    FieldValues values;
    ASSERT_TRUE(decode_fields(
        entry({u32, u32}),
        std::vector<std::byte>(RecordBytes().number(std::uint64_t{0xffffffffffffffff})), values));
    EventLayout ret = entry({});
    ret.kind = TRAPLINE_RETURN;
    ret.return_fields = {u64};
    ASSERT_TRUE(
        decode_fields(ret, std::vector<std::byte>(RecordBytes().number(std::uint64_t{1})), values));
    EXPECT_TRUE(values.entry.empty());
    EXPECT_EQ(values.duration, 0U);
    EXPECT_EQ(values.ret.size(), 1U);
}

TEST(Fields, Stacks) {
    const EventLayout layout = entry({u64, stack, u32});
    const std::vector<std::byte> bytes = RecordBytes()
                                             .number(std::uint64_t{1})
                                             .number(std::uint32_t{TL_STACK_CUT | 2U << 16})
                                             .number(std::uint64_t{0xffffffff81000001})
                                             .number(std::uint64_t{0xffffffffc0000002})
                                             .number(std::uint32_t{7});
    FieldValues values;
    ASSERT_TRUE(decode_fields(layout, bytes, values));
    EXPECT_EQ(values.entry[2].number, 7U);
    EXPECT_TRUE(is_listed(values.entry[0]));
    EXPECT_FALSE(is_listed(values.entry[1]));
    const FieldValue* found = stack_of(values);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->state, State::cut);
    EXPECT_EQ(stack_frames(*found),
              (std::vector<std::uint64_t>{0xffffffff81000001, 0xffffffffc0000002}));
    expect_bounds_checked(layout, bytes);
}

TEST(Fields, StacksThatCouldNotBeTakenAndNoStacks) {
    FieldValues values;
    const std::vector<std::byte> none = RecordBytes().number(std::uint32_t{TL_STACK_FAULT});
    ASSERT_TRUE(decode_fields(entry({stack}), none, values));
    EXPECT_EQ(stack_of(values)->state, State::fault);
    EXPECT_TRUE(stack_frames(*stack_of(values)).empty());

    const std::vector<std::byte> odd = RecordBytes().number(std::uint32_t{3});
    EXPECT_FALSE(decode_fields(entry({stack}), odd, values)) << "no such status";

    ASSERT_TRUE(decode_fields(entry({u32}), odd, values));
    EXPECT_EQ(stack_of(values), nullptr);
}

} // namespace
