// SPDX-License-Identifier: GPL-2.0
// So many in each second: what one more makes of the state.
#include "shared/rate.h"

#include <gtest/gtest.h>

namespace {

constexpr __u64 state(__u32 second, __u32 taken) {
    return __u64{second} << 32 | taken;
}

TEST(Rate, AsManyAsThereMayBe) {
    __u64 now = 0;
    for (__u32 taken = 1; taken <= 3; taken++) {
        now = tl_rate_take(now, 0, 3);
        ASSERT_EQ(now, state(0, taken));
    }
    EXPECT_EQ(tl_rate_take(now, 0, 3), 0U);
    EXPECT_EQ(tl_rate_take(now, 1, 3), state(1, 1)) << "another second";
}

TEST(Rate, WhatWasLeftOfASecondIsGone) {
    EXPECT_EQ(tl_rate_take(state(4, 1), 9, 3), state(9, 1));
}

TEST(Rate, WhoComesLateCountsInTheLatest) {
    EXPECT_EQ(tl_rate_take(state(5, 1), 4, 3), state(5, 2));
    EXPECT_EQ(tl_rate_take(state(5, 3), 4, 3), 0U);
    EXPECT_EQ(tl_rate_take(state(5, 3), 0, 3), 0U);
}

TEST(Rate, TheMostThatCanBeAsked) {
    EXPECT_EQ(tl_rate_take(state(0, ~0U - 1), 0, ~0U), state(0, ~0U));
    EXPECT_EQ(tl_rate_take(state(0, ~0U), 0, ~0U), 0U);
}

} // namespace
