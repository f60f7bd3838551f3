// SPDX-License-Identifier: GPL-2.0
// Acknowledgements, refusals and dumps, from the bytes that a kernel sends.
#include "control/exchange.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <random>

#include "util/error.h"

namespace trapline {
namespace {

constexpr std::uint32_t sequence = 42;
constexpr std::uint16_t family = 27;

using Bytes = std::vector<std::byte>;

template <class T>
void append(Bytes& bytes, const T& value) {
    const auto* begin = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof(value));
}

void pad(Bytes& bytes) {
    bytes.resize((bytes.size() + 3) / 4 * 4);
}

void append_attribute(Bytes& bytes, std::uint16_t type, std::string_view data) {
    append(bytes, nlattr{static_cast<std::uint16_t>(4 + data.size()), type});
    const auto* begin = reinterpret_cast<const std::byte*>(data.data());
    bytes.insert(bytes.end(), begin, begin + data.size());
    pad(bytes);
}

Bytes message(std::uint16_t type, std::uint16_t flags, const Bytes& payload,
              std::uint32_t seq = sequence) {
    Bytes bytes;
    append(bytes, nlmsghdr{static_cast<std::uint32_t>(NLMSG_HDRLEN + payload.size()), type, flags,
                           seq, 0});
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

Bytes text_and_offset(std::string_view text, std::uint32_t offset) {
    Bytes tlvs;
    append_attribute(tlvs, NLMSGERR_ATTR_MSG, text);
    append_attribute(tlvs, NLMSGERR_ATTR_OFFS,
                     {reinterpret_cast<const char*>(&offset), sizeof(offset)});
    return tlvs;
}

// An ack as netlink_ack() writes it, the request of `echoed` payload bytes behind it or not.
Bytes ack(int error, std::size_t echoed, bool capped, const Bytes& tlvs) {
    Bytes payload;
    append(payload, nlmsgerr{error,
                             {static_cast<std::uint32_t>(NLMSG_HDRLEN + echoed), family,
                              NLM_F_REQUEST | NLM_F_ACK, sequence, 0}});
    if (!capped && error != 0)
        payload.resize(payload.size() + echoed, std::byte{0x5a});
    pad(payload);
    payload.insert(payload.end(), tlvs.begin(), tlvs.end());
    const bool is_capped = capped || error == 0;
    const auto flags = static_cast<std::uint16_t>((is_capped ? NLM_F_CAPPED : 0) |
                                                  (tlvs.empty() ? 0 : NLM_F_ACK_TLVS));
    return message(NLMSG_ERROR, flags, payload);
}

Bytes done(int error, const Bytes& tlvs = {}, std::uint16_t flags = 0) {
    Bytes payload;
    append(payload, error);
    payload.insert(payload.end(), tlvs.begin(), tlvs.end());
    return message(
        NLMSG_DONE,
        static_cast<std::uint16_t>(NLM_F_MULTI | flags | (tlvs.empty() ? 0 : NLM_F_ACK_TLVS)),
        payload);
}

Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(Exchange, AckWithoutAnAnswer) {
    Exchange exchange(sequence, false);
    EXPECT_EQ(exchange.state(), Exchange::State::waiting);
    EXPECT_EQ(exchange.feed(ack(0, 100, false, {})), Exchange::State::done);
    EXPECT_TRUE(exchange.answers().empty());
    EXPECT_EQ(Answer().header(), nullptr);
}

TEST(Exchange, AnswerThenAckInOneDatagramOrTwo) {
    const Bytes answer = message(family, 0, Bytes(24, std::byte{1}));
    for (const bool together : {true, false}) {
        Exchange exchange(sequence, false);
        if (together) {
            exchange.feed(answer + ack(0, 100, false, {}));
        } else {
            EXPECT_EQ(exchange.feed(answer), Exchange::State::waiting);
            exchange.feed(ack(0, 100, false, {}));
        }
        EXPECT_EQ(exchange.state(), Exchange::State::done);
        ASSERT_EQ(exchange.answers().size(), 1U);
        const nlmsghdr* header = exchange.answers()[0].header();
        ASSERT_NE(header, nullptr);
        EXPECT_EQ(header->nlmsg_type, family);
        EXPECT_EQ(header->nlmsg_len, NLMSG_HDRLEN + 24U);
    }
}

TEST(Exchange, RefusalWithTextAndOffset) {
    // With and without the request echoed; an odd length, for the alignment behind it.
    for (const bool capped : {true, false}) {
        for (const std::size_t echoed : {0U, 5U, 64U, 4001U}) {
            Exchange exchange(sequence, false);
            exchange.feed(
                ack(-ERANGE, echoed, capped, text_and_offset("from 64 KiB to 1 GiB", 28)));
            EXPECT_EQ(exchange.state(), Exchange::State::refused);
            EXPECT_EQ(exchange.code(), ERANGE);
            EXPECT_EQ(exchange.text(), "from 64 KiB to 1 GiB");
            ASSERT_TRUE(exchange.offset().has_value());
            EXPECT_EQ(*exchange.offset(), 28U);
        }
    }
}

TEST(Exchange, RefusalWithoutTheModulesWords) {
    Exchange exchange(sequence, false);
    exchange.feed(ack(-EINVAL, 40, false, {}));
    EXPECT_EQ(exchange.state(), Exchange::State::refused);
    EXPECT_EQ(exchange.code(), EINVAL);
    EXPECT_EQ(exchange.text(), "");
    EXPECT_FALSE(exchange.offset().has_value());
}

// The flag says that attributes follow, and what follows are none: no crash, no text.
TEST(Exchange, RefusalWithBrokenWords) {
    Bytes too_long;
    append(too_long, nlattr{400, NLMSGERR_ATTR_MSG});
    Bytes too_short;
    append(too_short, nlattr{2, NLMSGERR_ATTR_MSG});
    Bytes odd_offset;
    append_attribute(odd_offset, NLMSGERR_ATTR_OFFS, "ab");
    for (const Bytes& tlvs : {too_long, too_short, odd_offset}) {
        Exchange exchange(sequence, false);
        exchange.feed(ack(-EPERM, 8, false, tlvs));
        EXPECT_EQ(exchange.code(), EPERM);
        EXPECT_EQ(exchange.text(), "");
        EXPECT_FALSE(exchange.offset().has_value());
    }
    // An echoed length that points behind the message.
    Bytes bytes = ack(-EPERM, 8, false, text_and_offset("x", 1));
    const std::uint32_t huge = 0xfffffff0;
    std::memcpy(bytes.data() + NLMSG_HDRLEN + sizeof(int), &huge, sizeof(huge));
    Exchange exchange(sequence, false);
    exchange.feed(bytes);
    EXPECT_EQ(exchange.code(), EPERM);
    EXPECT_EQ(exchange.text(), "");
}

TEST(Exchange, LeftoversOfOtherRequestsAreSkipped) {
    Exchange exchange(sequence, false);
    const Bytes stale = message(family, 0, Bytes(8), sequence - 1);
    EXPECT_EQ(exchange.feed(stale + message(NLMSG_ERROR, 0, Bytes(20), sequence - 1)),
              Exchange::State::waiting);
    exchange.feed(stale + ack(0, 0, true, {}));
    EXPECT_EQ(exchange.state(), Exchange::State::done);
    EXPECT_TRUE(exchange.answers().empty());
}

TEST(Exchange, DumpOverManyDatagrams) {
    Exchange exchange(sequence, true);
    const Bytes part = message(family, NLM_F_MULTI, Bytes(12));
    EXPECT_EQ(exchange.feed(part + part), Exchange::State::waiting);
    EXPECT_EQ(exchange.feed(part), Exchange::State::waiting);
    EXPECT_EQ(exchange.feed(part + done(0)), Exchange::State::done);
    EXPECT_EQ(exchange.answers().size(), 4U);
}

TEST(Exchange, EmptyDump) {
    Exchange exchange(sequence, true);
    EXPECT_EQ(exchange.feed(done(0)), Exchange::State::done);
    EXPECT_TRUE(exchange.answers().empty());
}

TEST(Exchange, DumpThatChangedUnderIt) {
    Exchange in_part(sequence, true);
    EXPECT_EQ(in_part.feed(message(family, NLM_F_MULTI | NLM_F_DUMP_INTR, Bytes(12))),
              Exchange::State::waiting);
    EXPECT_EQ(in_part.feed(done(0)), Exchange::State::interrupted);

    Exchange at_end(sequence, true);
    EXPECT_EQ(at_end.feed(done(0, {}, NLM_F_DUMP_INTR)), Exchange::State::interrupted);
}

TEST(Exchange, ErrorInsideADump) {
    Exchange exchange(sequence, true);
    exchange.feed(message(family, NLM_F_MULTI, Bytes(12)));
    exchange.feed(done(-ENOMEM, text_and_offset("no memory for the list", 20)));
    EXPECT_EQ(exchange.state(), Exchange::State::refused);
    EXPECT_EQ(exchange.code(), ENOMEM);
    EXPECT_EQ(exchange.text(), "no memory for the list");
}

TEST(Exchange, DumpRefusedAtItsStart) {
    Exchange exchange(sequence, true);
    exchange.feed(ack(-EBADF, 0, true, text_and_offset("FD is not an open descriptor", 20)));
    EXPECT_EQ(exchange.state(), Exchange::State::refused);
    EXPECT_EQ(exchange.code(), EBADF);
}

TEST(Exchange, MalformedMessages) {
    Bytes cut = ack(0, 0, true, {});
    cut.resize(cut.size() - 1);
    EXPECT_THROW(Exchange(sequence, false).feed(cut), Error);
    EXPECT_THROW(Exchange(sequence, false).feed(Bytes(7)), Error);
    EXPECT_THROW(Exchange(sequence, false).feed(Bytes(16)), Error); // length 0
    EXPECT_THROW(Exchange(sequence, false).feed(message(NLMSG_ERROR, 0, Bytes(12))), Error);
}

TEST(Exchange, MangledBytesNeverHurt) {
    std::mt19937 random(2);
    const Bytes whole = message(family, NLM_F_MULTI, Bytes(12)) +
                        ack(-ERANGE, 64, false, text_and_offset("some words", 28));
    for (int i = 0; i < 20000; i++) {
        Bytes bytes = whole;
        for (int flips = 0; flips < 1 + i % 3; flips++)
            bytes[random() % bytes.size()] = static_cast<std::byte>(random());
        Exchange exchange(sequence, i % 2 == 0);
        try {
            exchange.feed(bytes);
        } catch (const Error&) {
        }
    }
}

TEST(ControlErrorText, SaysWhatWasTriedWhyAndTheErrno) {
    const ControlError with(ERANGE, "RING_SIZE is 64 KiB to 1 GiB", "configure the session");
    EXPECT_STREQ(with.what(),
                 "cannot configure the session: RING_SIZE is 64 KiB to 1 GiB (ERANGE)");
    EXPECT_EQ(with.code(), ERANGE);
    EXPECT_EQ(with.text(), "RING_SIZE is 64 KiB to 1 GiB");
    EXPECT_EQ(with.command(), "configure the session");

    const ControlError without(EINVAL, "", "plant probes", "PROBES");
    EXPECT_STREQ(without.what(),
                 "cannot plant probes: Invalid argument (EINVAL, attribute PROBES)");
    EXPECT_FALSE(without.hint().empty());
}

} // namespace
} // namespace trapline
