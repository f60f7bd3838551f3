// SPDX-License-Identifier: GPL-2.0
// What comes back for one netlink request.
#include "control/exchange.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <linux/netlink.h>

#include "util/errno_name.h"

namespace trapline {

namespace {

std::string describe(int code, const std::string& text, const std::string& command,
                     std::string_view attribute) {
    const std::string_view name = errno_name(static_cast<unsigned>(code));
    std::string out =
        fmt::format("cannot {}: {} (", command, text.empty() ? errno_text(code) : text);
    out += name.empty() ? fmt::format("error {}", code) : std::string(name);
    if (!attribute.empty())
        out += fmt::format(", attribute {}", attribute);
    out += ')';
    return out;
}

// How many bytes of a message, header included, lie before its extended ack.
std::size_t tlv_start(const nlmsghdr* header, const nlmsgerr& error) {
    std::size_t start = NLMSG_HDRLEN + sizeof(nlmsgerr);
    // The request is echoed, but for its header, which is part of nlmsgerr.
    if ((header->nlmsg_flags & NLM_F_CAPPED) == 0 && error.msg.nlmsg_len > NLMSG_HDRLEN)
        start += NLMSG_ALIGN(error.msg.nlmsg_len - NLMSG_HDRLEN);
    return start;
}

} // namespace

ControlError::ControlError(int code, std::string text, std::string command,
                           std::string_view attribute)
    : Error(describe(code, text, command, attribute),
            text.empty() ? "sudo dmesg | tail may tell more" : ""),
      code_(code), text_(std::move(text)), command_(std::move(command)) {}

Answer::Answer(std::span<const std::byte> message) : words_((message.size() + 3) / 4) {
    if (!message.empty())
        std::memcpy(words_.data(), message.data(), message.size());
}

const nlmsghdr* Answer::header() const {
    return words_.empty() ? nullptr : reinterpret_cast<const nlmsghdr*>(words_.data());
}

Exchange::State Exchange::feed(std::span<const std::byte> received) {
    while (state_ == State::waiting && !received.empty()) {
        nlmsghdr header{};
        if (received.size() >= sizeof(header))
            std::memcpy(&header, received.data(), sizeof(header));
        if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > received.size())
            throw Error(fmt::format("the kernel's answer is malformed: a netlink message of {} "
                                    "bytes in a datagram with {} left",
                                    header.nlmsg_len, received.size()));
        if (header.nlmsg_seq == sequence_)
            take(Answer(received.first(header.nlmsg_len)));
        const std::size_t step = NLMSG_ALIGN(header.nlmsg_len);
        received = received.subspan(std::min(step, received.size()));
    }
    return state_;
}

void Exchange::take(Answer message) {
    const nlmsghdr* header = message.header();
    const auto* payload = reinterpret_cast<const char*>(header) + NLMSG_HDRLEN;
    const std::size_t length = header->nlmsg_len - NLMSG_HDRLEN;

    if ((header->nlmsg_flags & NLM_F_DUMP_INTR) != 0)
        changed_ = true;

    if (header->nlmsg_type == NLMSG_ERROR) {
        nlmsgerr error{};
        if (length < sizeof(error))
            throw Error(fmt::format("the kernel's acknowledgement is malformed: {} bytes", length));
        std::memcpy(&error, payload, sizeof(error));
        if (error.error != 0)
            refuse(header, error.error, tlv_start(header, error));
        else if (!dump_)
            state_ = State::done;
    } else if (header->nlmsg_type == NLMSG_DONE) {
        int error = 0;
        if (length >= sizeof(error))
            std::memcpy(&error, payload, sizeof(error));
        if (error < 0)
            refuse(header, error, NLMSG_HDRLEN + sizeof(error));
        else
            state_ = changed_ ? State::interrupted : State::done;
    } else if (header->nlmsg_type >= NLMSG_MIN_TYPE) {
        answers_.push_back(std::move(message));
    }
}

void Exchange::refuse(const nlmsghdr* header, int error, std::size_t tlvs) {
    state_ = State::refused;
    code_ = std::abs(error);
    if ((header->nlmsg_flags & NLM_F_ACK_TLVS) == 0)
        return;

    const auto* base = reinterpret_cast<const char*>(header);
    std::size_t at = tlvs;
    while (at + sizeof(nlattr) <= header->nlmsg_len) {
        nlattr attribute{};
        std::memcpy(&attribute, base + at, sizeof(attribute));
        if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > header->nlmsg_len - at)
            return;
        const char* data = base + at + NLA_HDRLEN;
        const std::size_t size = attribute.nla_len - NLA_HDRLEN;
        const int type = attribute.nla_type & NLA_TYPE_MASK;
        if (type == NLMSGERR_ATTR_MSG) {
            text_.assign(data, strnlen(data, size));
        } else if (type == NLMSGERR_ATTR_OFFS && size == sizeof(std::uint32_t)) {
            std::uint32_t offset = 0;
            std::memcpy(&offset, data, sizeof(offset));
            offset_ = offset;
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
}

} // namespace trapline
