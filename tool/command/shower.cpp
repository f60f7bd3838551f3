// SPDX-License-Identifier: GPL-2.0
// Shows events as they come, in time order across the CPUs.
#include "command/shower.h"

#include <chrono>

namespace trapline {

namespace {

using namespace std::chrono_literals;

// Written in pieces of about this size.
constexpr std::size_t text_piece = std::size_t{64} << 10;

// A sync costs a grace period: no more often than a reader can see.
constexpr auto sync_interval = 30ms;

} // namespace

Shower::Shower(Session& session, Collector& collector, std::uint32_t cpus,
               std::span<const EventLayout> layouts, ClockConversion clock,
               std::unique_ptr<Printer> printer, OutputFile& output)
    : session_(session), collector_(collector), merger_(cpus), clock_(clock),
      printer_(std::move(printer)), output_(output) {
    for (const EventLayout& layout : layouts) {
        if (layout.id >= layouts_.size())
            layouts_.resize(layout.id + 1U);
        layouts_[layout.id] = &layout;
    }
}

Shower::~Shower() {
    abandoned_ = true;
    if (thread_.joinable())
        thread_.join();
}

void Shower::begin(const Alarm& ended) {
    thread_ = std::thread([this, &ended] {
        run();
        ended.raise();
    });
}

void Shower::finish(const ClockAnchor& stop) {
    stop_ = stop;
    ending_ = true;
}

void Shower::join() {
    if (thread_.joinable())
        thread_.join();
    if (failure_)
        std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Shower::run() {
    try {
        show();
    } catch (...) {
        failure_ = std::current_exception();
    }
}

void Shower::show() {
    while (!ending_ && !abandoned_) {
        if (merger_.queued_events() == 0)
            collector_.wait(100ms);
        const auto begun = std::chrono::steady_clock::now();
        show_until_synced();
        if (!ending_)
            std::this_thread::sleep_until(begun + sync_interval);
    }
    if (!abandoned_)
        show_rest();
}

// What is older than a sync is visible once that returns, and shown once the rings have
// been emptied after that.
void Shower::show_until_synced() {
    collector_.collect(merger_);
    if (merger_.queued_events() == 0)
        return;
    const ClockAnchor synced = session_.sync();
    clock_.advance(synced);
    collector_.collect(merger_);
    merger_.pop_until(synced.ticks, [this](const Event& event) { print(event); });
    flush();
}

void Shower::show_rest() {
    clock_.advance(stop_);
    collector_.collect(merger_);
    merger_.flush([this](const Event& event) { print(event); });
    flush();
}

void Shower::print(const Event& event) {
    const EventLayout& layout = event.id == TL_ID_MARK ? mark_layout() : *layouts_[event.id];
    printer_->print(event, layout, clock_, text_);
    if (text_.size() >= text_piece)
        flush();
}

void Shower::flush() {
    if (text_.empty())
        return;
    output_.write(text_);
    text_.clear();
}

} // namespace trapline
