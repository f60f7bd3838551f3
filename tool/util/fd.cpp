// SPDX-License-Identifier: GPL-2.0
// Owners of a file descriptor and of a memory mapping.
#include "util/fd.h"

#include <cerrno>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "util/error.h"

namespace trapline {

void UniqueFd::reset(int fd) {
    if (fd_ >= 0 && fd_ != fd)
        close(fd_);
    fd_ = fd;
}

Mapping::Mapping(int fd, off_t offset, std::size_t length, int protection, int flags,
                 const char* what) {
    void* at = mmap(nullptr, length, protection, flags, fd, offset);
    if (at == MAP_FAILED)
        throw errno_error(std::string("cannot map ") + what, errno);
    bytes_ = {static_cast<std::byte*>(at), length};
}

Mapping::Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    if (this != &other) {
        reset();
        bytes_ = std::exchange(other.bytes_, {});
    }
    return *this;
}

void Mapping::reset() {
    if (!bytes_.empty())
        munmap(bytes_.data(), bytes_.size());
    bytes_ = {};
}

} // namespace trapline
