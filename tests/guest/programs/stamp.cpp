// SPDX-License-Identifier: GPL-2.0
// tl-stamp [--limit MILLISECONDS] < LINES
// Reads a trace's lines as they come and holds that each arrives in time after its event,
// and that the events' times never go back. Prints one line:
//   lines N late N max_ms M disorder N marked N starved N worst_starvation_ms M
// A thread of real-time priority per CPU notes when that CPU did not run at all, as happens
// under emulation; a line that would have been in time without such pauses counts as starved,
// not as late. Exits with 1 if any line is late, out of order, marked [late] or no event's.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t beat = 10 * ms;

std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000LL + time.tv_nsec;
}

struct Pause {
    std::int64_t begin;
    std::int64_t end;
};

// Notes when a CPU stood still.
class Watch {
public:
    Watch() {
        const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        for (long cpu = 0; cpu < cpus; cpu++)
            threads_.emplace_back([this, cpu] { run(cpu); });
    }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() {
        ending_ = true;
        for (std::thread& thread : threads_)
            thread.join();
    }

    // How much of the time from `begin` to `end` some CPU stood still.
    std::int64_t stood_still(std::int64_t begin, std::int64_t end) {
        const std::lock_guard lock(mutex_);
        std::sort(pauses_.begin(), pauses_.end(),
                  [](const Pause& a, const Pause& b) { return a.begin < b.begin; });
        std::int64_t total = 0;
        std::int64_t counted = begin;
        for (const Pause& pause : pauses_) {
            const std::int64_t from = std::max(pause.begin, counted);
            const std::int64_t to = std::min(pause.end, end);
            if (to > from) {
                total += to - from;
                counted = to;
            }
        }
        return total;
    }

    std::int64_t worst() {
        const std::lock_guard lock(mutex_);
        std::int64_t worst = 0;
        for (const Pause& pause : pauses_)
            worst = std::max(worst, pause.end - pause.begin);
        return worst;
    }

private:
    void run(long cpu) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(cpu), &set);
        sched_param priority{};
        priority.sched_priority = 50;
        if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0 ||
            pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority) != 0)
            std::fputs("tl-stamp: cannot watch a CPU: nothing is forgiven there\n", stderr);
        while (!ending_) {
            const std::int64_t due = now() + beat;
            const timespec wait{0, beat};
            nanosleep(&wait, nullptr);
            const std::int64_t came = now();
            if (came - due <= beat)
                continue;
            const std::lock_guard lock(mutex_);
            pauses_.push_back({due, came});
        }
    }

    std::atomic<bool> ending_ = false;
    std::mutex mutex_;
    std::vector<Pause> pauses_;
    std::vector<std::thread> threads_;
};

// "... [001] ....    12.345678: f(...)": behind the flags, so that no name can pretend.
std::optional<std::int64_t> event_time(std::string_view line) {
    for (std::size_t at = line.find("] "); at != std::string_view::npos;
         at = line.find("] ", at + 1)) {
        const std::string rest(line.substr(at + 2, 64));
        char flags[5];
        long seconds = 0;
        char micros[7];
        if (std::sscanf(rest.c_str(), "%4s %ld.%6[0-9]:", flags, &seconds, micros) == 3 &&
            std::strlen(micros) == 6)
            return seconds * 1'000'000'000LL + std::atol(micros) * 1000LL;
    }
    return std::nullopt;
}

struct Arrival {
    std::int64_t event;
    std::int64_t arrived;
};

class Reader {
public:
    // False at the end.
    bool read_some() {
        char piece[65536];
        const ssize_t got = read(STDIN_FILENO, piece, sizeof(piece));
        const std::int64_t arrived = now();
        if (got <= 0)
            return got < 0 && errno == EINTR;
        rest_.append(piece, static_cast<std::size_t>(got));
        std::size_t from = 0;
        for (std::size_t end = 0; (end = rest_.find('\n', from)) != std::string::npos;
             from = end + 1)
            take(std::string_view(rest_).substr(from, end - from), arrived);
        rest_.erase(0, from);
        return true;
    }

    std::vector<Arrival> arrivals;
    long disorder = 0;
    long marked = 0;
    long foreign = 0;

private:
    void take(std::string_view line, std::int64_t arrived) {
        const auto event = event_time(line);
        if (!event) {
            foreign++;
            return;
        }
        if (!arrivals.empty() && *event < arrivals.back().event)
            disorder++;
        if (line.ends_with(" [late]"))
            marked++;
        arrivals.push_back({*event, arrived});
    }

    std::string rest_;
};

} // namespace

int main(int argc, char** argv) {
    std::int64_t limit = 200 * ms;
    if (argc == 3 && std::strcmp(argv[1], "--limit") == 0)
        limit = std::atol(argv[2]) * ms;
    Watch watch;
    Reader reader;
    while (reader.read_some()) {
    }

    long late = 0;
    long starved = 0;
    std::int64_t most = 0;
    for (const Arrival& arrival : reader.arrivals) {
        const std::int64_t delay = arrival.arrived - arrival.event;
        most = std::max(most, delay);
        if (delay <= limit)
            continue;
        if (delay - watch.stood_still(arrival.event, arrival.arrived) <= limit)
            starved++;
        else
            late++;
    }
    std::printf("lines %zu late %ld max_ms %.1f disorder %ld marked %ld starved %ld "
                "worst_starvation_ms %.1f foreign %ld\n",
                reader.arrivals.size(), late, static_cast<double>(most) / ms, reader.disorder,
                reader.marked, starved, static_cast<double>(watch.worst()) / ms, reader.foreign);
    return late == 0 && reader.disorder == 0 && reader.marked == 0 && reader.foreign == 0 ? 0 : 1;
}
