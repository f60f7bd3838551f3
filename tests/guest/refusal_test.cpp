// SPDX-License-Identifier: GPL-2.0
// Requests that must be refused: the right errno, words, and nothing left behind; a second
// session that runs meanwhile stays exact.
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <memory>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <set>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "kernel_text.h"
#include "machine.h"
#include "symbols/kallsyms.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

template <class T>
void put_attr(const Message& message, int type, T value) {
    if (nla_put(message.get(), type, sizeof(value), &value) < 0)
        throw Error("no room in a message");
}

// Four bytes that are no attribute.
void append_garbage(const Message& message) {
    std::uint32_t garbage = 0xffffff;
    nlmsg_append(message.get(), &garbage, sizeof(garbage), NLMSG_ALIGNTO);
}

class RefusalTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        SessionConfig config;
        config.ring_size = 8U << 20; // for a slow machine
        witness_ = std::make_unique<Traced>(config);
        witness_->add(entry_of(1, "write_null", store_args({2})));
        witness_->add(call_or_entry_of(2, "write_null", store_args({2})));
        witness_->start();
        end_ = false;
        caller_ = std::thread([] {
            NullWriter writer;
            while (!end_) {
                writer.write(10);
                usleep(2000);
            }
            calls_ = writer.calls();
        });
    }

    static void TearDownTestSuite() {
        end_ = true;
        caller_.join();
        witness_->stop();
        witness_->drain();
        witness_->expect_exact();
        EXPECT_GT(calls_, 0U);
        for (std::uint16_t id = 1; id <= 2; id++) {
            EXPECT_EQ(witness_->counters(id).hits, calls_);
            EXPECT_EQ(witness_->counters(id).recorded, calls_);
        }
        witness_.reset();
        EXPECT_TRUE(none_planted());
    }

    void TearDown() override {
        const std::size_t expected = listed(2, 1) + session_planted_;
        EXPECT_TRUE(wait_for([=] { return planted().size() == expected; }, listed(0, 1000)))
            << planted().size() << " are planted, not " << expected;
    }

    Message request(trapline_command command, std::size_t size = 4096) {
        return new_request(channel_.family(), command, session_.fd(), size);
    }

    // A message without FD.
    Message bare(int command) {
        Message message(nlmsg_alloc_size(4096));
        genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, channel_.family(), 0, 0,
                    static_cast<std::uint8_t>(command), TRAPLINE_FAMILY_VERSION);
        return message;
    }

    void expect_refused(Message message, int code, std::string_view words) {
        const Refusal refused = refusal(channel_, std::move(message));
        EXPECT_EQ(refused.code, code) << errno_text(refused.code);
        EXPECT_NE(refused.text.find(words), std::string::npos) << refused.text;
        if (!words.empty()) {
            EXPECT_FALSE(refused.text.empty());
        }
    }

    void configure(std::uint64_t size = TRAPLINE_RING_MIN) {
        SessionConfig config;
        config.ring_size = size;
        session_.configure(config);
    }

    Verdict add(const ProbeRequest& probe) { return session_.add_probes({&probe, 1}).front(); }

    void expect_verdict(const ProbeRequest& probe, int code, std::string_view words) {
        const Verdict verdict = add(probe);
        EXPECT_EQ(verdict.error, code) << errno_text(verdict.error);
        EXPECT_NE(verdict.text.find(words), std::string::npos) << verdict.text;
        EXPECT_FALSE(verdict.text.empty());
        EXPECT_EQ(verdict.event_id, probe.event_id);
    }

    static std::unique_ptr<Traced> witness_;
    static std::thread caller_;
    static std::atomic<bool> end_;
    static std::uint64_t calls_;

    Session session_;
    Channel channel_;
    std::size_t session_planted_ = 0;
};

std::unique_ptr<Traced> RefusalTest::witness_;
std::thread RefusalTest::caller_;
std::atomic<bool> RefusalTest::end_;
std::uint64_t RefusalTest::calls_;

constexpr trapline_command every_command[] = {
    TRAPLINE_C_INFO,         TRAPLINE_C_CONFIGURE, TRAPLINE_C_METADATA, TRAPLINE_C_PROBE_ADD,
    TRAPLINE_C_PROBE_DELETE, TRAPLINE_C_START,     TRAPLINE_C_STOP,     TRAPLINE_C_SYNC,
    TRAPLINE_C_SITE_READ,    TRAPLINE_C_MARK,
};

TEST_F(RefusalTest, UnknownCommands) {
    for (const int command : {0, TRAPLINE_C_MAX + 1, 200})
        expect_refused(bare(command), EOPNOTSUPP, "");
    // A dump is no request, and a request no dump.
    expect_refused(request(TRAPLINE_C_PROBE_DUMP), EOPNOTSUPP, "");
    EXPECT_EQ(refusal([&] { channel_.dump(request(TRAPLINE_C_START), "test"); }).code, EOPNOTSUPP);
}

