// SPDX-License-Identifier: GPL-2.0
// Workloads that know exactly what they did. All call functions that nothing else in the
// guest calls: write_null() by writing to /dev/null, eventfd_read() by reading an eventfd.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

namespace trapline::guest {

// Writes to /dev/null. The length written is the call's number, from 1, so that a record
// tells which call it is of.
class NullWriter {
public:
    NullWriter();
    NullWriter(const NullWriter&) = delete;
    NullWriter& operator=(const NullWriter&) = delete;
    ~NullWriter();

    void write(unsigned times);
    std::uint64_t calls() const { return calls_; }
    const void* buffer() const { return buffer_; }

private:
    int fd_;
    std::uint64_t calls_ = 0;
    char buffer_[1] = {};
};

// What a thread of a workload did.
struct Worker {
    pid_t tid = 0;
    std::string comm;
    const void* buffer = nullptr;
    std::uint64_t calls = 0;
};

// A thread pinned to each CPU, and one that migrates, all making `calls` calls.
std::vector<Worker> write_everywhere(unsigned calls);

// Threads that sleep in eventfd_read() until they are released.
class Sleepers {
public:
    explicit Sleepers(unsigned count);
    Sleepers(const Sleepers&) = delete;
    Sleepers& operator=(const Sleepers&) = delete;
    ~Sleepers() { release(); }

    // Waits until all of them sleep; false if they don't.
    bool asleep() const;
    void release(); // and waits for their ends
    const std::vector<pid_t>& tids() const { return tids_; }

private:
    int fd_;
    std::vector<pid_t> tids_;
    std::vector<std::thread> threads_;
};

} // namespace trapline::guest
