// SPDX-License-Identifier: GPL-2.0
// What `trapline record` itself costs.
#include "recorder.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "recording/trace_reader.h"

namespace trapline::bench {

namespace {

constexpr long many = 400000;
constexpr const char* directory = "/tmp/tl-cost-recording";

[[noreturn]] void die(const std::string& what) {
    std::fprintf(stderr, "cost: %s\n", what.c_str());
    std::exit(1); // NOLINT(concurrency-mt-unsafe)
}

// The recorder's standard error until it says that it records.
void wait_until_recording(int err) {
    std::string said;
    std::array<char, 256> piece{};
    while (said.find("Ctrl-C ends") == std::string::npos) {
        const ssize_t got = read(err, piece.data(), piece.size());
        if (got <= 0)
            die("the recorder did not start: " + said);
        said.append(piece.data(), static_cast<std::size_t>(got));
    }
}

void read_zero(long times) {
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    for (long i = 0; i < times; i++)
        syscall(SYS_read, zero, &byte, 1);
    close(zero);
}

double ns(const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
}

// CPU time of a process until now, ns.
double used(pid_t pid) {
    clockid_t clock = 0;
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
        die("no CPU time of the recorder");
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

// CPU time of a recorder while we read /dev/zero so often, and until it has ended; without its
// start, which reads all symbols and varies by more than is measured here. ns.
double recorded(long times) {
    std::array<int, 2> err{};
    if (pipe(err.data()) != 0)
        die("no pipe");
    const std::string me = std::to_string(getpid());
    const pid_t child = fork();
    if (child == 0) {
        dup2(err[1], STDERR_FILENO);
        close(err[0]);
        close(err[1]);
        execlp("trapline", "trapline", "record", "--entry", "-b", "4M", "-o", directory, "-p",
               me.c_str(), "read_zero", static_cast<char*>(nullptr));
        _exit(127);
    }
    close(err[1]);
    wait_until_recording(err[0]);
    const double start = used(child);
    read_zero(times);
    kill(child, SIGINT);
    // It must not wait for us to read its accounting.
    std::array<char, 4096> rest{};
    while (read(err[0], rest.data(), rest.size()) > 0) {
    }
    close(err[0]);
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child || status != 0)
        die("the recorder failed");
    return ns(usage.ru_utime) + ns(usage.ru_stime) - start;
}

long events_on_disk() {
    TraceReader reader(directory, [](const std::string& text) { die(text); });
    long events = 0;
    while (reader.next())
        events++;
    return events;
}

// CPU time of writing as much from memory, in pieces of a chunk's size. ns.
double plain_write(std::uintmax_t size) {
    const std::vector<char> chunk(65536, 1);
    const std::string path = std::string(directory) + "/plain";
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const double start = used(getpid());
    for (std::uintmax_t done = 0; done < size; done += chunk.size()) {
        if (write(fd, chunk.data(), chunk.size()) != static_cast<ssize_t>(chunk.size()))
            die("cannot write " + path);
    }
    const double end = used(getpid());
    close(fd);
    unlink(path.c_str());
    return end - start;
}

} // namespace

RecorderCost recorder_cost() {
    const double without = recorded(0);
    RecorderCost cost;
    cost.per_event = (recorded(many) - without) / many;
    cost.events = events_on_disk();
    if (cost.events != many)
        die("the recording has " + std::to_string(cost.events) + " events, not " +
            std::to_string(many));
    const std::string stream = std::string(directory) + "/cpu_0";
    cost.by_write = plain_write(std::filesystem::file_size(stream)) / many;
    return cost;
}

} // namespace trapline::bench