TEST_F(RefusalTest, RequestsWithoutASession) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const int closed = dup(null.get());
    close(closed);
    const int path = open("/dev/trapline", O_PATH);
    for (const trapline_command command : every_command) {
        SCOPED_TRACE(command);
        expect_refused(bare(command), EINVAL, "FD is missing");
        for (const int fd : {-1, closed, 1'000'000, path})
            expect_refused(new_request(channel_.family(), command, fd), EBADF,
                           "not an open descriptor");
        for (const int fd : {null.get(), pair[0], 0})
            expect_refused(new_request(channel_.family(), command, fd), ENOTTY, "no session");
    }
    for (const trapline_command command : {TRAPLINE_C_PROBE_DUMP, TRAPLINE_C_SESSION_LIST}) {
        SCOPED_TRACE(command);
        const auto dump = [&](int fd) {
            return refusal(
                [&] { channel_.dump(new_request(channel_.family(), command, fd), "test"); });
        };
        EXPECT_EQ(dump(-1).code, EBADF);
        EXPECT_EQ(dump(null.get()).code, ENOTTY);
        EXPECT_NE(dump(null.get()).text.find("no session"), std::string::npos);
        EXPECT_EQ(refusal([&] { channel_.dump(bare(command), "test"); }).code, EINVAL);
    }
    for (const int fd : {pair[0], pair[1], path})
        close(fd);
}

TEST_F(RefusalTest, WhatAnUnconfiguredSessionCannotDo) {
    for (const trapline_command command : {TRAPLINE_C_METADATA, TRAPLINE_C_PROBE_ADD,
                                           TRAPLINE_C_START, TRAPLINE_C_STOP, TRAPLINE_C_SYNC})
        expect_refused(request(command), ENOTCONN, "not configured");
    const ProbeRequest probe = entry_of(1, "write_null");
    EXPECT_EQ(refusal([&] { add(probe); }).code, ENOTCONN);
    EXPECT_TRUE(session_.probes().empty());
}

TEST_F(RefusalTest, AttributesThatThePolicyForbids) {
    const std::pair<int, std::size_t> wrong_lengths[] = {
        {TRAPLINE_A_RING_SIZE, 4},   {TRAPLINE_A_RING_SIZE, 9},    {TRAPLINE_A_MAXACTIVE, 8},
        {TRAPLINE_A_FOLLOW, 4},      {TRAPLINE_A_EXCLUDE_TGID, 2}, {TRAPLINE_A_EVENT_ID, 4},
        {TRAPLINE_A_OFFSET, 4},      {TRAPLINE_A_OFFSET, 0},       {TRAPLINE_A_OVERWRITE, 1},
        {TRAPLINE_A_WAKE_CHUNKS, 1},
    };
    const std::set<int> flags = {TRAPLINE_A_FOLLOW, TRAPLINE_A_OVERWRITE, TRAPLINE_A_WAKE_CHUNKS};
    const std::uint8_t zeros[32] = {};
    for (const auto& [type, length] : wrong_lengths) {
        SCOPED_TRACE(fmt::format("{} of {}", type, length));
        Message message = request(TRAPLINE_C_CONFIGURE);
        nla_put(message.get(), type, static_cast<int>(length), zeros);
        expect_refused(std::move(message), flags.contains(type) ? ERANGE : EINVAL, "ttribute");
    }
    // Unknown ones, those that only answers have, and the one that pads.
    for (const int type : {int{TRAPLINE_A_ABI}, int{TRAPLINE_A_VERSION}, int{TRAPLINE_A_TICKS},
                           int{TRAPLINE_A_SESSION}, TRAPLINE_A_MAX + 1, 1000}) {
        SCOPED_TRACE(type);
        Message message = request(TRAPLINE_C_CONFIGURE);
        put_attr(message, type, std::uint64_t{1});
        expect_refused(std::move(message), EINVAL, "ttribute");
    }
    // An FD of 8 bytes.
    Message message = bare(TRAPLINE_C_CONFIGURE);
    put_attr(message, TRAPLINE_A_FD, std::uint64_t{static_cast<std::uint32_t>(session_.fd())});
    expect_refused(std::move(message), EINVAL, "");
    // Event ids.
    for (const std::uint16_t id : {0, TL_ID_MARK, 65535}) {
        message = request(TRAPLINE_C_PROBE_DELETE);
        put_attr(message, TRAPLINE_A_EVENT_ID, id);
        expect_refused(std::move(message), ERANGE, "");
    }
    configure(); // none of these had an effect
}

