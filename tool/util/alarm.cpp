// SPDX-License-Identifier: GPL-2.0
// Something that other threads can raise, and poll() sees.
#include "util/alarm.h"

#include <cerrno>
#include <cstdint>
#include <sys/eventfd.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

Alarm::Alarm() : fd_(eventfd(0, EFD_CLOEXEC)) {
    if (!fd_)
        throw errno_error("make an eventfd", errno);
}

void Alarm::raise() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(fd_.get(), &one, sizeof(one));
}

} // namespace trapline
