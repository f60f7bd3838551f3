// SPDX-License-Identifier: GPL-2.0
// Takes records out of the rings as they come, so that the rings stay roomy whatever
// happens to whoever shows them.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "control/session.h"
#include "ring/decoder.h"
#include "ring/reader.h"
#include "trace/batch.h"
#include "trace/merge.h"
#include "util/fd.h"

namespace trapline {

class Collector {
public:
    // Maps the rings of a configured session, those of possible CPUs below `cpus`. `layouts` must
    // outlive the collector.
    Collector(const Session& session, std::uint32_t cpus, std::span<const EventLayout> layouts);
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;
    ~Collector();

    void begin(); // the thread that drains
    void end();   // joins it; nothing is lost: what it left is in the rings

    // Waits until there is something to collect, or end() was called, or for so long.
    void wait(std::chrono::milliseconds longest);

    // Drains every ring as far as it is published now and hands all that was collected to
    // `merger`. Throws what the draining thread met.
    void collect(Merger& merger);

private:
    struct Ring {
        RingMapping mapping;
        RingReader reader;
        RecordDecoder decoder;
    };

    void run();
    bool drain_all(); // whether anything came; under the mutex

    int session_fd_;
    UniqueFd end_; // eventfd
    std::uint64_t ring_size_ = 0;
    std::vector<Ring> rings_;
    std::vector<std::pair<std::uint32_t, Batch>> collected_;
    std::size_t collected_bytes_ = 0;
    std::vector<Batch> spares_; // empty, with memory: fresh memory costs more than draining
    std::exception_ptr failure_;
    bool ending_ = false;
    std::mutex mutex_;
    std::condition_variable came_;
    std::condition_variable room_;
    std::thread thread_;
};

} // namespace trapline