TEST_F(RefusalTest, MessagesThatEndTooEarlyOrTooLate) {
    configure();
    for (const int cut : {1, 2, 3}) {
        Message message = request(TRAPLINE_C_START);
        nlmsghdr* header = nlmsg_hdr(message.get());
        header->nlmsg_len -= static_cast<std::uint32_t>(cut);
        expect_refused(std::move(message), EINVAL, "");
    }
    { // Shorter than its own header.
        Message message = request(TRAPLINE_C_START);
        nlmsg_hdr(message.get())->nlmsg_len = NLMSG_HDRLEN + 2;
        expect_refused(std::move(message), EINVAL, "");
    }
    { // An attribute that claims to be longer than the message.
        Message message = request(TRAPLINE_C_START);
        auto* last = static_cast<nlattr*>(nlmsg_data(nlmsg_hdr(message.get()))) + 1;
        last->nla_len = 400;
        expect_refused(std::move(message), EINVAL, "");
    }
    { // Bytes behind the last attribute.
        Message message = request(TRAPLINE_C_START);
        nlmsghdr* header = nlmsg_hdr(message.get());
        std::memset(reinterpret_cast<char*>(header) + header->nlmsg_len, 0xff, 3);
        header->nlmsg_len += 3;
        expect_refused(std::move(message), EINVAL, "");
    }
    EXPECT_FALSE(session_.sessions().back().started);
}

TEST_F(RefusalTest, Configurations) {
    const auto with = [&](int type, auto value) {
        Message message = request(TRAPLINE_C_CONFIGURE);
        put_attr(message, type, value);
        return message;
    };
    for (const std::uint64_t size :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{63 << 10},
          std::uint64_t{65 << 10}, std::uint64_t{3 << 20}, std::uint64_t{2} << 30,
          ~std::uint64_t{0}, std::uint64_t{1} << 63})
        expect_refused(with(TRAPLINE_A_RING_SIZE, size), ERANGE, "from 64 KiB to 1 GiB");
    expect_refused(with(TRAPLINE_A_RING_SIZE, std::uint64_t{1} << 30), E2BIG, "1/16 of RAM");
    expect_refused(with(TRAPLINE_A_RING_SIZE, 2 * session_.info().ring_max), E2BIG, "1/16 of RAM");
    for (const std::uint32_t maxactive : {0U, 65537U, 0xffffffffU})
        expect_refused(with(TRAPLINE_A_MAXACTIVE, maxactive), ERANGE, "1 to 65536");
    for (const std::uint32_t pid : {0U, 4'000'000U, 0xffffffffU})
        expect_refused(with(TRAPLINE_A_EXCLUDE_TGID, pid), ESRCH, "no such process");

    Message message = request(TRAPLINE_C_CONFIGURE);
    nla_put_flag(message.get(), TRAPLINE_A_FOLLOW);
    expect_refused(std::move(message), EINVAL, "TGIDS is missing");

    const auto with_tgids = [&](const std::vector<std::uint32_t>& tgids, int nested, int type) {
        Message made = request(TRAPLINE_C_CONFIGURE, 32768);
        nlattr* nest = nla_nest_start(made.get(), nested | TRAPLINE_A_TGIDS);
        for (const std::uint32_t tgid : tgids)
            put_attr(made, type, tgid);
        nla_nest_end(made.get(), nest);
        if (nested == 0) // libnl set it all the same
            nest->nla_type &= static_cast<std::uint16_t>(~NLA_F_NESTED);
        return made;
    };
    const auto self = static_cast<std::uint32_t>(getpid());
    expect_refused(with_tgids({self, 4'000'000}, NLA_F_NESTED, TRAPLINE_A_TGID), ESRCH,
                   "no such process");
    expect_refused(with_tgids({self}, NLA_F_NESTED, TRAPLINE_A_FD), EINVAL, "TGID attributes only");
    expect_refused(with_tgids({self}, 0, TRAPLINE_A_TGID), EINVAL, "NESTED");
    expect_refused(
        with_tgids(std::vector<std::uint32_t>(1025, self), NLA_F_NESTED, TRAPLINE_A_TGID), E2BIG,
        "1024");
    { // A TGID of the wrong length, and bytes that are no attribute.
        message = request(TRAPLINE_C_CONFIGURE);
        nlattr* nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_TGIDS);
        put_attr(message, TRAPLINE_A_TGID, std::uint16_t{1});
        nla_nest_end(message.get(), nest);
        expect_refused(std::move(message), EINVAL, "TGID");
    }

    EXPECT_EQ(session_.sessions().back().ring_size, 0U) << "still not configured";
    configure();
    expect_refused(request(TRAPLINE_C_CONFIGURE), EBUSY, "configured already");
}

TEST_F(RefusalTest, BytesBehindTheAttributesOfANest) {
    const auto self = static_cast<std::uint32_t>(getpid());
    Message message = request(TRAPLINE_C_CONFIGURE);
    nlattr* nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_TGIDS);
    put_attr(message, TRAPLINE_A_TGID, self);
    append_garbage(message);
    nla_nest_end(message.get(), nest);
    expect_refused(std::move(message), EINVAL, "");
    if (session_.sessions().back().ring_size == 0)
        configure();

    message = request(TRAPLINE_C_PROBE_ADD);
    nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBES);
    append_garbage(message);
    nla_nest_end(message.get(), nest);
    expect_refused(std::move(message), EINVAL, "");
}

TEST_F(RefusalTest, StartsAndStopsOutOfTurn) {
    configure();
    expect_refused(request(TRAPLINE_C_STOP), EALREADY, "not started");
    session_.start();
    expect_refused(request(TRAPLINE_C_START), EALREADY, "started already");
    session_.stop();
    expect_refused(request(TRAPLINE_C_STOP), EALREADY, "not started");
}

