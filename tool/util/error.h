// SPDX-License-Identifier: GPL-2.0
// Failures whose message is meant for the user: what was tried, on what, why it failed, and,
// as the hint, what to do next.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace trapline {

class Error : public std::runtime_error {
public:
    // Exit codes of the tool.
    static constexpr int usage = 2;
    static constexpr int failed = 125;

    explicit Error(const std::string& message, std::string hint = {}, int exit_code = failed)
        : std::runtime_error(message), hint_(std::move(hint)), exit_code_(exit_code) {}

    // The way out; empty if there is none to name. May have several lines.
    const std::string& hint() const { return hint_; }
    int exit_code() const { return exit_code_; }

private:
    std::string hint_;
    int exit_code_;
};

// As the user sees it: "trapline: `message`" and, indented below, the hint's lines.
std::string complaint(std::string_view message, std::string_view hint);

// A wrong command line.
class UsageError : public Error {
public:
    explicit UsageError(const std::string& message, std::string hint = {})
        : Error(message, std::move(hint), usage) {}
};

// "No such file or directory"; thread-safe.
std::string errno_text(int number);

// "`what`: No such file or directory", for a system call that failed with `number`.
Error errno_error(std::string_view what, int number, std::string hint = {});

} // namespace trapline
