// SPDX-License-Identifier: GPL-2.0
// The netlink codec against answers as the module builds them, cut and mangled ones included.
#include "control/codec.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <random>

#include "control/exchange.h"
#include "shared/record.h"
#include "util/error.h"

namespace trapline {
namespace {

constexpr int family = 27;
constexpr int session_fd = 9;

template <class T>
void add(nl_msg* message, int type, T value) {
    ASSERT_EQ(nla_put(message, type, sizeof(value), &value), 0);
}

void add_text(nl_msg* message, int type, const char* text) {
    ASSERT_EQ(nla_put_string(message, type, text), 0);
}

// A nest as the module writes it.
void add_nest(nl_msg* message, int type, const std::function<void()>& fill) {
    nlattr* nest = nla_nest_start(message, type);
    ASSERT_NE(nest, nullptr);
    fill();
    ASSERT_EQ(nla_nest_end_keep_empty(message, nest), 0);
}

Message empty_answer(trapline_command command) {
    Message message(nlmsg_alloc_size(65536));
    genlmsg_put(message.get(), 1, 1, family, 0, 0, command, TRAPLINE_FAMILY_VERSION);
    return message;
}

// Memory that ends where the message ends, so that a sanitizer sees who reads on.
Answer exact(const nl_msg* message) {
    const nlmsghdr* header = nlmsg_hdr(const_cast<nl_msg*>(message));
    return Answer({reinterpret_cast<const std::byte*>(header), header->nlmsg_len});
}

Message info_answer(std::uint32_t abi = TRAPLINE_ABI) {
    Message m = empty_answer(TRAPLINE_C_INFO);
    add<std::uint32_t>(m.get(), TRAPLINE_A_ABI, abi);
    add_text(m.get(), TRAPLINE_A_VERSION, "0.1.0");
    add<std::uint32_t>(m.get(), TRAPLINE_A_CPUS, 4);
    add<std::uint64_t>(m.get(), TRAPLINE_A_RING_MIN, 65536);
    add<std::uint64_t>(m.get(), TRAPLINE_A_RING_MAX, 1 << 26);
    add<std::uint64_t>(m.get(), TRAPLINE_A_RING_DEFAULT, 1 << 20);
    add<std::uint32_t>(m.get(), TRAPLINE_A_RECORD_MAX, 4000);
    add<std::uint32_t>(m.get(), TRAPLINE_A_INSNS_MAX, 256);
    add<std::uint32_t>(m.get(), TRAPLINE_A_MAXACTIVE, 128);
    add<std::uint32_t>(m.get(), TRAPLINE_A_MAXACTIVE_MAX, 65536);
    add_text(m.get(), TRAPLINE_A_CLOCK_NAME, "tsc");
    add<std::uint64_t>(m.get(), TRAPLINE_A_CLOCK_HZ, 2'999'999'000ULL);
    return m;
}

Message verdicts_answer() {
    Message m = empty_answer(TRAPLINE_C_PROBE_ADD);
    add_nest(m.get(), TRAPLINE_A_VERDICTS, [&] {
        add_nest(m.get(), TRAPLINE_A_VERDICT, [&] {
            add<std::uint16_t>(m.get(), TRAPLINE_P_EVENT_ID, 7);
            add<std::uint32_t>(m.get(), TRAPLINE_P_ERROR, 0);
            add<std::uint64_t>(m.get(), TRAPLINE_P_ADDRESS, 0xffffffff81234560ULL);
        });
        add_nest(m.get(), TRAPLINE_A_VERDICT, [&] {
            add<std::uint16_t>(m.get(), TRAPLINE_P_EVENT_ID, 8);
            add<std::uint32_t>(m.get(), TRAPLINE_P_ERROR, ENOENT);
            add_text(m.get(), TRAPLINE_P_TEXT, "no such symbol");
        });
    });
    return m;
}

trapline_counters counters() {
    trapline_counters c{};
    c.hits = 10;
    c.recorded = 6;
    c.missed_maxactive = 99; // the last: all of the struct came over
    return c;
}

Message probe_answer() {
    Message m = empty_answer(TRAPLINE_C_PROBE_DUMP);
    add_nest(m.get(), TRAPLINE_A_PROBE, [&] {
        add<std::uint8_t>(m.get(), TRAPLINE_P_KIND, TRAPLINE_RETURN);
        add<std::uint16_t>(m.get(), TRAPLINE_P_EVENT_ID, 65534);
        add_text(m.get(), TRAPLINE_P_SYMBOL, "ext4:ext4_sync_file");
        add<std::uint64_t>(m.get(), TRAPLINE_P_OFFSET, 0x1c);
        add<std::uint64_t>(m.get(), TRAPLINE_P_ADDRESS, 0xffffffffc0123456ULL);
        add<std::uint32_t>(m.get(), TRAPLINE_P_MAXACTIVE, 77);
        ASSERT_EQ(nla_put_flag(m.get(), TRAPLINE_P_LIFTED), 0);
        add<std::uint8_t>(m.get(), TRAPLINE_P_TECHNIQUE, TRAPLINE_JUMP);
        add(m.get(), TRAPLINE_P_COUNTERS, counters());
        trapline_pending calls[2] = {};
        calls[0].tid = 12;
        calls[1].tid = 13;
        calls[1].age = 1'000'000;
        std::memcpy(calls[1].comm, "sixteen_letters_", 16); // without a NUL
        ASSERT_EQ(nla_put(m.get(), TRAPLINE_P_PENDING_CALLS, sizeof(calls), calls), 0);
    });
    return m;
}

Message session_answer() {
    Message m = empty_answer(TRAPLINE_C_SESSION_LIST);
    add_nest(m.get(), TRAPLINE_A_SESSION, [&] {
        add<std::uint32_t>(m.get(), TRAPLINE_S_TGID, 4711);
        add_text(m.get(), TRAPLINE_S_COMM, "trapline");
        add<std::uint32_t>(m.get(), TRAPLINE_S_UID, 1000);
        ASSERT_EQ(nla_put_flag(m.get(), TRAPLINE_S_STARTED), 0);
        add<std::uint32_t>(m.get(), TRAPLINE_S_PROBES, 3);
        add<std::uint64_t>(m.get(), TRAPLINE_S_RING_SIZE, 65536);
        add<std::uint64_t>(m.get(), TRAPLINE_S_RECORDED, 1ULL << 40);
        add<std::uint64_t>(m.get(), TRAPLINE_S_LOST, 5);
        add<std::uint32_t>(m.get(), TRAPLINE_S_NUMBER, 77);
        add<std::uint64_t>(m.get(), TRAPLINE_S_SILENCED, 12'345'678'901);
        add<std::uint32_t>(m.get(), TRAPLINE_S_ENDED, TRAPLINE_ENDED_LIMIT);
    });
    return m;
}

Message site_answer(std::size_t before, std::size_t now) {
    const std::vector<std::uint8_t> bytes(64, 0x90);
    Message m = empty_answer(TRAPLINE_C_SITE_READ);
    add<std::uint64_t>(m.get(), TRAPLINE_A_ADDRESS, 0xffffffff81000000ULL);
    EXPECT_EQ(nla_put(m.get(), TRAPLINE_A_BYTES_BEFORE, static_cast<int>(before), bytes.data()), 0);
    EXPECT_EQ(nla_put(m.get(), TRAPLINE_A_BYTES_NOW, static_cast<int>(now), bytes.data()), 0);
    return m;
}

Message clock_answer() {
    Message m = empty_answer(TRAPLINE_C_SYNC);
    add<std::uint64_t>(m.get(), TRAPLINE_A_TICKS, 11);
    add<std::uint64_t>(m.get(), TRAPLINE_A_MONOTONIC, 22);
    add<std::uint64_t>(m.get(), TRAPLINE_A_REALTIME, 33);
    return m;
}

Message geometry_answer() {
    Message m = empty_answer(TRAPLINE_C_CONFIGURE);
    add<std::uint64_t>(m.get(), TRAPLINE_A_RING_SIZE, 1 << 20);
    add<std::uint64_t>(m.get(), TRAPLINE_A_CHUNK_SIZE, 65536);
    add<std::uint32_t>(m.get(), TRAPLINE_A_CPUS, 8);
    add<std::uint32_t>(m.get(), TRAPLINE_A_MAXACTIVE, 500);
    return m;
}

std::string error_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(CodecParse, Info) {
    const ModuleInfo info = parse_info(exact(info_answer().get()).header());
    EXPECT_EQ(info.abi, TRAPLINE_ABI);
    EXPECT_EQ(info.version, "0.1.0");
    EXPECT_EQ(info.cpus, 4U);
    EXPECT_EQ(info.ring_min, 65536U);
    EXPECT_EQ(info.ring_max, 1U << 26);
    EXPECT_EQ(info.ring_default, 1U << 20);
    EXPECT_EQ(info.record_max, 4000U);
    EXPECT_EQ(info.insns_max, 256U);
    EXPECT_EQ(info.maxactive, 128U);
    EXPECT_EQ(info.maxactive_max, 65536U);
    EXPECT_EQ(info.clock_name, "tsc");
    EXPECT_EQ(info.clock_hz, 2'999'999'000ULL);
}

TEST(CodecParse, AnotherAbiIsRefusedWithTheWayOut) {
    EXPECT_NO_THROW(check_abi(TRAPLINE_ABI));
    try {
        check_abi(parse_abi(exact(info_answer(TRAPLINE_ABI + 1).get()).header()));
        FAIL() << "another ABI was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "this tool speaks ABI 5, the loaded module ABI 6");
        EXPECT_EQ(error.hint(), "reload the module: sudo rmmod trapline && sudo modprobe trapline; "
                                "where that doesn't help: trapline doctor");
    }
}

TEST(CodecParse, Verdicts) {
    const auto verdicts = parse_verdicts(exact(verdicts_answer().get()).header());
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_EQ(verdicts[0].event_id, 7);
    EXPECT_EQ(verdicts[0].error, 0);
    EXPECT_EQ(verdicts[0].address, 0xffffffff81234560ULL);
    EXPECT_EQ(verdicts[0].text, "");
    EXPECT_EQ(verdicts[1].event_id, 8);
    EXPECT_EQ(verdicts[1].error, ENOENT);
    EXPECT_EQ(verdicts[1].address, 0U);
    EXPECT_EQ(verdicts[1].text, "no such symbol");
}

TEST(CodecParse, VerdictsThatMakeNoSense) {
    Message none = empty_answer(TRAPLINE_C_PROBE_ADD);
    add_nest(none.get(), TRAPLINE_A_VERDICTS, [] {});
    EXPECT_TRUE(parse_verdicts(exact(none.get()).header()).empty());

    Message success_nowhere = empty_answer(TRAPLINE_C_PROBE_ADD);
    add_nest(success_nowhere.get(), TRAPLINE_A_VERDICTS, [&] {
        add_nest(success_nowhere.get(), TRAPLINE_A_VERDICT, [&] {
            add<std::uint16_t>(success_nowhere.get(), TRAPLINE_P_EVENT_ID, 7);
            add<std::uint32_t>(success_nowhere.get(), TRAPLINE_P_ERROR, 0);
        });
    });
    EXPECT_EQ(error_of([&] { parse_verdicts(exact(success_nowhere.get()).header()); }),
              "the module's answer lacks ADDRESS");

    Message negative = empty_answer(TRAPLINE_C_PROBE_ADD);
    add_nest(negative.get(), TRAPLINE_A_VERDICTS, [&] {
        add_nest(negative.get(), TRAPLINE_A_VERDICT, [&] {
            add<std::uint16_t>(negative.get(), TRAPLINE_P_EVENT_ID, 7);
            add<std::int32_t>(negative.get(), TRAPLINE_P_ERROR, -ENOENT);
        });
    });
    EXPECT_THROW(parse_verdicts(exact(negative.get()).header()), Error);
}

TEST(CodecParse, Probe) {
    const ProbeReport report = parse_probe(exact(probe_answer().get()).header());
    EXPECT_EQ(report.kind, TRAPLINE_RETURN);
    EXPECT_EQ(report.event_id, 65534);
    EXPECT_EQ(report.symbol, "ext4:ext4_sync_file");
    EXPECT_EQ(report.offset, 0x1cU);
    EXPECT_EQ(report.address, 0xffffffffc0123456ULL);
    EXPECT_EQ(report.maxactive, 77U);
    EXPECT_TRUE(report.lifted);
    EXPECT_EQ(report.technique, TRAPLINE_JUMP);
    EXPECT_EQ(report.counters.hits, 10U);
    EXPECT_EQ(report.counters.recorded, 6U);
    EXPECT_EQ(report.counters.missed_maxactive, 99U);
    ASSERT_EQ(report.pending.size(), 2U);
    EXPECT_EQ(report.pending[0].tid, 12U);
    EXPECT_EQ(report.pending[1].tid, 13U);
    EXPECT_EQ(report.pending[1].age, 1'000'000U);
    EXPECT_EQ(std::string(report.pending[1].comm, 16), "sixteen_letters_");
}

TEST(CodecParse, ProbeWithWrongCountersPendingKindOrTechnique) {
    const auto with = [](std::size_t counter_bytes, std::size_t pending_bytes, std::uint8_t kind,
                         std::uint8_t technique = TRAPLINE_FTRACE) {
        const std::vector<std::uint8_t> zeros(512);
        Message m = empty_answer(TRAPLINE_C_PROBE_DUMP);
        add_nest(m.get(), TRAPLINE_A_PROBE, [&] {
            add<std::uint8_t>(m.get(), TRAPLINE_P_KIND, kind);
            add<std::uint16_t>(m.get(), TRAPLINE_P_EVENT_ID, 1);
            add<std::uint64_t>(m.get(), TRAPLINE_P_ADDRESS, 1);
            add<std::uint8_t>(m.get(), TRAPLINE_P_TECHNIQUE, technique);
            nla_put(m.get(), TRAPLINE_P_COUNTERS, static_cast<int>(counter_bytes), zeros.data());
            nla_put(m.get(), TRAPLINE_P_PENDING_CALLS, static_cast<int>(pending_bytes),
                    zeros.data());
        });
        return error_of([&] { parse_probe(exact(m.get()).header()); });
    };
    constexpr std::size_t all = sizeof(trapline_counters);
    EXPECT_EQ(with(all, sizeof(trapline_pending), TRAPLINE_CALL), "no error");
    EXPECT_EQ(with(all, 0, TRAPLINE_CALL), "no error");
    EXPECT_EQ(with(all - 8, 0, TRAPLINE_CALL),
              "the module's answer has a COUNTERS of 96 bytes instead of 104");
    EXPECT_EQ(with(all + 8, 0, TRAPLINE_CALL),
              "the module's answer has a COUNTERS of 112 bytes instead of 104");
    EXPECT_EQ(with(all, sizeof(trapline_pending) - 4, TRAPLINE_CALL),
              "the module's answer has a PENDING_CALLS of 28 bytes, not a multiple of 32");
    EXPECT_EQ(with(all, 0, TRAPLINE_KINDS),
              "the module's answer has a probe of kind 3, which is unknown here");
    EXPECT_EQ(with(all, 0, TRAPLINE_CALL, TRAPLINE_TECHNIQUES),
              "the module's answer has a probe of technique 4, which is unknown here");
}

TEST(CodecParse, ClockGeometrySession) {
    const ClockAnchor clock = parse_clock(exact(clock_answer().get()).header());
    EXPECT_EQ(clock.ticks, 11U);
    EXPECT_EQ(clock.monotonic_ns, 22U);
    EXPECT_EQ(clock.realtime_ns, 33U);

    const SessionGeometry geometry = parse_geometry(exact(geometry_answer().get()).header());
    EXPECT_EQ(geometry.ring_size, 1U << 20);
    EXPECT_EQ(geometry.chunk_size, 65536U);
    EXPECT_EQ(geometry.cpus, 8U);
    EXPECT_EQ(geometry.maxactive, 500U);

    const SessionReport session = parse_session(exact(session_answer().get()).header());
    EXPECT_EQ(session.number, 77U);
    EXPECT_EQ(session.tgid, 4711U);
    EXPECT_EQ(session.comm, "trapline");
    EXPECT_EQ(session.uid, 1000U);
    EXPECT_TRUE(session.started);
    EXPECT_FALSE(session.own);
    EXPECT_EQ(session.probes, 3U);
    EXPECT_EQ(session.ring_size, 65536U);
    EXPECT_EQ(session.recorded, 1ULL << 40);
    EXPECT_EQ(session.lost, 5U);
    EXPECT_EQ(session.silenced_ns, 12'345'678'901U);
    EXPECT_EQ(session.ended, TRAPLINE_ENDED_LIMIT);
}

TEST(CodecParse, Site) {
    const SiteBytes site = parse_site(exact(site_answer(16, 16).get()).header());
    EXPECT_EQ(site.address, 0xffffffff81000000ULL);
    EXPECT_EQ(site.before.size(), 16U);
    EXPECT_TRUE(site.restored());
    EXPECT_FALSE(parse_site(exact(site_answer(16, 0).get()).header()).restored());
    EXPECT_FALSE(parse_site(exact(site_answer(0, 0).get()).header()).restored());
    EXPECT_EQ(error_of([] { parse_site(exact(site_answer(17, 16).get()).header()); }),
              "the module's answer has 17 bytes of a site instead of 16");
}

TEST(CodecParse, WhatIsMissingIsNamed) {
    const Message m = empty_answer(TRAPLINE_C_INFO);
    const Answer answer = exact(m.get());
    EXPECT_EQ(error_of([&] { parse_info(answer.header()); }), "the module's answer lacks ABI");
    EXPECT_EQ(error_of([&] { parse_geometry(answer.header()); }),
              "the module's answer lacks RING_SIZE");
    EXPECT_EQ(error_of([&] { parse_verdicts(answer.header()); }),
              "the module's answer lacks VERDICTS");
    EXPECT_EQ(error_of([&] { parse_clock(answer.header()); }), "the module's answer lacks TICKS");
    EXPECT_EQ(error_of([&] { parse_probe(answer.header()); }), "the module's answer lacks PROBE");
    EXPECT_EQ(error_of([&] { parse_session(answer.header()); }),
              "the module's answer lacks SESSION");
    EXPECT_EQ(error_of([] { parse_clock(nullptr); }), "the module's answer is empty");
}

TEST(CodecParse, StringsWithoutANulEndWithTheirAttribute) {
    Message m = info_answer();
    Message raw = empty_answer(TRAPLINE_C_INFO);
    // All attributes again, but VERSION as five bytes without a NUL.
    const auto* at = static_cast<const nlattr*>(
        genlmsg_attrdata(static_cast<genlmsghdr*>(nlmsg_data(nlmsg_hdr(m.get()))), 0));
    int rest = genlmsg_attrlen(static_cast<genlmsghdr*>(nlmsg_data(nlmsg_hdr(m.get()))), 0);
    for (; nla_ok(at, rest) != 0; at = nla_next(at, &rest)) {
        const bool version = nla_type(at) == TRAPLINE_A_VERSION;
        nla_put(raw.get(), nla_type(at), version ? 5 : nla_len(at), nla_data(at));
    }
    EXPECT_EQ(parse_info(exact(raw.get()).header()).version, "0.1.0");
}

// Every cut and thousands of mangled copies: an Error or an answer, nothing else (run this
// with a sanitizer).
TEST(CodecParse, CutAndMangledAnswers) {
    struct Case {
        Message message;
        std::function<void(const nlmsghdr*)> parse;
    };
    std::vector<Case> cases;
    cases.push_back({info_answer(), [](const nlmsghdr* h) { parse_info(h); }});
    cases.push_back({verdicts_answer(), [](const nlmsghdr* h) { parse_verdicts(h); }});
    cases.push_back({probe_answer(), [](const nlmsghdr* h) { parse_probe(h); }});
    cases.push_back({session_answer(), [](const nlmsghdr* h) { parse_session(h); }});
    cases.push_back({site_answer(16, 16), [](const nlmsghdr* h) { parse_site(h); }});
    cases.push_back({clock_answer(), [](const nlmsghdr* h) { parse_clock(h); }});
    cases.push_back({geometry_answer(), [](const nlmsghdr* h) { parse_geometry(h); }});

    std::mt19937 random(1);
    for (const Case& one : cases) {
        const nlmsghdr* header = nlmsg_hdr(one.message.get());
        const auto* begin = reinterpret_cast<const std::byte*>(header);
        const std::vector<std::byte> whole(begin, begin + header->nlmsg_len);
        int refused = 0;
        const auto attempt = [&](std::vector<std::byte> bytes) {
            const auto length = static_cast<std::uint32_t>(bytes.size());
            std::memcpy(bytes.data(), &length, sizeof(length));
            const Answer answer{std::span<const std::byte>(bytes)};
            try {
                one.parse(answer.header());
            } catch (const Error&) {
                refused++;
            }
        };
        for (std::size_t length = NLMSG_HDRLEN; length < whole.size(); length++)
            attempt({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        EXPECT_GT(refused, 0);
        for (int i = 0; i < 3000; i++) {
            std::vector<std::byte> bytes = whole;
            for (int flips = 0; flips < 1 + i % 4; flips++)
                bytes[NLMSG_HDRLEN + random() % (bytes.size() - NLMSG_HDRLEN)] =
                    static_cast<std::byte>(random());
            attempt(std::move(bytes));
        }
    }
}

// The attributes of a request, as they lie there.
std::vector<const nlattr*> attributes(const nlattr* head, int length) {
    std::vector<const nlattr*> found;
    for (; nla_ok(head, length) != 0; head = nla_next(head, &length))
        found.push_back(head);
    EXPECT_EQ(length, 0);
    return found;
}

std::vector<const nlattr*> attributes(const Message& message) {
    auto* generic = static_cast<genlmsghdr*>(nlmsg_data(nlmsg_hdr(message.get())));
    return attributes(genlmsg_attrdata(generic, 0), genlmsg_attrlen(generic, 0));
}

std::vector<const nlattr*> attributes(const nlattr* nest) {
    return attributes(static_cast<const nlattr*>(nla_data(nest)), nla_len(nest));
}

bool marked_nested(const nlattr* attribute) {
    return (attribute->nla_type & NLA_F_NESTED) != 0;
}

std::uint64_t number(const nlattr* attribute) {
    std::uint64_t value = 0;
    std::memcpy(&value, nla_data(attribute), static_cast<std::size_t>(nla_len(attribute)));
    return value;
}

TEST(CodecBuild, EveryRequestNamesItsSession) {
    const Message m = new_request(family, TRAPLINE_C_START, session_fd);
    const nlmsghdr* header = nlmsg_hdr(m.get());
    EXPECT_EQ(header->nlmsg_type, family);
    const auto* generic = static_cast<const genlmsghdr*>(nlmsg_data(nlmsg_hdr(m.get())));
    EXPECT_EQ(generic->cmd, TRAPLINE_C_START);
    EXPECT_EQ(generic->version, TRAPLINE_FAMILY_VERSION);
    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(nla_type(found[0]), TRAPLINE_A_FD);
    ASSERT_EQ(nla_len(found[0]), 4);
    EXPECT_EQ(number(found[0]), static_cast<std::uint64_t>(session_fd));
}

TEST(CodecBuild, Configure) {
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    SessionConfig config;
    config.ring_size = 65536;
    config.maxactive = 40;
    config.tgids = {100, 200};
    config.follow = true;
    config.exclude_tgid = 300;
    put_configure(m.get(), config);

    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 6U);
    EXPECT_EQ(nla_type(found[1]), TRAPLINE_A_RING_SIZE);
    EXPECT_EQ(nla_len(found[1]), 8);
    EXPECT_EQ(number(found[1]), 65536U);
    EXPECT_EQ(nla_type(found[2]), TRAPLINE_A_MAXACTIVE);
    EXPECT_EQ(nla_len(found[2]), 4);
    EXPECT_EQ(number(found[2]), 40U);
    EXPECT_EQ(nla_type(found[3]), TRAPLINE_A_TGIDS);
    EXPECT_TRUE(marked_nested(found[3]));
    const auto tgids = attributes(found[3]);
    ASSERT_EQ(tgids.size(), 2U);
    EXPECT_EQ(nla_type(tgids[1]), TRAPLINE_A_TGID);
    EXPECT_EQ(nla_len(tgids[1]), 4);
    EXPECT_EQ(number(tgids[1]), 200U);
    EXPECT_EQ(nla_type(found[4]), TRAPLINE_A_FOLLOW);
    EXPECT_EQ(nla_len(found[4]), 0);
    EXPECT_EQ(nla_type(found[5]), TRAPLINE_A_EXCLUDE_TGID);
    EXPECT_EQ(number(found[5]), 300U);
}

TEST(CodecBuild, ConfigureWithoutWishesSaysNothing) {
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    put_configure(m.get(), {});
    EXPECT_EQ(attributes(m).size(), 1U);
}

TEST(CodecBuild, ConfigureWithFilters) {
    SessionConfig config;
    config.only_cpus = {0, 5};
    config.only_uids = {1000};
    config.only_comms = {"dd", "123456789012345"};
    config.only_cgroups = {7};
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    put_configure(m.get(), config);
    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 5U);
    EXPECT_EQ(nla_type(found[1]), TRAPLINE_A_ONLY_CPUS);
    ASSERT_EQ(nla_len(found[1]), 8);
    EXPECT_EQ(number(found[1]), std::uint64_t{5} << 32);
    EXPECT_EQ(nla_type(found[2]), TRAPLINE_A_ONLY_UIDS);
    EXPECT_EQ(number(found[2]), 1000U);
    EXPECT_EQ(nla_type(found[3]), TRAPLINE_A_ONLY_COMMS);
    ASSERT_EQ(nla_len(found[3]), 32);
    EXPECT_EQ(std::memcmp(nla_data(found[3]),
                          "dd\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                          "123456789012345",
                          32),
              0);
    EXPECT_EQ(nla_type(found[4]), TRAPLINE_A_ONLY_CGROUPS);
    EXPECT_EQ(number(found[4]), 7U);
}

TEST(CodecBuild, Limits) {
    SessionConfig config;
    config.limit = 1ULL << 40;
    config.guard = 25;
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    put_configure(m.get(), config);
    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(nla_type(found[1]), TRAPLINE_A_LIMIT);
    EXPECT_EQ(number(found[1]), 1ULL << 40);
    EXPECT_EQ(nla_type(found[2]), TRAPLINE_A_GUARD);
    EXPECT_EQ(number(found[2]), 25U);
}

TEST(CodecBuild, ConfigureWithTooManyFilters) {
    SessionConfig config;
    config.only_comms.assign(TRAPLINE_ONLY_MAX, "a");
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    EXPECT_NO_THROW(put_configure(m.get(), config));
    config.only_comms.emplace_back("a");
    const Message n = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    EXPECT_EQ(error_of([&] { put_configure(n.get(), config); }),
              "cannot filter for 65 users, names or cgroups: 64 of each at most");
}

TEST(CodecBuild, ConfigureWithTooManyProcesses) {
    SessionConfig config;
    config.tgids.assign(TRAPLINE_TGIDS_MAX, 1);
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd, 16384);
    EXPECT_NO_THROW(put_configure(m.get(), config));
    config.tgids.push_back(1);
    const Message n = new_request(family, TRAPLINE_C_CONFIGURE, session_fd, 16384);
    EXPECT_EQ(error_of([&] { put_configure(n.get(), config); }),
              "cannot trace 1025 processes: a session filters for at most 1024");
}

TEST(CodecBuild, MetadataEventIdPending) {
    const Message m = new_request(family, TRAPLINE_C_METADATA, session_fd, 40000);
    const std::string piece(TRAPLINE_METADATA_PIECE, 'x');
    put_metadata(m.get(), 5, piece);
    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(nla_type(found[1]), TRAPLINE_A_OFFSET);
    EXPECT_EQ(nla_len(found[1]), 8);
    EXPECT_EQ(nla_type(found[2]), TRAPLINE_A_DATA);
    EXPECT_EQ(nla_len(found[2]), TRAPLINE_METADATA_PIECE);

    const Message n = new_request(family, TRAPLINE_C_PROBE_DUMP, session_fd);
    put_event_id(n.get(), 65534);
    put_pending(n.get());
    put_session_number(n.get(), 0xfffffffe);
    const auto others = attributes(n);
    ASSERT_EQ(others.size(), 4U);
    EXPECT_EQ(nla_type(others[1]), TRAPLINE_A_EVENT_ID);
    EXPECT_EQ(nla_len(others[1]), 2);
    EXPECT_EQ(number(others[1]), 65534U);
    EXPECT_EQ(nla_type(others[2]), TRAPLINE_A_PENDING);
    EXPECT_EQ(nla_type(others[3]), TRAPLINE_A_SESSION_NUMBER);
    EXPECT_EQ(nla_len(others[3]), 4);
    EXPECT_EQ(number(others[3]), 0xfffffffeU);

    const Message small = new_request(family, TRAPLINE_C_METADATA, session_fd, 128);
    EXPECT_THROW(put_metadata(small.get(), 0, piece), Error);
}

ProbeRequest probe(std::uint16_t id, std::size_t instructions) {
    ProbeRequest request;
    request.event_id = id;
    request.kind = TRAPLINE_CALL;
    request.symbol = "vfs_read";
    request.entry_program.resize(instructions);
    for (tl_insn& insn : request.entry_program)
        insn.imm = id;
    request.return_program.resize(3);
    return request;
}

std::vector<const ProbeRequest*> pointers(const std::vector<ProbeRequest>& probes) {
    std::vector<const ProbeRequest*> out;
    out.reserve(probes.size());
    for (const ProbeRequest& one : probes)
        out.push_back(&one);
    return out;
}

TEST(CodecBuild, Probe) {
    ProbeRequest request = probe(3, 2);
    request.offset = 0x1c;
    request.address = 0xffffffff81000000ULL;
    request.maxactive = 9;
    request.label = "label";
    const ProbeRequest* one = &request;
    const Message m = new_request(family, TRAPLINE_C_PROBE_ADD, session_fd);
    EXPECT_EQ(put_probes(m.get(), {&one, 1}), 1U);

    const auto found = attributes(m);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(nla_type(found[1]), TRAPLINE_A_PROBES);
    EXPECT_TRUE(marked_nested(found[1]));
    const auto nests = attributes(found[1]);
    ASSERT_EQ(nests.size(), 1U);
    EXPECT_EQ(nla_type(nests[0]), TRAPLINE_A_PROBE);
    EXPECT_TRUE(marked_nested(nests[0]));
    const auto in = attributes(nests[0]);
    ASSERT_EQ(in.size(), 9U);
    const int types[] = {TRAPLINE_P_KIND,   TRAPLINE_P_EVENT_ID,      TRAPLINE_P_SYMBOL,
                         TRAPLINE_P_OFFSET, TRAPLINE_P_ADDRESS,       TRAPLINE_P_MAXACTIVE,
                         TRAPLINE_P_LABEL,  TRAPLINE_P_ENTRY_PROGRAM, TRAPLINE_P_RETURN_PROGRAM};
    const int lengths[] = {1, 2, 9, 8, 8, 4, 5, 32, 48};
    for (std::size_t i = 0; i < in.size(); i++) {
        EXPECT_EQ(nla_type(in[i]), types[i]);
        EXPECT_EQ(nla_len(in[i]), lengths[i]);
    }
    EXPECT_EQ(number(in[0]), static_cast<std::uint64_t>(TRAPLINE_CALL));
    EXPECT_EQ(number(in[1]), 3U);
    EXPECT_STREQ(static_cast<const char*>(nla_data(in[2])), "vfs_read");
    EXPECT_EQ(number(in[3]), 0x1cU);
    EXPECT_EQ(number(in[4]), 0xffffffff81000000ULL);
    EXPECT_EQ(number(in[5]), 9U);
    EXPECT_EQ(std::memcmp(nla_data(in[6]), "label", 5), 0);
    EXPECT_EQ(std::memcmp(nla_data(in[7]), request.entry_program.data(), 32), 0);
}

TEST(CodecBuild, AtMostABatchOfProbes) {
    std::vector<ProbeRequest> probes;
    for (std::uint16_t id = 1; id <= TRAPLINE_BATCH_MAX + 10; id++)
        probes.push_back(probe(id, 1));
    const Message m = new_request(family, TRAPLINE_C_PROBE_ADD, session_fd, probes_message_size);
    EXPECT_EQ(put_probes(m.get(), pointers(probes)), static_cast<std::size_t>(TRAPLINE_BATCH_MAX));
    EXPECT_EQ(attributes(attributes(m)[1]).size(), static_cast<std::size_t>(TRAPLINE_BATCH_MAX));
}

// 256 probes of 20 instructions are more than the 16 bits of an attribute's length can say.
TEST(CodecBuild, ProbesStopWhereTheAttributeIsFull) {
    for (const std::size_t instructions : {20U, 37U, 61U, 250U}) {
        std::vector<ProbeRequest> probes;
        for (std::uint16_t id = 1; id <= TRAPLINE_BATCH_MAX; id++)
            probes.push_back(probe(id, instructions));
        const Message m =
            new_request(family, TRAPLINE_C_PROBE_ADD, session_fd, probes_message_size);
        const std::size_t count = put_probes(m.get(), pointers(probes));
        EXPECT_GT(count, 1U);
        EXPECT_LT(count, probes.size());
        const auto top = attributes(m);
        ASSERT_EQ(top.size(), 2U);
        const auto nests = attributes(top[1]);
        ASSERT_EQ(nests.size(), count);
        for (std::size_t i = 0; i < count; i++) {
            const auto in = attributes(nests[i]);
            ASSERT_EQ(in.size(), 5U);
            EXPECT_EQ(number(in[1]), i + 1);
            EXPECT_EQ(nla_len(in[3]), static_cast<int>(instructions * sizeof(tl_insn)));
        }
        // One more would not have gone in.
        EXPECT_GT(top[1]->nla_len + nests[0]->nla_len, 0xffff);
    }
}

TEST(CodecBuild, AProbeThatNeverFitsIsAnError) {
    const std::vector<ProbeRequest> probes = {probe(1, 5000)};
    const Message m = new_request(family, TRAPLINE_C_PROBE_ADD, session_fd, probes_message_size);
    EXPECT_EQ(error_of([&] { put_probes(m.get(), pointers(probes)); }),
              "cannot plant the probe on vfs_read: it does not fit into a netlink message, with "
              "5000 and 3 instructions");
}

TEST(CodecBuild, TheAttributeToBlameIsFoundByItsOffset) {
    const Message m = new_request(family, TRAPLINE_C_CONFIGURE, session_fd);
    SessionConfig config;
    config.ring_size = 1;
    config.tgids = {1, 2, 3};
    put_configure(m.get(), config);
    const nlmsghdr* request = nlmsg_hdr(m.get());
    const auto offset_of = [&](const nlattr* attribute) {
        return static_cast<std::uint32_t>(reinterpret_cast<const char*>(attribute) -
                                          reinterpret_cast<const char*>(request));
    };
    const auto found = attributes(m);
    EXPECT_EQ(attribute_at(request, offset_of(found[0])), "FD");
    EXPECT_EQ(attribute_at(request, offset_of(found[1])), "RING_SIZE");
    EXPECT_EQ(attribute_at(request, offset_of(attributes(found[2])[1])), "TGIDS");
    EXPECT_EQ(attribute_at(request, 0), "");
    EXPECT_EQ(attribute_at(request, request->nlmsg_len), "");
    EXPECT_EQ(attribute_at(request, 0xffffffff), "");
}

} // namespace
} // namespace trapline