TEST_F(RefusalTest, Metadata) {
    configure();
    const auto piece = [&](std::uint64_t offset, std::size_t bytes) {
        Message message = request(TRAPLINE_C_METADATA, 65536);
        put_attr(message, TRAPLINE_A_OFFSET, offset);
        const std::string data(bytes, 'm');
        nla_put(message.get(), TRAPLINE_A_DATA, static_cast<int>(bytes), data.data());
        return message;
    };
    expect_refused(request(TRAPLINE_C_METADATA), EINVAL, "OFFSET is missing");
    Message message = request(TRAPLINE_C_METADATA);
    put_attr(message, TRAPLINE_A_OFFSET, std::uint64_t{0});
    expect_refused(std::move(message), EINVAL, "DATA is missing");
    expect_refused(piece(0, 0), EINVAL, "DATA is empty");
    expect_refused(piece(1, 100), EINVAL, "in order");
    expect_refused(piece(0, TRAPLINE_METADATA_PIECE + 1), ERANGE, "");
    EXPECT_EQ(refusal(channel_, piece(0, 100)).code, 0);
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{99}, std::uint64_t{101},
                                       ~std::uint64_t{0}, (std::uint64_t{1} << 32) + 100})
        expect_refused(piece(offset, 100), EINVAL, "in order");
    std::uint64_t at = 100;
    for (; at + TRAPLINE_METADATA_PIECE <= TRAPLINE_METADATA_MAX; at += TRAPLINE_METADATA_PIECE)
        ASSERT_EQ(refusal(channel_, piece(at, TRAPLINE_METADATA_PIECE)).code, 0);
    expect_refused(piece(at, TRAPLINE_METADATA_PIECE), E2BIG, "64 MiB");
    EXPECT_EQ(refusal(channel_, piece(at, TRAPLINE_METADATA_MAX - at)).code, 0);
    at = TRAPLINE_METADATA_MAX;
    expect_refused(piece(at, 1), E2BIG, "64 MiB");
    session_.start();
    expect_refused(piece(at, 1), EBUSY, "before the session is started");
    session_.stop();
    expect_refused(piece(at, 1), EBUSY, "before the session is started");
}

TEST_F(RefusalTest, ProbesThatAreNotThere) {
    configure();
    for (const trapline_command command : {TRAPLINE_C_PROBE_DELETE, TRAPLINE_C_SITE_READ}) {
        Message message = request(command);
        put_attr(message, TRAPLINE_A_EVENT_ID, std::uint16_t{77});
        expect_refused(std::move(message), ENOENT, "no probe of that event id");
    }
    expect_refused(request(TRAPLINE_C_SITE_READ), EINVAL, "EVENT_ID is missing");
    expect_refused(request(TRAPLINE_C_PROBE_ADD), EINVAL, "PROBES is missing");
}

TEST_F(RefusalTest, Marks) {
    configure();
    session_.start();
    const auto text = [&](std::string_view bytes) {
        Message message = request(TRAPLINE_C_MARK, 8192);
        nla_put(message.get(), TRAPLINE_A_TEXT, static_cast<int>(bytes.size()), bytes.data());
        return message;
    };
    const auto expect_blamed = [&](std::string_view bytes, int code, std::string_view words) {
        expect_refused(text(bytes), code, words);
        std::string told;
        try {
            channel_.request(text(bytes), "test");
        } catch (const ControlError& error) {
            told = error.what();
        }
        EXPECT_NE(told.find(", attribute TEXT)"), std::string::npos) << told;
    };
    expect_refused(request(TRAPLINE_C_MARK), EINVAL, "TEXT is missing");
    expect_blamed("", EINVAL, "empty");
    expect_blamed(std::string(TRAPLINE_MARK_MAX + 1, 'm'), E2BIG, "1024 bytes at most");
    expect_blamed(std::string(5000, 'm'), E2BIG, "1024 bytes at most");
    for (const std::size_t at : {0U, 3U, 6U}) {
        std::string bytes = "a mark!";
        bytes[at] = 0;
        expect_blamed(bytes, EINVAL, "NUL");
    }
    EXPECT_EQ(session_.sessions().back().recorded, 0U);
    EXPECT_EQ(session_.sessions().back().lost, 0U);
    session_.stop();
}

class ProbeRefusalTest : public RefusalTest {
protected:
    void SetUp() override { configure(); }

    // A PROBE_ADD whose only probe `fill` makes.
    Message adding(const std::function<void(const Message&)>& fill,
                   int probe_type = TRAPLINE_A_PROBE) {
        Message message = request(TRAPLINE_C_PROBE_ADD, 65536);
        nlattr* probes = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBES);
        nlattr* probe = nla_nest_start(message.get(), NLA_F_NESTED | probe_type);
        fill(message);
        nla_nest_end(message.get(), probe);
        nla_nest_end(message.get(), probes);
        return message;
    }
};

