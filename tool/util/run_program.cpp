// SPDX-License-Identifier: GPL-2.0
// Runs a program of the system's and hears what it says.
#include "util/run_program.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "util/error.h"
#include "util/fd.h"

namespace trapline {

namespace {

// A child's pipe and file actions, undone on every way out.
class SpawnActions {
public:
    SpawnActions() {
        posix_spawn_file_actions_init(&actions_);
        posix_spawnattr_init(&attributes_);
    }
    SpawnActions(const SpawnActions&) = delete;
    SpawnActions& operator=(const SpawnActions&) = delete;
    ~SpawnActions() {
        posix_spawn_file_actions_destroy(&actions_);
        posix_spawnattr_destroy(&attributes_);
    }

    posix_spawn_file_actions_t* files() { return &actions_; }
    posix_spawnattr_t* attributes() { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

std::string read_all(int fd) {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
        const ssize_t length = read(fd, piece.data(), piece.size());
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return text;
        text.append(piece.data(), static_cast<std::size_t>(length));
    }
}

int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Finished run_program(std::vector<std::string> words, Heard heard) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
        throw errno_error("cannot make a pipe for " + words.front(), errno);
    UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const int taken = heard == Heard::output ? STDOUT_FILENO : STDERR_FILENO;
    const int thrown_away = heard == Heard::output ? STDERR_FILENO : STDOUT_FILENO;

    SpawnActions spawn;
    posix_spawn_file_actions_addopen(spawn.files(), STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(spawn.files(), thrown_away, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(spawn.files(), writing.get(), taken);
    // Our own signal handling is not the program's.
    sigset_t signals{};
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(spawn.attributes(), &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGINT);
    posix_spawnattr_setsigdefault(spawn.attributes(), &signals);
    posix_spawnattr_setflags(spawn.attributes(), POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

    // No MODPROBE_OPTIONS and the like.
    std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    std::string locale = "LC_ALL=C";
    const std::array<char*, 3> environment{path.data(), locale.data(), nullptr};
    std::vector<char*> arguments;
    arguments.reserve(words.size() + 1);
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);

    for (const char* folder : {"/sbin/", "/usr/sbin/", "/bin/", "/usr/bin/"}) {
        pid_t child = 0;
        const std::string program = folder + words.front();
        if (posix_spawn(&child, program.c_str(), spawn.files(), spawn.attributes(),
                        arguments.data(), environment.data()) != 0)
            continue;
        writing.reset();
        std::string text = read_all(reading.get());
        return {wait_for(child), std::move(text)};
    }
    return {};
}

} // namespace trapline
