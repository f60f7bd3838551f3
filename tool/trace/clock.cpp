// SPDX-License-Identifier: GPL-2.0
// A session's clock: what a tick is, and when it was.
#include "trace/clock.h"

#include <algorithm>
#include <limits>

#include "util/error.h"

namespace trapline {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

__extension__ using Wide = unsigned __int128;

std::uint64_t saturate(Wide value) {
    return static_cast<std::uint64_t>(
        std::min(value, Wide{std::numeric_limits<std::uint64_t>::max()}));
}

} // namespace

ClockConversion::ClockConversion(std::uint64_t hz, const ClockAnchor& start,
                                 std::optional<ClockAnchor> stop)
    : hz_(hz), base_(start), latest_(start), slope_ns_(ns_per_s), slope_ticks_(hz) {
    if (hz == 0)
        throw Error("the session's clock has a frequency of 0 Hz",
                    "the module and the tool may not belong together: rebuild both");
    if (stop)
        advance(*stop);
}

void ClockConversion::advance(const ClockAnchor& later) {
    if (later.ticks <= latest_.ticks || later.monotonic_ns <= latest_.monotonic_ns)
        return;
    base_ = latest_;
    latest_ = later;
    slope_ns_ = latest_.monotonic_ns - base_.monotonic_ns;
    slope_ticks_ = latest_.ticks - base_.ticks;
}

std::uint64_t ClockConversion::from_base(std::uint64_t base_ns, std::uint64_t ticks) const {
    if (ticks >= base_.ticks) {
        const Wide after = Wide{ticks - base_.ticks} * slope_ns_ / slope_ticks_;
        return saturate(base_ns + after);
    }
    // Rounded up here, so that the whole is rounded down on both sides of the anchor.
    const Wide before = (Wide{base_.ticks - ticks} * slope_ns_ + slope_ticks_ - 1) / slope_ticks_;
    return before >= base_ns ? 0 : base_ns - static_cast<std::uint64_t>(before);
}

std::uint64_t ClockConversion::to_monotonic_ns(std::uint64_t ticks) const {
    return from_base(base_.monotonic_ns, ticks);
}

// The realtime clock may be set while tracing: its distance from the other is the base's.
std::uint64_t ClockConversion::to_realtime_ns(std::uint64_t ticks) const {
    return from_base(base_.realtime_ns, ticks);
}

std::uint64_t ClockConversion::duration_ns(std::uint64_t ticks) const {
    return saturate(Wide{ticks} * ns_per_s / hz_);
}

} // namespace trapline