TEST_F(ProbeRefusalTest, MalformedProbes) {
    const auto good = [](const Message& message) {
        put_attr(message, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
        put_attr(message, TRAPLINE_P_EVENT_ID, std::uint16_t{1});
    };
    for (const std::uint16_t id : {0, TL_ID_MARK, 65535})
        expect_refused(adding([&](const Message& m) {
                           put_attr(m, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
                           put_attr(m, TRAPLINE_P_EVENT_ID, id);
                       }),
                       ERANGE, "");
    expect_refused(adding([&](const Message& m) {
                       put_attr(m, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
                   }),
                   EINVAL, "EVENT_ID is missing");
    expect_refused(adding([&](const Message& m) {
                       put_attr(m, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_KINDS});
                       put_attr(m, TRAPLINE_P_EVENT_ID, std::uint16_t{1});
                   }),
                   ERANGE, "");
    for (const std::uint8_t trigger : {int{TRAPLINE_TRIGGERS}, 255})
        expect_refused(adding([&](const Message& m) {
                           good(m);
                           put_attr(m, TRAPLINE_P_TRIGGER, trigger);
                       }),
                       ERANGE, "");
    expect_refused(adding(good, TRAPLINE_A_VERDICT), EINVAL, "PROBE attributes only");
    // A string without its NUL, and one too long.
    expect_refused(adding([&](const Message& m) {
                       good(m);
                       nla_put(m.get(), TRAPLINE_P_SYMBOL, 10, "write_null");
                   }),
                   EINVAL, "");
    expect_refused(adding([&](const Message& m) {
                       good(m);
                       nla_put_string(m.get(), TRAPLINE_P_SYMBOL, std::string(600, 's').c_str());
                   }),
                   EINVAL, "");
    // Unknown attributes, those of answers, wrong lengths.
    for (const int type :
         {int{TRAPLINE_P_ERROR}, int{TRAPLINE_P_COUNTERS}, TRAPLINE_P_MAX + 1, 300})
        expect_refused(adding([&](const Message& m) {
                           good(m);
                           put_attr(m, type, std::uint32_t{0});
                       }),
                       EINVAL, "");
    expect_refused(adding([&](const Message& m) {
                       good(m);
                       put_attr(m, TRAPLINE_P_OFFSET, std::uint32_t{0});
                   }),
                   EINVAL, "");
    // A nest that ends within an attribute, or is no nest.
    expect_refused(adding([&](const Message& m) {
                       good(m);
                       append_garbage(m);
                   }),
                   EINVAL, "");
    Message message = request(TRAPLINE_C_PROBE_ADD);
    put_attr(message, TRAPLINE_A_PROBES, std::uint32_t{0});
    expect_refused(std::move(message), EINVAL, "NESTED");
    message = request(TRAPLINE_C_PROBE_ADD);
    nlattr* nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBES);
    put_attr(message, TRAPLINE_A_PROBE, std::uint32_t{0});
    nla_nest_end(message.get(), nest);
    expect_refused(std::move(message), EINVAL, "");

    // A malformed one behind a good one: nothing is planted.
    message = request(TRAPLINE_C_PROBE_ADD);
    nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBES);
    for (const std::uint16_t id : {1, 65535}) {
        nlattr* probe = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBE);
        put_attr(message, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
        put_attr(message, TRAPLINE_P_EVENT_ID, id);
        nla_put_string(message.get(), TRAPLINE_P_SYMBOL, "write_null");
        nla_nest_end(message.get(), probe);
    }
    nla_nest_end(message.get(), nest);
    expect_refused(std::move(message), ERANGE, "");
    EXPECT_TRUE(session_.probes().empty());
}

TEST_F(ProbeRefusalTest, MoreProbesThanAMessageMayHave) {
    Message message = request(TRAPLINE_C_PROBE_ADD, 65536);
    nlattr* nest = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBES);
    for (std::uint16_t id = 1; id <= TRAPLINE_BATCH_MAX + 1; id++) {
        nlattr* probe = nla_nest_start(message.get(), NLA_F_NESTED | TRAPLINE_A_PROBE);
        put_attr(message, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
        put_attr(message, TRAPLINE_P_EVENT_ID, id);
        nla_put_string(message.get(), TRAPLINE_P_SYMBOL, "write_null");
        nla_nest_end(message.get(), probe);
    }
    nla_nest_end(message.get(), nest);
    expect_refused(std::move(message), E2BIG, "256");
    EXPECT_TRUE(session_.probes().empty());
}

// Like the kernel's list: addresses of some.
std::string forbidden() {
    std::string list;
    for (const char* name : forbidden_functions)
        list += fmt::format("{:#x}-\t{}\n", address_of(name), name);
    return list;
}

