// SPDX-License-Identifier: GPL-2.0
// A session's clock: what a tick is, and when it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trapline {

// The same moment on three clocks, as START, SYNC and STOP answer it.
struct ClockAnchor {
    std::uint64_t ticks = 0;
    std::uint64_t monotonic_ns = 0;
    std::uint64_t realtime_ns = 0;
};

struct ClockDescription {
    std::string name = "mono"; // "tsc" or "mono"
    std::uint64_t hz = 1'000'000'000;
    std::optional<ClockAnchor> anchor; // unknown before the first answer
};

// Ticks to nanoseconds: exact at the anchors, linear between and beyond, never decreasing.
// With one anchor the nominal frequency is the slope, with two theirs.
class ClockConversion {
public:
    // Throws Error if `hz` is 0.
    ClockConversion(std::uint64_t hz, const ClockAnchor& start,
                    std::optional<ClockAnchor> stop = std::nullopt);

    // From now on the two latest anchors give the slope. What lies between them comes out the
    // same later, so whoever shows only what is older than the latest sees no step. An anchor that
    // isn't later than the last is ignored.
    void advance(const ClockAnchor& later);

    // CLOCK_MONOTONIC; saturates instead of wrapping, like the others.
    std::uint64_t to_monotonic_ns(std::uint64_t ticks) const;
    std::uint64_t to_realtime_ns(std::uint64_t ticks) const;
    // At the nominal frequency, as conditions are: what one lets pass is what is shown.
    std::uint64_t duration_ns(std::uint64_t ticks) const;

private:
    std::uint64_t from_base(std::uint64_t base_ns, std::uint64_t ticks) const;

    std::uint64_t hz_;
    ClockAnchor base_;
    ClockAnchor latest_;
    // Nanoseconds per ticks.
    std::uint64_t slope_ns_ = 0;
    std::uint64_t slope_ticks_ = 0;
};

} // namespace trapline
