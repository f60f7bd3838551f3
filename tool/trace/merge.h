// SPDX-License-Identifier: GPL-2.0
// The rings' events in one order: by time, then CPU, then arrival.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "trace/batch.h"
#include "trace/event.h"

namespace trapline {

class Merger {
public:
    explicit Merger(std::size_t rings);

    // Events of ring `cpu`, behind those pushed before. Error if their time goes back.
    void push(std::uint32_t cpu, Batch&& batch);

    // An empty batch to fill and push, with the memory of one that was handed out if there is
    // such: at a million events a second, getting fresh memory costs more than all else.
    Batch spare();

    // Hands `visit(const Event&)` what is older than `ticks`, for which all rings must have
    // been drained after a sync that returned it. The event lasts until visit returns or
    // calls push(). One older than another before it is marked a straggler.
    template <class Visitor>
    void pop_until(std::uint64_t ticks, Visitor&& visit) {
        while (const Event* event = next(ticks, false))
            visit(*event);
    }

    // Hands out everything.
    template <class Visitor>
    void flush(Visitor&& visit) {
        while (const Event* event = next(0, true))
            visit(*event);
    }

    std::uint64_t stragglers() const { return stragglers_; }
    std::size_t queued_events() const { return queued_events_; }
    std::size_t queued_bytes() const { return queued_bytes_; } // memory of batches with events

private:
    struct Ring {
        std::deque<Batch> batches; // each with events
        std::size_t position = 0;  // in the first
        std::uint64_t newest = 0;  // time of the last event pushed
    };

    // A ring in the heap: its first event's time and its number.
    struct Entry {
        std::uint64_t ticks;
        std::uint32_t cpu;

        bool before(const Entry& other) const {
            return ticks != other.ticks ? ticks < other.ticks : cpu < other.cpu;
        }
    };

    const Event* next(std::uint64_t ticks, bool all);
    void drop_handed();
    void keep_spare(Batch&& batch);
    void sift_down();

    std::vector<Ring> rings_;
    std::vector<Entry> heap_; // the earliest first; a ring without events isn't in it
    bool handed_ = false;     // the first ring's first event was handed out
    std::uint64_t newest_handed_ = 0;
    std::uint64_t stragglers_ = 0;
    std::size_t queued_events_ = 0;
    std::size_t queued_bytes_ = 0;
    std::vector<Batch> spares_;
    std::size_t spare_bytes_ = 0;
};

} // namespace trapline