TEST_F(ProbeRefusalTest, PlacesWhereNoProbeCanBe) {
    const auto at = [](ProbeRequest probe, std::uint64_t offset) {
        probe.offset = offset;
        return probe;
    };
    const auto by_address = [](std::uint64_t address) {
        ProbeRequest probe = entry_of(1, "");
        probe.address = address;
        return probe;
    };
    expect_verdict(entry_of(1, ""), EINVAL, "neither SYMBOL nor ADDRESS");
    expect_verdict(by_address(0), EINVAL, "neither SYMBOL nor ADDRESS");
    expect_verdict(entry_of(1, "no_such_function"), ENOENT, "no such symbol");
    expect_verdict(call_of(1, "no_such_function"), ENOENT, "no such symbol");
    expect_verdict(entry_of(1, "no_such_module:write_null"), ENOENT, "no such symbol");
    // The second byte of an instruction that isn't ftrace's.
    const unsigned first = entries_by_ftrace() || !makes_jumps ? behind_entry("write_null") : 0;
    expect_verdict(at(entry_of(1, "write_null"), first + 1), EILSEQ, "no instruction starts there");
    expect_verdict(at(entry_of(1, "write_null"), 0x7fffffff), ENOENT, "");
    expect_verdict(at(entry_of(1, "write_null"), std::uint64_t{1} << 32), ERANGE, "out of range");
    expect_verdict(at(call_of(1, "write_null"), behind_entry("write_null")), EINVAL,
                   "function's start");
    expect_verdict(at(return_of(1, "vfs_write"), behind_entry("vfs_write")), EINVAL,
                   "function's start");
    expect_verdict(by_address(address_of("linux_banner")), EINVAL, "no probe there");
    for (const std::uint64_t address : {std::uint64_t{1}, std::uint64_t{0x400000},
                                        std::uint64_t{0x4141414141414141}, ~std::uint64_t{0}})
        expect_verdict(by_address(address), ENOENT, "no function of the kernel's at that address");
    // What the kernel lists as forbidden, or forbids without debugfs.
    std::istringstream blacklist(
        has_kprobes_switch() ? read_file("/sys/kernel/debug/kprobes/blacklist") : forbidden());
    std::string line;
    int tried = 0;
    while (tried < 5 && std::getline(blacklist, line)) {
        const std::string name = line.substr(line.rfind('\t') + 1);
        ProbeRequest probe = by_address(std::stoull(line, nullptr, 16));
        expect_verdict(probe, EINVAL, "blacklisted");
        tried++;
    }
    EXPECT_EQ(tried, 5);
    ProbeRequest many = call_of(1, "write_null");
    many.maxactive = 65537;
    expect_verdict(many, ERANGE, "1 to 65536");
    // More memory for instances than a session may have: 65536 with 4000 bytes each.
    many.maxactive = 65536;
    many.entry_program.clear();
    for (int i = 0; i < 127; i++)
        many.entry_program.push_back(imm(0, 0));
    for (int i = 0; i < 128; i++)
        many.entry_program.push_back(put(0));
    many.entry_program.push_back(accept());
    expect_verdict(many, E2BIG, "lower maxactive");
    // Arguments, where they are not: only its address says so.
    std::uint64_t inside = address_of("vfs_read") + 7;
    for (; inside < address_of("vfs_read") + 32; inside++) {
        const Verdict verdict = add(by_address(inside));
        if (verdict.error != EILSEQ) {
            EXPECT_EQ(verdict.error, EINVAL);
            EXPECT_NE(verdict.text.find("in the middle of a function"), std::string::npos);
            break;
        }
    }
    EXPECT_LT(inside, address_of("vfs_read") + 32);
    EXPECT_TRUE(session_.probes().empty());
}

TEST_F(ProbeRefusalTest, ThePlacesThatFtracePatchesAreNamedAsThat) {
    if (Kallsyms().find("ftrace_caller", "kernel").empty())
        GTEST_SKIP() << "this kernel has no ftrace";
    // Of arm64's the first byte alone can be an instruction's.
    const std::uint64_t first =
        entries_by_ftrace() ? entry_offset() + 1 : std::max(ftrace_begin, 1U);
    const std::uint64_t end =
        entries_by_ftrace() ? behind_entry("write_null") : ftrace_begin + ftrace_bytes;
    for (std::uint64_t offset = first; offset < end; offset += ftrace_begin == 0 ? 1 : 4) {
        SCOPED_TRACE(offset);
        const std::string words = fmt::format("; +{:#x} is the first place behind", end);
        ProbeRequest probe = entry_of(1, "eventfd_read");
        probe.offset = offset;
        expect_verdict(probe, EILSEQ, words);
        probe.address = address_of("eventfd_read") + offset;
        expect_verdict(probe, EILSEQ, words);
        // The same where a probe sits on the site already, as the witness's does.
        probe = entry_of(1, "write_null");
        probe.offset = offset;
        expect_verdict(probe, EILSEQ, words);
    }
}

