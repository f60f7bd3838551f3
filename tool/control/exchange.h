// SPDX-License-Identifier: GPL-2.0
// What comes back for one netlink request: answers, the acknowledgement or refusal with the
// kernel's extended text, the end of a dump. Fed with what a socket received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/error.h"

struct nlmsghdr;

namespace trapline {

// The module, or the kernel before it, refused a request.
class ControlError : public Error {
public:
    // `attribute`: name of the one to blame, if known.
    ControlError(int code, std::string text, std::string command, std::string_view attribute = {});

    int code() const { return code_; }                      // errno
    const std::string& text() const { return text_; }       // extended ack, may be empty
    const std::string& command() const { return command_; } // what was tried

private:
    int code_;
    std::string text_;
    std::string command_;
};

// One message, in memory of its own.
class Answer {
public:
    Answer() = default;
    explicit Answer(std::span<const std::byte> message);

    // Null when the request was acknowledged without an answer.
    const nlmsghdr* header() const;

private:
    std::vector<std::uint32_t> words_; // for the header's alignment
};

class Exchange {
public:
    enum class State {
        waiting, // for more
        done,
        interrupted, // a dump whose subject changed under it: worth another try
        refused,
    };

    Exchange(std::uint32_t sequence, bool dump) : sequence_(sequence), dump_(dump) {}

    // Takes what one receive call gave: messages, one behind the other. Those of other
    // sequence numbers are left-overs of requests before, and skipped.
    State feed(std::span<const std::byte> received);

    State state() const { return state_; }
    std::vector<Answer>& answers() { return answers_; }

    // Of a refusal.
    int code() const { return code_; }                              // errno, positive
    const std::string& text() const { return text_; }               // empty: none was given
    std::optional<std::uint32_t> offset() const { return offset_; } // into the request

private:
    void take(Answer message);
    void refuse(const nlmsghdr* header, int error, std::size_t tlvs);

    std::uint32_t sequence_;
    bool dump_;
    bool changed_ = false;
    State state_ = State::waiting;
    std::vector<Answer> answers_;
    int code_ = 0;
    std::string text_;
    std::optional<std::uint32_t> offset_;
};

} // namespace trapline
