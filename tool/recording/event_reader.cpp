// SPDX-License-Identifier: GPL-2.0
// A trace that is read back, wherever it comes from.
#include "recording/event_reader.h"

#include <optional>
#include <utility>

namespace trapline {

namespace {

ClockConversion make_clock(const TraceDescription& description) {
    const ClockDescription& clock = description.clock;
    return {clock.hz, clock.anchor.value_or(ClockAnchor{}),
            clock.anchor && description.totals ? std::optional(description.totals->stop)
                                               : std::nullopt};
}

} // namespace

EventReader::EventReader(std::string path, Damage damage)
    : path_(std::move(path)), damage_(std::move(damage)), clock_(1, ClockAnchor{}) {}

void EventReader::describe(TraceDescription description) {
    description_ = std::move(description);
    clock_ = make_clock(description_);
    // No larger than it must be: a log of a console may have many of these.
    for (const EventLayout& layout : description_.layouts) {
        if (layouts_.size() <= layout.id)
            layouts_.resize(std::size_t{layout.id} + 1);
        layouts_[layout.id] = &layout;
    }
}

const EventLayout* EventReader::layout(std::uint16_t id) const {
    if (id == TL_ID_MARK)
        return &mark_layout();
    return id < layouts_.size() ? layouts_[id] : nullptr;
}

void EventReader::report(const std::string& text) {
    damaged_ = true;
    if (damage_)
        damage_(text);
}

} // namespace trapline
