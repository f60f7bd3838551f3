// SPDX-License-Identifier: GPL-2.0
// Lists of CPUs.
#include "util/cpu_list.h"

#include <gtest/gtest.h>

namespace trapline {
namespace {

using Cpus = std::vector<std::uint32_t>;

TEST(CpuList, NumbersAndRanges) {
    EXPECT_EQ(parse_cpu_list("0"), Cpus({0}));
    EXPECT_EQ(parse_cpu_list("0-2,5"), Cpus({0, 1, 2, 5}));
    EXPECT_EQ(parse_cpu_list("7,3,3-4"), Cpus({3, 4, 7}));
    EXPECT_EQ(parse_cpu_list("2-2"), Cpus({2}));
    EXPECT_EQ(parse_cpu_list("0-1\n"), Cpus({0, 1}));
    EXPECT_EQ(parse_cpu_list("65535"), Cpus({65535}));
}

TEST(CpuList, WhatIsNone) {
    for (const char* text : {"", ",", "0,", ",0", "a", "-1", "1-", "2-1", "0 1", "0-1-2", "65536",
                             "99999999999", "0x1", "1;2", "0\n\n"})
        EXPECT_EQ(parse_cpu_list(text), std::nullopt) << text;
}

} // namespace
} // namespace trapline
