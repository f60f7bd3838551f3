// SPDX-License-Identifier: GPL-2.0
// The COMMAND that is traced.
#include "command/child.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace trapline {

namespace {

struct User {
    std::string name;
    std::string home;
    uid_t uid = 0;
    gid_t gid = 0;
};

std::optional<User> find_user(const std::string& name) {
    if (name.empty())
        return std::nullopt;
    errno = 0;
    const passwd* entry = getpwnam(name.c_str()); // NOLINT(concurrency-mt-unsafe)
    if (!entry)
        throw UsageError(fmt::format("--user: there is no user '{}'", name));
    return User{name, entry->pw_dir, entry->pw_uid, entry->pw_gid};
}

bool is_file(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// As a shell would look for it. Found here, so that the traced exec is the only one.
std::string find_command(const std::string& name) {
    if (name.find('/') != std::string::npos) {
        if (access(name.c_str(), F_OK) != 0)
            throw CommandError(fmt::format("{}: not found", name), 127);
        if (!is_file(name) || access(name.c_str(), X_OK) != 0)
            throw CommandError(fmt::format("{}: not executable", name), 126);
        return name;
    }
    const char* variable = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
    std::string_view rest = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
    std::string not_executable;
    while (true) {
        const std::size_t colon = rest.find(':');
        std::string path(rest.substr(0, colon));
        if (!path.empty())
            path += '/';
        path += name;
        if (is_file(path)) {
            if (access(path.c_str(), X_OK) == 0)
                return path;
            not_executable = path;
        }
        if (colon == std::string_view::npos)
            break;
        rest.remove_prefix(colon + 1);
    }
    if (!not_executable.empty())
        throw CommandError(fmt::format("{}: not executable", not_executable), 126);
    throw CommandError(fmt::format("{}: command not found", name), 127);
}

struct Pipe {
    UniqueFd read;
    UniqueFd write;
};

Pipe make_pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        throw errno_error("make a pipe", errno);
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// Becomes `user`, whole; false with errno set.
bool become(const User& user) {
    // NOLINTBEGIN(concurrency-mt-unsafe): the child of a fork has one thread
    return initgroups(user.name.c_str(), user.gid) == 0 && setgid(user.gid) == 0 &&
           setuid(user.uid) == 0 && setenv("HOME", user.home.c_str(), 1) == 0 &&
           setenv("USER", user.name.c_str(), 1) == 0 &&
           setenv("LOGNAME", user.name.c_str(), 1) == 0;
    // NOLINTEND(concurrency-mt-unsafe)
}

// Why a child could not become COMMAND.
struct Failure {
    bool at_exec = false; // else before the gate
    int error = 0;
};

[[noreturn]] void give_up(int report, bool at_exec) {
    const Failure failure{at_exec, errno};
    [[maybe_unused]] const ssize_t written = write(report, &failure, sizeof(failure));
    _exit(Error::failed);
}

std::optional<Failure> read_failure(int report) {
    Failure failure;
    ssize_t got = 0;
    do
        got = read(report, &failure, sizeof(failure));
    while (got < 0 && errno == EINTR);
    return got == sizeof(failure) ? std::optional(failure) : std::nullopt;
}

// Words as exec wants them. The strings must stay.
std::vector<char*> exec_words(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (const std::string& word : words)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return argv;
}

// What the child needs, made before the fork.
struct Plan {
    std::string path;
    std::vector<std::string> words;
    std::vector<std::string> shell_words; // for a script that names no interpreter
    std::optional<User> user;
    bool stdout_to_stderr = false;
    sigset_t mask{};
    bool pipe_ignored = false;
    bool size_ignored = false;
};

// In the child. What has to be done before exec is done before the gate: behind it
// everything is traced.
[[noreturn]] void child_main(const Plan& plan, int gate, int report) {
    const std::vector<char*> argv = exec_words(plan.words);
    const std::vector<char*> shell_argv = exec_words(plan.shell_words);
    if (plan.user && !become(*plan.user))
        give_up(report, false);
    if (plan.stdout_to_stderr && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        give_up(report, false);
    (void)std::signal(SIGPIPE, plan.pipe_ignored ? SIG_IGN : SIG_DFL);
    (void)std::signal(SIGXFSZ, plan.size_ignored ? SIG_IGN : SIG_DFL);
    sigprocmask(SIG_SETMASK, &plan.mask, nullptr); // NOLINT(concurrency-mt-unsafe)
    // A poll, not a read: who traces read() would see this one return.
    pollfd wait{gate, POLLIN, 0};
    while (poll(&wait, 1, -1) < 0 && errno == EINTR) {
    }
    if (!(wait.revents & POLLIN))
        _exit(Error::failed);
    execv(plan.path.c_str(), argv.data());
    if (errno == ENOEXEC)
        execv(shell_argv.front(), shell_argv.data());
    give_up(report, true);
}

int shell_status(int status) {
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

Child::Child(const std::vector<std::string>& command, const std::string& user,
             bool stdout_to_stderr, const Signals& signals)
    : path_(find_command(command.front())) {
    Plan plan{path_,
              command,
              {"/bin/sh", path_},
              find_user(user),
              stdout_to_stderr,
              signals.inherited_mask(),
              signals.inherited_pipe_ignored(),
              signals.inherited_size_ignored()};
    plan.shell_words.insert(plan.shell_words.end(), command.begin() + 1, command.end());
    Pipe gate = make_pipe();
    Pipe report = make_pipe();

    pid_ = fork();
    if (pid_ < 0)
        throw errno_error("fork", errno);
    if (pid_ == 0) {
        gate.write.reset();
        child_main(plan, gate.read.get(), report.write.get());
    }
    gate_ = std::move(gate.write);
    report_ = std::move(report.read);
    pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_)
        throw errno_error("watch COMMAND", errno, "pidfd_open needs Linux 5.3 or newer");
}

Child::~Child() {
    if (pid_ <= 0 || !gate_)
        return;
    gate_.reset();
    waitpid(pid_, nullptr, 0);
}

void Child::let_go() {
    const char go = 1;
    const bool went = write(gate_.get(), &go, 1) == 1;
    const int error = errno;
    gate_.reset();
    const std::optional<Failure> failure = read_failure(report_.get());
    if (went && !failure)
        return;
    waitpid(pid_, nullptr, 0);
    status_ = Error::failed;
    if (failure && failure->at_exec)
        throw CommandError(fmt::format("{}: {}", path_, errno_text(failure->error)),
                           failure->error == ENOENT ? 127 : 126);
    throw errno_error("start COMMAND", failure ? failure->error : error);
}

std::optional<int> Child::ended() {
    int status = 0;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
        status_ = shell_status(status);
    return status_;
}

void Child::signal(int number) const {
    if (!status_)
        kill(pid_, number);
}

} // namespace trapline
