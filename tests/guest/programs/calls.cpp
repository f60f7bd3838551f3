// SPDX-License-Identifier: GPL-2.0
// tl-calls N [--cpu CPU] [--every MICROSECONDS] [--size BYTES] [--threads M]
// Reads /dev/zero N times, in each of M threads, and says how many reads came back whole: the count
// that a trace is held against.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Wanted {
    long calls = 0;
    long cpu = -1;      // none: wherever the scheduler likes
    long every_us = 0;  // between two calls
    long size = 0x1b39; // unlike any that a loader asks for
    long threads = 1;
};

[[noreturn]] void die(const char* what) {
    std::fprintf(stderr, "tl-calls: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

long number(const char* text) {
    char* end = nullptr;
    errno = 0;
    const long value = std::strtol(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || value < 0) {
        std::fprintf(stderr, "tl-calls: '%s' is not a number\n", text);
        std::exit(2);
    }
    return value;
}

Wanted parse(int argc, char** argv) {
    Wanted wanted;
    if (argc < 2 || argc % 2 != 0) {
        std::fputs("usage: tl-calls N [--cpu CPU] [--every MICROSECONDS] [--size BYTES] "
                   "[--threads M]\n",
                   stderr);
        std::exit(2);
    }
    wanted.calls = number(argv[1]);
    for (int i = 2; i + 1 < argc; i += 2) {
        const long value = number(argv[i + 1]);
        if (std::strcmp(argv[i], "--cpu") == 0) {
            wanted.cpu = value;
        } else if (std::strcmp(argv[i], "--every") == 0) {
            wanted.every_us = value;
        } else if (std::strcmp(argv[i], "--size") == 0) {
            wanted.size = value;
        } else if (std::strcmp(argv[i], "--threads") == 0) {
            wanted.threads = value;
        } else {
            std::fprintf(stderr, "tl-calls: unknown option %s\n", argv[i]);
            std::exit(2);
        }
    }
    return wanted;
}

void pin(long cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(cpu), &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0)
        die("sched_setaffinity");
}

long read_often(const Wanted& wanted, int zero) {
    std::vector<char> buffer(static_cast<std::size_t>(wanted.size));
    const timespec pause{wanted.every_us / 1'000'000, wanted.every_us % 1'000'000 * 1000};
    long done = 0;
    for (long call = 0; call < wanted.calls; call++) {
        // Not the library's: this one can't be merged, split or retried.
        if (syscall(SYS_read, zero, buffer.data(), buffer.size()) == wanted.size)
            done++;
        if (wanted.every_us != 0)
            nanosleep(&pause, nullptr);
    }
    return done;
}

} // namespace

int main(int argc, char** argv) {
    const Wanted wanted = parse(argc, argv);
    if (wanted.cpu >= 0)
        pin(wanted.cpu);
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (zero < 0)
        die("/dev/zero");

    std::atomic<long> done = 0;
    std::vector<std::thread> others;
    for (long thread = 1; thread < wanted.threads; thread++)
        others.emplace_back([&] { done += read_often(wanted, zero); });
    done += read_often(wanted, zero);
    for (std::thread& other : others)
        other.join();
    std::printf("%ld\n", done.load());
    return done == wanted.calls * wanted.threads ? 0 : 1;
}
