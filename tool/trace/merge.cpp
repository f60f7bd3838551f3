// SPDX-License-Identifier: GPL-2.0
// The rings' events in one order: by time, then CPU, then arrival.
#include "trace/merge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "util/error.h"

namespace trapline {

namespace {

constexpr std::size_t spare_bytes_max = std::size_t{16} << 20;

} // namespace

Merger::Merger(std::size_t rings) : rings_(rings) {
    heap_.reserve(rings);
}

void Merger::push(std::uint32_t cpu, Batch&& batch) {
    drop_handed();
    if (cpu >= rings_.size())
        throw Error("cannot merge events of CPU " + std::to_string(cpu) + ": there are " +
                    std::to_string(rings_.size()) + " rings");
    if (batch.empty())
        return;

    Ring& ring = rings_[cpu];
    std::uint64_t newest = ring.newest;
    for (const Event& event : batch.events) {
        if (event.ticks < newest)
            throw Error("the ring of CPU " + std::to_string(cpu) + " contradicts itself: time " +
                            std::to_string(event.ticks) + " comes after " + std::to_string(newest),
                        "this is a bug in the trapline module: please report it");
        newest = event.ticks;
    }
    ring.newest = newest;
    queued_events_ += batch.events.size();
    queued_bytes_ += batch.footprint();
    ring.batches.push_back(std::move(batch));
    if (ring.batches.size() == 1) {
        heap_.push_back({ring.batches.front().events.front().ticks, cpu});
        std::push_heap(heap_.begin(), heap_.end(),
                       [](const Entry& a, const Entry& b) { return b.before(a); });
    }
}

const Event* Merger::next(std::uint64_t ticks, bool all) {
    drop_handed();
    if (heap_.empty())
        return nullptr;
    const Entry first = heap_.front();
    const bool straggler = first.ticks < newest_handed_;
    if (!all && !straggler && first.ticks >= ticks)
        return nullptr;

    Ring& ring = rings_[first.cpu];
    Event& event = ring.batches.front().events[ring.position];
    if (straggler) {
        event.straggler = true;
        stragglers_++;
    } else {
        newest_handed_ = first.ticks;
    }
    handed_ = true;
    return &event;
}

// Moves on from the event that was handed out last: it is the first of the heap's first.
void Merger::drop_handed() {
    if (!handed_)
        return;
    handed_ = false;
    queued_events_--;

    Ring& ring = rings_[heap_.front().cpu];
    if (++ring.position == ring.batches.front().events.size()) {
        queued_bytes_ -= ring.batches.front().footprint();
        keep_spare(std::move(ring.batches.front()));
        ring.batches.pop_front();
        ring.position = 0;
    }
    if (ring.batches.empty()) {
        heap_.front() = heap_.back();
        heap_.pop_back();
    } else {
        heap_.front().ticks = ring.batches.front().events[ring.position].ticks;
    }
    sift_down();
}

Batch Merger::spare() {
    Batch batch;
    if (!spares_.empty()) {
        batch = std::move(spares_.back());
        spares_.pop_back();
        spare_bytes_ -= batch.footprint();
    }
    return batch;
}

void Merger::keep_spare(Batch&& batch) {
    const std::size_t bytes = batch.footprint();
    if (spare_bytes_ + bytes > spare_bytes_max)
        return;
    batch.clear();
    spare_bytes_ += bytes;
    spares_.push_back(std::move(batch));
}

// Not pop_heap() and push_heap(): most often the first stays first, which this finds with
// two comparisons.
void Merger::sift_down() {
    std::size_t at = 0;
    for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= heap_.size())
            return;
        if (child + 1 < heap_.size() && heap_[child + 1].before(heap_[child]))
            child++;
        if (!heap_[child].before(heap_[at]))
            return;
        std::swap(heap_[at], heap_[child]);
        at = child;
    }
}

} // namespace trapline
