// SPDX-License-Identifier: GPL-2.0
// Where events go.
#include "command/output_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

OutputFile::OutputFile(const std::string& path)
    : name_(path.empty() ? "standard output" : path), fd_(STDOUT_FILENO) {
    if (path.empty())
        return;
    file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!file_)
        throw errno_error(fmt::format("open {} for writing", path), errno,
                          "give --output a file that can be written");
    fd_ = file_.get();
}

bool OutputFile::terminal() const {
    return isatty(fd_) == 1;
}

void OutputFile::write(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd_, text.data(), text.size());
        if (written >= 0) {
            text.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            throw OutputClosed{};
        } else if (errno == EAGAIN) {
            // Somebody made our standard output non-blocking: wait for room.
            pollfd room{fd_, POLLOUT, 0};
            poll(&room, 1, -1);
        } else if (errno != EINTR) {
            throw errno_error(fmt::format("write events to {}", name_), errno);
        }
    }
}

} // namespace trapline
