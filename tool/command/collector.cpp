// SPDX-License-Identifier: GPL-2.0
// Takes records out of the rings as they come.
#include "command/collector.h"

#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "command/map_rings.h"
#include "util/error.h"

namespace trapline {

namespace {

// Beyond this, what isn't shown yet waits in the rings; what finds no room there is
// counted as dropped by the kernel side.
constexpr std::size_t collected_limit = std::size_t{64} << 20;

} // namespace

Collector::Collector(const Session& session, std::uint32_t cpus,
                     std::span<const EventLayout> layouts)
    : session_fd_(session.fd()), end_(eventfd(0, EFD_CLOEXEC)) {
    if (!end_)
        throw errno_error("make an eventfd", errno);
    for (RingMapping& mapping : map_rings(session, cpus)) {
        const std::uint32_t cpu = mapping.cpu();
        RingReader reader(mapping.memory(), cpu);
        ring_size_ = mapping.memory().size;
        rings_.push_back({std::move(mapping), reader, RecordDecoder(cpu, layouts)});
    }
}

Collector::~Collector() {
    end();
}

void Collector::begin() {
    thread_ = std::thread([this] { run(); });
}

void Collector::end() {
    if (!thread_.joinable())
        return;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(end_.get(), &one, sizeof(one));
    room_.notify_all();
    came_.notify_all();
    thread_.join();
}

void Collector::wait(std::chrono::milliseconds longest) {
    std::unique_lock lock(mutex_);
    came_.wait_for(lock, longest, [this] { return ending_ || failure_ || !collected_.empty(); });
}

bool Collector::drain_all() {
    bool any = false;
    for (Ring& ring : rings_) {
        Batch batch;
        if (!spares_.empty()) {
            batch = std::move(spares_.back());
            spares_.pop_back();
        }
        // No more than a ring holds: what is written meanwhile is for the next time.
        drain(ring.reader, ring.decoder, batch, ring_size_);
        if (batch.empty()) {
            spares_.push_back(std::move(batch));
            continue;
        }
        any = true;
        collected_bytes_ += batch.footprint();
        collected_.emplace_back(ring.reader.cpu(), std::move(batch));
    }
    return any;
}

void Collector::run() {
    pollfd fds[] = {{session_fd_, POLLIN, 0}, {end_.get(), POLLIN, 0}};
    std::unique_lock lock(mutex_);
    while (!ending_) {
        lock.unlock();
        poll(fds, 2, -1);
        lock.lock();
        try {
            if (drain_all())
                came_.notify_all();
        } catch (...) {
            failure_ = std::current_exception();
            came_.notify_all();
            return;
        }
        room_.wait(lock, [this] { return ending_ || collected_bytes_ < collected_limit; });
    }
}

void Collector::collect(Merger& merger) {
    std::vector<std::pair<std::uint32_t, Batch>> taken;
    std::vector<Batch> spares;
    for (std::size_t i = 0; i < rings_.size(); i++)
        spares.push_back(merger.spare());
    {
        const std::lock_guard lock(mutex_);
        while (spares_.size() < rings_.size()) {
            spares_.push_back(std::move(spares.back()));
            spares.pop_back();
        }
        if (!failure_)
            drain_all();
        else
            std::rethrow_exception(failure_);
        taken.swap(collected_);
        collected_bytes_ = 0;
    }
    room_.notify_all();
    for (auto& [cpu, batch] : taken)
        merger.push(cpu, std::move(batch));
}

} // namespace trapline