// A trap takes the reservation away on which a store-conditional depends: it would never succeed,
// and the machine stands still that takes a mutex so. riscv64's kernel lets such probes be.
TEST_F(ProbeRefusalTest, WhatWouldNeverGoOnFromTheTrap) {
    if (!has_reservations)
        GTEST_SKIP() << "this machine's kernel allows no such place, or has none";
    const KernelText text = read_kernel_text();
    const auto word_at = [&](std::uint64_t address) {
        std::uint32_t word = 0;
        std::memcpy(&word, text.bytes.data() + (address - text.address), sizeof(word));
        return (word & 3) == 3 ? word : word & 0xffff;
    };
    int refused = 0;
    std::vector<ProbeRequest> allowed; // behind the store, and where something is only waited for
    const Kallsyms kallsyms;
    kallsyms.for_each_function(
        "kernel", [](std::string_view) { return true; },
        [&](const NumberedFunction& function) {
            if (refused >= 20 || function.symbol.address < text.address)
                return;
            // In its first bytes; at its very beginning may be what ftrace patches.
            const std::uint64_t begin = function.symbol.address;
            std::vector<ProbeRequest> loop; // from a load on
            for (std::uint64_t at = begin;
                 at < begin + 128 && at + 8 < text.address + text.bytes.size();) {
                const std::uint32_t word = word_at(at);
                ProbeRequest probe = entry_of(1, "");
                probe.address = at;
                probe.offset = at - begin;
                if (is_load_reserved(word))
                    loop.clear();
                if (is_load_reserved(word) || !loop.empty())
                    loop.push_back(probe);
                at += (word & 3) == 3 ? 4 : 2;
                if (!is_store_conditional(word) || loop.empty())
                    continue;
                for (const ProbeRequest& one : loop) {
                    const Verdict verdict = add(one);
                    EXPECT_NE(verdict.error, 0) << function.symbol.name << '+' << one.offset;
                    refused += verdict.text.find("would never succeed") != std::string::npos;
                }
                probe.address = at;
                probe.offset = at - begin;
                allowed.push_back(probe);
                return;
            }
            if (loop.size() > 1 && loop.back().offset - loop.front().offset > 64)
                allowed.push_back(loop[1]);
        });
    EXPECT_GE(refused, 20);
    for (std::size_t i = 0; i < allowed.size(); i++)
        allowed[i].event_id = static_cast<std::uint16_t>(1 + i);
    Session other;
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    other.configure(config);
    int planted_there = 0;
    for (const Verdict& verdict : other.add_probes(allowed)) {
        EXPECT_EQ(verdict.text.find("would never succeed"), std::string::npos);
        planted_there += verdict.error == 0;
    }
    EXPECT_GE(planted_there, 1);
}

TEST_F(ProbeRefusalTest, EventIdsThatWereUsed) {
    const ProbeRequest probes[] = {entry_of(5, "write_null"), entry_of(5, "eventfd_read"),
                                   entry_of(6, "no_such_function"), entry_of(6, "eventfd_read")};
    const std::vector<Verdict> verdicts = session_.add_probes(probes);
    ASSERT_EQ(verdicts.size(), 4U);
    EXPECT_EQ(verdicts[0].error, 0);
    EXPECT_EQ(verdicts[0].address, address_of("write_null"));
    EXPECT_EQ(verdicts[1].error, EEXIST);
    EXPECT_NE(verdicts[1].text.find("used before"), std::string::npos);
    EXPECT_EQ(verdicts[2].error, ENOENT);
    EXPECT_EQ(verdicts[3].error, 0) << "an id that was refused is free";
    session_.delete_probe(5);
    expect_verdict(entry_of(5, "write_null"), EEXIST, "used before");
    session_planted_ = 1;
}

// Between its ends a call keeps what it recorded, whatever the kernel has room for.
TEST_F(ProbeRefusalTest, MoreThanACallKeeps) {
    const auto storing = [](std::uint64_t text) {
        return call_of(1, "eventfd_read", {imm(0, 1), str_kernel(0, text), accept()});
    };
    expect_verdict(storing(TL_KEPT_MAX - 4 + 1), E2BIG,
                   "a call can keep at most 4064 bytes of fields until its return, not 4068");
    if (!traps_returns())
        return;
    EXPECT_EQ(add(storing(TL_KEPT_MAX - 4)).error, 0);
    session_planted_ = 1;
}

