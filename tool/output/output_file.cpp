// SPDX-License-Identifier: GPL-2.0
// Where events go.
#include "output/output_file.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

namespace {

// What poll() promises room for, in a pipe.
constexpr std::size_t piece_size = PIPE_BUF;

bool is_regular(int fd) {
    struct stat status {};
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

} // namespace

void die_of_closed_output() {
    (void)std::signal(SIGPIPE, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    (void)raise(SIGPIPE);
}

OutputFile::OutputFile(const std::string& path)
    : name_(path.empty() ? "standard output" : path), fd_(STDOUT_FILENO) {
    if (!path.empty()) {
        file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
        if (!file_)
            throw errno_error(fmt::format("open {} for writing", path), errno,
                              "give --output a file that can be written");
        fd_ = file_.get();
    }
    waits_ = !is_regular(fd_);
}

bool OutputFile::terminal() const {
    return isatty(fd_) == 1;
}

void OutputFile::wait_for_room() const {
    pollfd fds[] = {{fd_, POLLOUT, 0}, {cancelled_.fd(), POLLIN, 0}};
    if (poll(fds, 2, -1) > 0 && fds[1].revents)
        throw OutputCancelled{};
}

void OutputFile::write(std::string_view text) {
    while (!text.empty()) {
        if (waits_)
            wait_for_room();
        const std::size_t size = waits_ ? std::min(text.size(), piece_size) : text.size();
        const ssize_t written = ::write(fd_, text.data(), size);
        if (written >= 0)
            text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno == EPIPE || errno == ECONNRESET)
            throw OutputClosed{};
        else if (errno != EINTR && errno != EAGAIN)
            throw errno_error(fmt::format("write to {}", name_), errno);
    }
}

} // namespace trapline
