// SPDX-License-Identifier: GPL-2.0
// One of the traces that are reported: its wanted events, and what is to be said of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "recording/event_reader.h"
#include "report/damage.h"
#include "report/filter.h"

namespace trapline {

class OpenTrace {
public:
    using MakeReader = std::function<std::unique_ptr<EventReader>(EventReader::Damage)>;

    // `path` is the reader's. `merged`: it is one of several, and times are those of
    // CLOCK_REALTIME. `wanted` must outlive it; `say` is given lines about damage.
    OpenTrace(const std::string& path, const MakeReader& make, bool merged, const Wanted& wanted,
              std::function<void(const std::string& line)> say);

    const std::string& name() const { return reader_->path(); }
    const EventReader& reader() const { return *reader_; }
    const EventFilter& filter() const { return filter_; }

    // Goes to the next event that is wanted; false at the end.
    bool advance();

    // What advance() went to.
    const Event& event() const { return *event_; }
    const EventLayout& layout() const { return *reader_->layout(event_->id); }
    std::uint64_t shown_ns() const { return shown_ns_; } // merged only

    // After the end.
    std::optional<std::uint64_t> last_monotonic_ns() const;
    std::string accounting() const; // empty if the recording was killed
    std::string losses() const;     // in short
    std::string gaps() const;       // all of them
    void finish_damage() const { damage_.finish(); }

private:
    std::uint64_t to_shown_ns(std::uint64_t ticks) const;

    bool merged_;
    bool timed_; // the filter looks at times
    DamageLog damage_;
    std::unique_ptr<EventReader> reader_; // never null
    EventFilter filter_;
    const Event* event_ = nullptr;
    std::uint64_t shown_ns_ = 0;
    std::optional<std::uint64_t> last_ticks_; // of any event
};

} // namespace trapline
