// SPDX-License-Identifier: GPL-2.0
// Sizes on the command line.
#include "util/size.h"

#include <gtest/gtest.h>

#include "util/error.h"

using trapline::format_size;
using trapline::parse_size;

namespace {

std::string refusal(const char* text) {
    try {
        parse_size(text, "--ring-size");
    } catch (const trapline::UsageError& error) {
        EXPECT_EQ(error.exit_code(), 2);
        EXPECT_FALSE(error.hint().empty());
        return error.what();
    }
    return "accepted";
}

TEST(Size, UnitsArePowersOf1024) {
    EXPECT_EQ(parse_size("65536", ""), 65536U);
    EXPECT_EQ(parse_size("0", ""), 0U);
    EXPECT_EQ(parse_size("12B", ""), 12U);
    EXPECT_EQ(parse_size("64K", ""), 65536U);
    EXPECT_EQ(parse_size("64k", ""), 65536U);
    EXPECT_EQ(parse_size("64KiB", ""), 65536U);
    EXPECT_EQ(parse_size("64kiB", ""), 65536U);
    EXPECT_EQ(parse_size("1M", ""), 1048576U);
    EXPECT_EQ(parse_size("3G", ""), 3221225472U);
    EXPECT_EQ(parse_size("18446744073709551615", ""), UINT64_MAX);
    EXPECT_EQ(parse_size("17179869183G", ""), 17179869183U << 30);
}

TEST(Size, RefusalsNameOptionAndText) {
    EXPECT_EQ(refusal(""), "--ring-size: '' is not a size");
    EXPECT_EQ(refusal("K"), "--ring-size: 'K' is not a size");
    EXPECT_EQ(refusal("-1"), "--ring-size: '-1' is not a size");
    EXPECT_EQ(refusal(" 1"), "--ring-size: ' 1' is not a size");
    EXPECT_EQ(refusal("1T"), "--ring-size: '1T' is not a size");
    EXPECT_EQ(refusal("1KB"), "--ring-size: '1KB' is not a size");
    EXPECT_EQ(refusal("1.5M"), "--ring-size: '1.5M' is not a size");
    EXPECT_EQ(refusal("0x10"), "--ring-size: '0x10' is not a size");
    EXPECT_EQ(refusal("1\033"), "--ring-size: '1\\033' is not a size");
    EXPECT_EQ(refusal("18446744073709551616"),
              "--ring-size: '18446744073709551616' is larger than any memory");
    EXPECT_EQ(refusal("17179869184G"), "--ring-size: '17179869184G' is larger than any memory");
}

TEST(Size, FormatIsTheShortestExact) {
    EXPECT_EQ(format_size(0), "0");
    EXPECT_EQ(format_size(1023), "1023");
    EXPECT_EQ(format_size(65536), "64K");
    EXPECT_EQ(format_size(65537), "65537");
    EXPECT_EQ(format_size(1048576), "1M");
    EXPECT_EQ(format_size(1048576 + 1024), "1025K");
    EXPECT_EQ(format_size(std::uint64_t{2048} << 30), "2048G");
}

} // namespace
