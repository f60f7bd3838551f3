// SPDX-License-Identifier: GPL-2.0
// tl-away DEVICE FILE OFFSET SIZE [swap]
// Writes SIZE bytes of FILE, from OFFSET on, to DEVICE, straight from memory that FILE is mapped
// in; all of that is there but the page of the last byte, which was dropped. With "swap" it is
// memory of its own that FILE is copied to, and that page was swapped out: 3 if the kernel swaps
// nothing.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21
#endif

namespace {

constexpr int not_swapped = 3;

[[noreturn]] void die(const char* what) {
    std::fprintf(stderr, "tl-away: %s: %s\n", what, std::strerror(errno));
    std::exit(1);
}

std::size_t number(const char* text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text, &end, 0);
    if (end == text || *end != '\0') {
        std::fprintf(stderr, "tl-away: '%s' is not a number\n", text);
        std::exit(2);
    }
    return value;
}

char* map(std::size_t size, int flags, int fd) {
    void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | flags, fd, 0);
    if (at == MAP_FAILED)
        die("mmap");
    return static_cast<char*>(at);
}

// What /proc/self/pagemap says of a page: bit 62, it is in swap; bit 63, it is in memory.
bool is_swapped(const char* page, std::size_t page_size) {
    std::uint64_t entry = 0;
    const int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    const auto at = reinterpret_cast<std::uintptr_t>(page) / page_size * sizeof(entry);
    if (fd < 0 || pread(fd, &entry, sizeof(entry), static_cast<off_t>(at)) != sizeof(entry))
        die("/proc/self/pagemap");
    close(fd);
    return (entry >> 62) == 1;
}

} // namespace

int main(int argc, char** argv) {
    const bool swap = argc == 6 && std::string_view(argv[5]) == "swap";
    if (argc != 5 && !swap) {
        std::fputs("usage: tl-away DEVICE FILE OFFSET SIZE [swap]\n", stderr);
        return 2;
    }
    const int device = open(argv[1], O_WRONLY | O_CLOEXEC);
    if (device < 0)
        die(argv[1]);
    const int file = open(argv[2], O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0)
        die(argv[2]);
    const std::size_t offset = number(argv[3]);
    const std::size_t size = number(argv[4]);
    const auto length = static_cast<std::size_t>(status.st_size);
    if (size == 0 || offset > length || size > length - offset) {
        std::fputs("tl-away: that is not in FILE\n", stderr);
        return 2;
    }

    const auto page_size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    char* text = map(length, swap ? MAP_ANONYMOUS : 0, swap ? -1 : file);
    if (swap && pread(file, text, length, 0) != status.st_size)
        die("read");
    for (std::size_t at = 0; at < length; at += page_size)
        *const_cast<volatile char*>(text + at); // now it is in memory

    char* page = text + (offset + size - 1) / page_size * page_size;
    for (int tries = 0;; tries++) {
        if (madvise(page, page_size, swap ? MADV_PAGEOUT : MADV_DONTNEED) != 0)
            die("madvise");
        if (!swap || is_swapped(page, page_size))
            break;
        if (tries == 100) // it may be on a list of another CPU's first
            return not_swapped;
        usleep(10'000);
    }
    if (write(device, text + offset, size) != static_cast<ssize_t>(size))
        die("write");
    return 0;
}
