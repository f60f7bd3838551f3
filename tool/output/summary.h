// SPDX-License-Identifier: GPL-2.0
// What a whole trace comes to: what it is, its events by probe, its rings.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/clock.h"
#include "trace/description.h"
#include "trace/event.h"
#include "trace/fields.h"

namespace trapline {

// Counts events as they pass, in a row per probe.
class EventSummary {
public:
    // Rows in this order, and one for marks if there are any.
    explicit EventSummary(std::span<const EventLayout* const> layouts);

    // `layout` is one of those, or mark_layout().
    void add(const Event& event, const EventLayout& layout, const ClockConversion& clock);

    // Lines, each with its newline.
    std::string text() const;

private:
    struct Row {
        const EventLayout* layout = nullptr;
        std::uint64_t events = 0;
        std::uint64_t errors = 0;
        std::uint64_t total_ns = 0;
        std::uint64_t least_ns = UINT64_MAX;
        std::uint64_t most_ns = 0;
    };

    std::vector<Row> rows_;
    std::vector<std::uint32_t> row_of_; // by event id
    Row marks_;
    FieldValues values_;
};

// What was recorded, where, when and how: lines that begin with two spaces.
// `last`: the time of its last event, if there is one, for want of an end's.
std::string description_text(const TraceDescription& description,
                             std::optional<std::uint64_t> last_monotonic_ns);

// The rings that recorded or lost anything, and their sum; nothing if there is none.
std::string rings_text(std::span<const RingTotals> rings);

} // namespace trapline
