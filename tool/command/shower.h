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
#include "command/output_file.h"
#include "control/session.h"
#include "output/printer.h"
#include "trace/clock.h"
#include "trace/merge.h"

namespace trapline {

class Shower {
public:
    // All must outlive it. The session is its thread's alone between begin() and end().
    Shower(Session& session, Collector& collector, std::uint32_t cpus,
           std::span<const EventLayout> layouts, ClockConversion clock,
           std::unique_ptr<Printer> printer, OutputFile& output);
    Shower(const Shower&) = delete;
    Shower& operator=(const Shower&) = delete;
    ~Shower();

    // Shows until end(); `failed` is called, on the thread, when it can't go on.
    void begin(std::function<void()> failed);
    // Joins the thread, and throws what it failed with.
    void end();

    // After STOP, which returned `stop`: shows everything that is left.
    void finish(const ClockAnchor& stop);

    std::uint64_t stragglers() const { return merger_.stragglers(); }

private:
    void run();
    void show_until_synced();
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
    std::atomic<bool> ending_ = false;
    std::exception_ptr failure_;
    std::function<void()> failed_;
    std::thread thread_;
};

} // namespace trapline
