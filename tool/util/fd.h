// SPDX-License-Identifier: GPL-2.0
// Owners of a file descriptor and of a memory mapping.
#pragma once

#include <cstddef>
#include <span>
#include <sys/types.h>

namespace trapline {

class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(); }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }

    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    // Closes the descriptor held, if it isn't `fd`, and holds `fd`.
    void reset(int fd = -1);

private:
    int fd_ = -1;
};

class Mapping {
public:
    Mapping() = default;
    // Maps `length` bytes of `fd` at `offset`; throws Error, naming `what`.
    Mapping(int fd, off_t offset, std::size_t length, int protection, int flags, const char* what);
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    ~Mapping() { reset(); }

    std::byte* data() const { return bytes_.data(); }
    std::size_t size() const { return bytes_.size(); }
    std::span<std::byte> bytes() const { return bytes_; }
    explicit operator bool() const { return !bytes_.empty(); }
    void reset();

private:
    std::span<std::byte> bytes_;
};

} // namespace trapline
