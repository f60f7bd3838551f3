// SPDX-License-Identifier: GPL-2.0
// Shows events as they come, in time order across the CPUs.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "command/collector.h"
#include "command/events.h"
#include "control/session.h"
#include "output/output_file.h"
#include "output/printer.h"
#include "trace/clock.h"
#include "trace/merge.h"

namespace trapline {

class Shower {
public:
    // All must outlive it.
    Shower(Session& session, Collector& collector, std::uint32_t cpus,
           std::span<const EventLayout> layouts, ClockConversion clock,
           std::unique_ptr<Printer> printer, OutputFile& output);
    Shower(const Shower&) = delete;
    Shower& operator=(const Shower&) = delete;
    ~Shower();

    // Shows until told to finish. The thread raises `ended` when it has ended, well or not.
    void begin(const Alarm& ended);

    // After STOP, which returned `stop`: the thread shows what is left, and ends.
    void finish(const ClockAnchor& stop);

    // Joins the thread, which has ended or was told to, and throws what it failed with.
    void join();

    // Once joined.
    std::uint64_t stragglers() const { return merger_.stragglers(); }
    std::size_t unshown() const { return merger_.queued_events(); }

private:
    void run();
    void show();
    void show_until_synced();
    void show_rest();
    void print(const Event& event);
    void flush();

    Session& session_;
    Collector& collector_;
    Merger merger_;
    std::vector<const EventLayout*> layouts_; // by event id
    ClockConversion clock_;
    std::unique_ptr<Printer> printer_;
    OutputFile& output_;
    std::string text_;
    ClockAnchor stop_; // written before ending_ is set
    std::atomic<bool> ending_ = false;
    std::atomic<bool> abandoned_ = false; // end, and show nothing more
    std::exception_ptr failure_;
    std::thread thread_;
};

} // namespace trapline