TEST_F(ProbeRefusalTest, MalformedPrograms) {
    const auto changed = [](tl_insn insn, const std::function<void(tl_insn&)>& change) {
        change(insn);
        return insn;
    };
    const Program long_strings = {imm(0, 1), str_kernel(0, 4096), str_kernel(0, 3900), accept()};
    const struct {
        Program program;
        unsigned insn;
        const char* why;
    } cases[] = {
        {{changed(accept(), [](tl_insn& i) { i.op = TL_OPS; })}, 0, "unknown opcode"},
        {{changed(accept(), [](tl_insn& i) { i.op = 255; })}, 0, "unknown opcode"},
        {{imm(16, 0), accept()}, 0, "no such slot"},
        {{imm(0, 0), changed(put(0), [](tl_insn& i) { i.a = 16; }), accept()}, 1, "no such slot"},
        {{changed(accept(), [](tl_insn& i) { i.b = 200; })}, 0, "no such slot"},
        {{changed(accept(), [](tl_insn& i) { i.flags = 2; })}, 0, "unknown flags"},
        {{reg(0, pt_regs_end), accept()}, 0, "no such register"},
        {{reg(0, ~std::uint64_t{0}), accept()}, 0, "no such register"},
        {{arg(0, 32), accept()}, 0, "no such argument"},
        {{retval(0), accept()}, 0, "at a return only"},
        {{imm(0, 0), load_kernel(0, 0, 3), accept()}, 1, "a size is 1, 2, 4 or 8"},
        {{imm(0, 0), load_user(0, 0, 0), accept()}, 1, "a size is 1, 2, 4 or 8"},
        {{imm(0, 0), put(0, 16), accept()}, 1, "a size is 1, 2, 4 or 8"},
        {{imm(0, 0), str_kernel(0, 0), accept()}, 1, "1 to 4096"},
        {{imm(0, 0), str_user(0, 4097), accept()}, 1, "1 to 4096"},
        {{imm(0, 0), str_user(0, std::uint64_t{1} << 32 | 16), accept()}, 1, "1 to 4096"},
        {{accept(), accept()}, 1, "unreachable"},
        {{put(3), accept()}, 0, "may not have been written"},
        {{imm(0, 0), jump(TL_OP_JEQ, 0, 0, 1), imm(1, 0), put(1), accept()},
         3,
         "may not have been written"},
        {long_strings, 2, "more than 8000 bytes"},
        {{jump(TL_OP_JMP, 0, 0, 0)}, 0, "past the end"},
        {{imm(0, 0), jump(TL_OP_JNE, 0, 0, 65535), accept()}, 1, "past the end"},
        {{imm(0, 0)}, 0, "runs off its end"},
        {{imm(0, 0), put(0)}, 1, "runs off its end"},
    };
    for (const auto& test : cases) {
        SCOPED_TRACE(test.why);
        expect_verdict(entry_of(1, "write_null", test.program), EINVAL,
                       fmt::format("instruction {}: ", test.insn));
        expect_verdict(call_of(1, "write_null", test.program), EINVAL, test.why);
    }
    // Arguments are at the entry only.
    ProbeRequest inside = entry_of(1, "write_null", store_args({0}));
    inside.offset = behind_entry("write_null");
    expect_verdict(inside, EINVAL, "at a function's entry only");
    expect_verdict(return_of(1, "write_null", store_args({0})), EINVAL,
                   "at a function's entry only");
    // Programs where they can't be.
    ProbeRequest wrong = entry_of(1, "write_null");
    wrong.return_program = {accept()};
    expect_verdict(wrong, EINVAL, "no return program");
    wrong = return_of(1, "write_null");
    wrong.entry_program = {accept()};
    expect_verdict(wrong, EINVAL, "no entry program");
    // Together they may be too large.
    const Program half = {imm(0, 1), str_kernel(0, 3994), accept()};
    expect_verdict(call_of(1, "write_null", half, half), E2BIG, "8000 bytes");
    // What a call keeps until its return.
    const Program whole = {imm(0, 1), str_kernel(0, 4096), accept()};
    expect_verdict(call_of(1, "write_null", whole), E2BIG, "or the entry alone");
    // A part of an instruction, and too many.
    for (const int bytes : {1, 15, 17}) {
        Message message = adding([&](const Message& m) {
            put_attr(m, TRAPLINE_P_KIND, std::uint8_t{TRAPLINE_ENTRY});
            put_attr(m, TRAPLINE_P_EVENT_ID, std::uint16_t{1});
            nla_put_string(m.get(), TRAPLINE_P_SYMBOL, "write_null");
            const char zeros[32] = {};
            nla_put(m.get(), TRAPLINE_P_ENTRY_PROGRAM, bytes, zeros);
        });
        const Answer answer = channel_.request(std::move(message), "test");
        const Verdict verdict = parse_verdicts(answer.header()).front();
        EXPECT_EQ(verdict.error, EINVAL);
        EXPECT_NE(verdict.text.find("16 bytes each"), std::string::npos) << verdict.text;
    }
    Program huge(257, imm(0, 0));
    huge.back() = accept();
    EXPECT_EQ(refusal([&] { add(entry_of(1, "write_null", huge)); }).code, ERANGE);
    EXPECT_TRUE(session_.probes().empty());
}

TEST_F(RefusalTest, OnlyRootOpensTheDeviceButTheDescriptorIsTheAuthority) {
    Child child([&] {
        if (setuid(65534) != 0)
            return 1;
        if (open("/dev/trapline", O_RDWR) >= 0 || errno != EACCES)
            return 2;
        Channel channel;
        // The parent's session, inherited; the child's own socket.
        if (refusal(channel, new_request(channel.family(), TRAPLINE_C_INFO, session_.fd())).code !=
            0)
            return 3;
        if (refusal(channel, new_request(channel.family(), TRAPLINE_C_CONFIGURE, session_.fd()))
                .code != 0)
            return 4;
        return 0;
    });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_NE(session_.sessions().back().ring_size, 0U);
}

} // namespace
