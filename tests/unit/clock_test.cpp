// SPDX-License-Identifier: GPL-2.0
// Ticks to nanoseconds: exact, monotone, and never wrapping.
#include "trace/clock.h"

#include <gtest/gtest.h>

#include "util/error.h"

using namespace trapline;

namespace {

constexpr std::uint64_t giga = 1'000'000'000;

TEST(Clock, NominalFrequency) {
    const ClockConversion clock(2 * giga, {.ticks = 1000, .monotonic_ns = 50, .realtime_ns = 7000});
    EXPECT_EQ(clock.to_monotonic_ns(1000), 50U);
    EXPECT_EQ(clock.to_monotonic_ns(1002), 51U);
    EXPECT_EQ(clock.to_monotonic_ns(1003), 51U);
    EXPECT_EQ(clock.to_realtime_ns(1004), 7002U);
    EXPECT_EQ(clock.duration_ns(2001), 1000U);
    EXPECT_EQ(clock.duration_ns(0), 0U);
}

TEST(Clock, BeforeTheAnchor) {
    const ClockConversion clock(2 * giga, {.ticks = 1000, .monotonic_ns = 50, .realtime_ns = 50});
    EXPECT_EQ(clock.to_monotonic_ns(998), 49U);
    EXPECT_EQ(clock.to_monotonic_ns(999), 49U);
    EXPECT_EQ(clock.to_monotonic_ns(900), 0U);
    EXPECT_EQ(clock.to_monotonic_ns(0), 0U); // would be negative
}

TEST(Clock, TwoAnchorsGiveTheExactSlope) {
    // The clock claims 1 GHz and runs at 3 ticks per 2 ns.
    const ClockConversion clock(giga, {.ticks = 0, .monotonic_ns = 100, .realtime_ns = 0},
                                ClockAnchor{.ticks = 3000, .monotonic_ns = 2100, .realtime_ns = 0});
    EXPECT_EQ(clock.to_monotonic_ns(0), 100U);
    EXPECT_EQ(clock.to_monotonic_ns(1500), 1100U);
    EXPECT_EQ(clock.to_monotonic_ns(3000), 2100U);
    EXPECT_EQ(clock.to_monotonic_ns(6000), 4100U);
    EXPECT_EQ(clock.duration_ns(3), 3U) << "nominal, as in conditions";
}

TEST(Clock, AdvancingLeavesNoStep) {
    ClockConversion clock(giga, {.ticks = 0, .monotonic_ns = 0, .realtime_ns = 0});
    clock.advance({.ticks = 1000, .monotonic_ns = 1100, .realtime_ns = 0});
    EXPECT_EQ(clock.to_monotonic_ns(500), 550U);
    EXPECT_EQ(clock.to_monotonic_ns(1000), 1100U);
    clock.advance({.ticks = 2000, .monotonic_ns = 2000, .realtime_ns = 0});
    EXPECT_EQ(clock.to_monotonic_ns(1000), 1100U);
    EXPECT_EQ(clock.to_monotonic_ns(2000), 2000U);
    EXPECT_EQ(clock.duration_ns(1000), 1000U);
}

TEST(Clock, IgnoresAnchorsThatAreNotLater) {
    ClockConversion clock(giga, {.ticks = 1000, .monotonic_ns = 1000, .realtime_ns = 0});
    clock.advance({.ticks = 1000, .monotonic_ns = 2000, .realtime_ns = 0});
    clock.advance({.ticks = 900, .monotonic_ns = 2000, .realtime_ns = 0});
    clock.advance({.ticks = 2000, .monotonic_ns = 1000, .realtime_ns = 0});
    EXPECT_EQ(clock.to_monotonic_ns(1500), 1500U);
}

TEST(Clock, IsMonotone) {
    const ClockConversion clock(2'399'987'123,
                                {.ticks = 5000, .monotonic_ns = 3000, .realtime_ns = 0});
    std::uint64_t last = clock.to_monotonic_ns(0);
    for (std::uint64_t ticks = 1; ticks < 20000; ticks++) {
        const std::uint64_t now = clock.to_monotonic_ns(ticks);
        ASSERT_GE(now, last) << ticks;
        ASSERT_LE(now - last, 1U) << ticks; // 2.4 ticks a ns: no gap at the anchor either
        last = now;
    }
}

TEST(Clock, DoesNotOverflow) {
    // Ten years of a 5 GHz counter: ticks * 10^9 needs 90 bits.
    constexpr std::uint64_t seconds = 315'360'000;
    const ClockConversion clock(5 * giga, {.ticks = 0, .monotonic_ns = 0, .realtime_ns = 0});
    EXPECT_EQ(clock.to_monotonic_ns(seconds * 5 * giga), seconds * giga);
    EXPECT_EQ(clock.duration_ns(seconds * 5 * giga), seconds * giga);
    EXPECT_EQ(clock.duration_ns(UINT64_MAX), UINT64_MAX / 5);
}

TEST(Clock, SaturatesInsteadOfWrapping) {
    const ClockConversion slow(1, {.ticks = 0, .monotonic_ns = 5, .realtime_ns = UINT64_MAX});
    EXPECT_EQ(slow.to_monotonic_ns(UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(slow.to_realtime_ns(1), UINT64_MAX);
    EXPECT_EQ(slow.duration_ns(UINT64_MAX), UINT64_MAX);
    const ClockConversion steep(
        1, {.ticks = 0, .monotonic_ns = 0, .realtime_ns = 0},
        ClockAnchor{.ticks = 1, .monotonic_ns = UINT64_MAX, .realtime_ns = 0});
    EXPECT_EQ(steep.duration_ns(UINT64_MAX), UINT64_MAX);
    EXPECT_EQ(steep.to_monotonic_ns(1), UINT64_MAX);
    const ClockConversion late(giga,
                               {.ticks = UINT64_MAX, .monotonic_ns = UINT64_MAX, .realtime_ns = 0});
    EXPECT_EQ(late.to_monotonic_ns(0), 0U);
    EXPECT_EQ(late.to_monotonic_ns(UINT64_MAX), UINT64_MAX);
}

TEST(Clock, RefusesZeroHertz) {
    EXPECT_THROW(ClockConversion(0, {}), Error);
}

} // namespace
