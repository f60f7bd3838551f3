// SPDX-License-Identifier: GPL-2.0
// tl-pty [--at TEXT KEYS]... COMMAND [ARGUMENT]...
// Runs COMMAND on a terminal of its own and passes on what it shows. Each time that TEXT has
// come, KEYS are typed ("^C" is Ctrl-C), one --at after the other. Exits as COMMAND does.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Cue {
    std::string text;
    std::string keys;
};

void type(int terminal, const std::string& keys) {
    const std::string bytes = keys == "^C" ? "\003" : keys;
    if (write(terminal, bytes.data(), bytes.size()) < 0)
        std::perror("tl-pty: type");
}

} // namespace

int main(int argc, char** argv) {
    std::deque<Cue> cues;
    int at = 1;
    for (; at + 2 < argc && std::strcmp(argv[at], "--at") == 0; at += 3)
        cues.push_back({argv[at + 1], argv[at + 2]});
    if (at >= argc) {
        std::fputs("usage: tl-pty [--at TEXT KEYS]... COMMAND [ARGUMENT]...\n", stderr);
        return 2;
    }
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child < 0) {
        std::perror("tl-pty: forkpty");
        return 1;
    }
    if (child == 0) {
        execvp(argv[at], argv + at);
        std::perror(argv[at]);
        _exit(127);
    }

    std::string shown; // since the last cue
    char piece[4096];
    for (;;) {
        const ssize_t got = read(terminal, piece, sizeof(piece));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break; // EIO: nobody has the terminal open any more
        if (write(STDOUT_FILENO, piece, static_cast<std::size_t>(got)) != got)
            return 1;
        shown.append(piece, static_cast<std::size_t>(got));
        if (!cues.empty() && shown.find(cues.front().text) != std::string::npos) {
            type(terminal, cues.front().keys);
            cues.pop_front();
            shown.clear();
        }
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
