// SPDX-License-Identifier: GPL-2.0
// Workloads that know exactly what they did.
#include "workload.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <latch>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

namespace trapline::guest {

NullWriter::NullWriter() : fd_(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
    if (fd_ < 0)
        throw errno_error("cannot open /dev/null", errno);
}

NullWriter::~NullWriter() {
    close(fd_);
}

void NullWriter::write(unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        calls_++;
        syscall(SYS_write, fd_, buffer_, calls_);
    }
}

std::vector<Worker> write_everywhere(unsigned calls) {
    const unsigned cpus = online_cpus();
    std::vector<Worker> workers(cpus + 1);
    std::vector<NullWriter> writers(cpus + 1); // all alive at once: each its own buffer
    std::vector<std::thread> threads;
    std::latch ready(cpus + 1);
    for (unsigned n = 0; n <= cpus; n++) {
        threads.emplace_back([&, n] {
            Worker& worker = workers[n];
            NullWriter& writer = writers[n];
            worker.comm = fmt::format("tl-worker-{}", n);
            pthread_setname_np(pthread_self(), worker.comm.c_str());
            worker.tid = gettid();
            worker.buffer = writer.buffer();
            pin(n % cpus);
            ready.arrive_and_wait();
            for (unsigned done = 0; done < calls;) {
                const unsigned some = std::min(calls - done, n == cpus ? 37U : calls);
                writer.write(some);
                done += some;
                if (n == cpus)
                    pin((done / 37) % cpus);
            }
            worker.calls = writer.calls();
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    return workers;
}

Sleepers::Sleepers(unsigned count) : fd_(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)), tids_(count) {
    std::latch ready(count + 1);
    for (unsigned n = 0; n < count; n++) {
        threads_.emplace_back([this, n, &ready] {
            const std::string comm = fmt::format("tl-sleeper-{}", n);
            pthread_setname_np(pthread_self(), comm.c_str());
            tids_[n] = gettid();
            const int fd = fd_;
            ready.count_down();
            std::uint64_t value = 0;
            if (::read(fd, &value, sizeof(value)) != sizeof(value))
                std::fprintf(stderr, "sleeper %u: not woken\n", n);
        });
    }
    ready.arrive_and_wait();
}

bool Sleepers::asleep() const {
    return std::all_of(tids_.begin(), tids_.end(), [](pid_t tid) {
        return wait_for([&] {
            return read_file(fmt::format("/proc/self/task/{}/syscall", tid))
                .starts_with(fmt::format("{} ", SYS_read));
        });
    });
}

void Sleepers::release() {
    if (threads_.empty())
        return;
    const std::uint64_t all = threads_.size();
    if (::write(fd_, &all, sizeof(all)) != sizeof(all))
        std::perror("cannot wake the sleepers");
    for (std::thread& thread : threads_)
        thread.join();
    threads_.clear();
    close(fd_);
}

} // namespace trapline::guest
