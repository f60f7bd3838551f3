// SPDX-License-Identifier: GPL-2.0
// What sessions can be asked of one another: numbers, probes, techniques; and closing meanwhile.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <memory>
#include <netlink/msg.h>
#include <random>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "machine.h"
#include "symbols/kallsyms.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

constexpr std::size_t many = 140; // probes: several messages of a dump

SessionReport own_report(Session& session) {
    for (const SessionReport& report : session.sessions()) {
        if (report.own)
            return report;
    }
    throw Error("the asker's session isn't in the list");
}

std::uint32_t number_of(Session& session) {
    return own_report(session).number;
}

// One datagram. The kernel makes them as large as the buffer: it is small, for there to be many.
std::vector<char> receive(int fd) {
    std::vector<char> buffer(8192);
    const ssize_t length = recv(fd, buffer.data(), buffer.size(), 0);
    if (length < 0)
        throw errno_error("cannot receive", errno);
    buffer.resize(static_cast<std::size_t>(length));
    return buffer;
}

// A dump that is received one datagram at a time.
class SlowDump {
public:
    // Of the probes of session `number`, for the holder of `fd`.
    SlowDump(int family, int fd, std::uint32_t number)
        : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC)) {
        Message message = new_request(family, TRAPLINE_C_PROBE_DUMP, fd);
        put_session_number(message.get(), number);
        nlmsghdr* header = nlmsg_hdr(message.get());
        header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        header->nlmsg_seq = 1;
        header->nlmsg_pid = 0;
        sockaddr_nl kernel{};
        kernel.nl_family = AF_NETLINK;
        if (sendto(socket_.get(), header, header->nlmsg_len, 0,
                   reinterpret_cast<const sockaddr*>(&kernel), sizeof(kernel)) < 0)
            throw errno_error("cannot send", errno);
    }

    // Takes the next datagram; how many probes are in it. -errno: that is how the dump ended.
    int next() {
        const std::vector<char> bytes = receive(socket_.get());
        int probes = 0;
        for (std::size_t at = 0; at + sizeof(nlmsghdr) <= bytes.size();) {
            nlmsghdr header{};
            std::memcpy(&header, &bytes[at], sizeof(header));
            if (header.nlmsg_type == NLMSG_DONE || header.nlmsg_type == NLMSG_ERROR) {
                int error = 0;
                std::memcpy(&error, &bytes[at + NLMSG_HDRLEN], sizeof(error));
                ended_ = true;
                return error < 0 ? error : probes;
            }
            probes++;
            at += NLMSG_ALIGN(header.nlmsg_len);
        }
        return probes;
    }

    bool ended() const { return ended_; }

private:
    UniqueFd socket_;
    bool ended_ = false;
};

TEST(Status, NumbersAreNeverUsedAgain) {
    Session asker;
    std::uint32_t last = number_of(asker);
    for (int i = 0; i < 20; i++) {
        Session other;
        const std::uint32_t number = number_of(other);
        EXPECT_GT(number, last);
        last = number;
    }
    Session a;
    Session b;
    const std::vector<SessionReport> list = asker.sessions();
    ASSERT_EQ(list.size(), 3U);
    EXPECT_TRUE(list[0].own);
    EXPECT_EQ(list[1].number, number_of(a));
    EXPECT_EQ(list[2].number, number_of(b));
    EXPECT_LT(list[1].number, list[2].number);
}

TEST(Status, ADescriptorTellsItsSession) {
    Session a;
    const Session b;
    const UniqueFd duplicate(dup(a.fd()));
    const auto info = [](int fd) { return read_file(fmt::format("/proc/self/fdinfo/{}", fd)); };
    const std::string line = fmt::format("session:\t{}\n", number_of(a));
    EXPECT_NE(info(a.fd()).find(line), std::string::npos) << info(a.fd());
    EXPECT_NE(info(duplicate.get()).find(line), std::string::npos);
    EXPECT_EQ(info(b.fd()).find(line), std::string::npos);
}

TEST(Status, AnotherSessionsProbesAreReadAndNotChanged) {
    Traced traced;
    traced.add(entry_of(1, "write_null"));
    traced.add(call_of(2, "eventfd_read"));
    traced.start();
    NullWriter writer;
    writer.write(7);
    Session asker;
    const auto probes = asker.probes_of(number_of(traced.session()));
    ASSERT_TRUE(probes);
    ASSERT_EQ(probes->size(), 2U);
    EXPECT_EQ((*probes)[0].symbol, "write_null");
    EXPECT_EQ((*probes)[0].counters.hits, 7U);
    EXPECT_EQ((*probes)[0].counters.recorded, 7U);
    EXPECT_EQ((*probes)[1].symbol, "eventfd_read");
    EXPECT_EQ((*probes)[1].kind, TRAPLINE_CALL);
    // Its own number works as none does.
    const auto own = traced.session().probes_of(number_of(traced.session()));
    ASSERT_TRUE(own);
    EXPECT_EQ(own->size(), traced.session().probes().size());
    EXPECT_TRUE(asker.probes().empty());
    EXPECT_TRUE(asker.probes_of(number_of(asker))->empty());
    // Holding one session, another's can't be changed: requests take no number.
    Channel channel;
    Message message = new_request(channel.family(), TRAPLINE_C_PROBE_DELETE, asker.fd());
    put_session_number(message.get(), number_of(traced.session()));
    EXPECT_EQ(refusal(channel, std::move(message)).code, 0);
    EXPECT_EQ(planted().size(), 2U);
    writer.write(3);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(1).recorded, 10U);
}

TEST(Status, AnothersPendingCallsAreFound) {
    Traced traced;
    traced.add(call_of(1, "eventfd_read"));
    traced.start();
    const Sleepers sleepers(3);
    ASSERT_TRUE(sleepers.asleep());
    const Session asker;
    Channel channel;
    Message message = new_request(channel.family(), TRAPLINE_C_PROBE_DUMP, asker.fd());
    put_session_number(message.get(), number_of(traced.session()));
    put_pending(message.get());
    const std::vector<Answer> answers = channel.dump(std::move(message), "test");
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(parse_probe(answers[0].header()).pending.size(), 3U);
}

TEST(Status, UnknownNumbersAreRefused) {
    Session asker;
    std::uint32_t closed = 0;
    {
        Session other;
        closed = number_of(other);
        EXPECT_TRUE(asker.probes_of(closed));
    }
    Channel channel;
    for (const std::uint32_t number : {0U, closed, closed + 1000, ~0U}) {
        EXPECT_FALSE(asker.probes_of(number)) << number;
        for (const bool pending : {false, true}) {
            Message message = new_request(channel.family(), TRAPLINE_C_PROBE_DUMP, asker.fd());
            put_session_number(message.get(), number);
            if (pending)
                put_pending(message.get());
            const Refusal refused = refusal([&] { channel.dump(std::move(message), "test"); });
            EXPECT_EQ(refused.code, ESRCH);
            EXPECT_NE(refused.text.find("number"), std::string::npos) << refused.text;
        }
    }
}

TEST(Status, TechniquesAreWhatTheSiteShows) {
    Traced traced;
    traced.add(entry_of(1, "write_null"));
    ProbeRequest inside = entry_of(2, "vfs_write");
    inside.offset = behind_entry("vfs_write");
    traced.add(inside);
    const auto optimise = [](const char* on) {
        return !makes_jumps || write_file("/proc/sys/debug/kprobes-optimization", on);
    };
    ASSERT_TRUE(optimise("0"));
    ProbeRequest second = entry_of(3, "vfs_read");
    second.offset = behind_entry("vfs_read");
    traced.add(second);
    const auto technique = [&](std::size_t n) { return traced.session().probes().at(n).technique; };
    const auto shown = [&](std::uint16_t id) {
        return technique_of(traced.session().site(id).now);
    };
    const trapline_technique entry = entries_by_ftrace() ? TRAPLINE_FTRACE : TRAPLINE_BREAKPOINT;
    EXPECT_EQ(technique(0), entry);
    EXPECT_EQ(shown(1), entries_by_ftrace() ? Technique::call : Technique::breakpoint);
    EXPECT_TRUE(wait_for([&] { return shown(2) == Technique::breakpoint; }, 3000))
        << "jumps are switched off";
    EXPECT_EQ(technique(1), TRAPLINE_BREAKPOINT);
    EXPECT_EQ(technique(2), TRAPLINE_BREAKPOINT);
    ASSERT_TRUE(optimise("1"));
    const trapline_technique later = makes_jumps ? TRAPLINE_JUMP : TRAPLINE_BREAKPOINT;
    EXPECT_TRUE(wait_for([&] { return technique(1) == later; }, 3000)) << "and on again";
    EXPECT_EQ(shown(2), makes_jumps ? Technique::jump : Technique::breakpoint);
    // Another session's probe of the same place is that jump, too.
    Traced other;
    inside.event_id = 1;
    other.add(inside);
    EXPECT_TRUE(wait_for([&] { return other.session().probes().at(0).technique == later; }, 3000));

    if (has_kprobes_switch()) {
        ASSERT_TRUE(switch_kprobes(false));
        for (const ProbeReport& report : traced.session().probes()) {
            EXPECT_EQ(report.technique, TRAPLINE_NO_TRAP) << report.symbol;
            EXPECT_TRUE(report.lifted) << report.symbol;
        }
        ASSERT_TRUE(switch_kprobes(true));
        EXPECT_EQ(technique(0), entry);
    }
    traced.session().delete_probe(1);
    EXPECT_EQ(technique(0), TRAPLINE_NO_TRAP);
    EXPECT_TRUE(traced.session().probes().at(0).lifted);
    EXPECT_NE(technique(1), TRAPLINE_NO_TRAP);
}

// A small function that jumps on to another at once: a trap there shows, and none doesn't.
TEST(Status, AFunctionsOwnJumpIsNoTrap) {
    if (!makes_jumps)
        GTEST_SKIP() << "x86 alone makes jumps of breakpoints";
    constexpr std::uint64_t smallest = 16; // functions are that far apart
    constexpr std::byte jump{0xe9};
    const unsigned first = entries_by_ftrace() ? behind_entry("write_null") : entry_offset();
    Session session;
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    session.configure(config);
    std::uint16_t id = 0;
    bool found = false;
    const Kallsyms kallsyms;
    kallsyms.for_each_function(
        "kernel",
        [](std::string_view name) {
            // Padding has names of its own.
            return name.find('.') == std::string_view::npos && !name.starts_with("__pfx_");
        },
        [&](const NumberedFunction& function) {
            if (found || id == 300 || function.number != 0 || function.symbol.size != smallest)
                return;
            ProbeRequest behind = entry_of(++id, std::string(function.symbol.name));
            behind.offset = first;
            if (session.add_probes(std::span(&behind, 1)).at(0).error != 0)
                return;
            found = session.site(id).before.at(0) == jump;
            if (!found)
                session.delete_probe(id);
        });
    ASSERT_TRUE(found);
    const auto technique = [&] { return session.probes().back().technique; };
    EXPECT_EQ(technique(), TRAPLINE_BREAKPOINT);
    if (!has_kprobes_switch())
        return;
    ASSERT_TRUE(switch_kprobes(false));
    EXPECT_EQ(static_cast<std::byte>(session.site(id).now.at(0)), jump);
    EXPECT_EQ(technique(), TRAPLINE_NO_TRAP);
    EXPECT_TRUE(session.probes().back().lifted);
    Session other;
    other.configure(config);
    ProbeRequest same = entry_of(1, session.probes().back().symbol);
    same.offset = first;
    const auto added = [&] { return other.add_probes({&same, 1}).front().error; };
    EXPECT_EQ(added(), EOPNOTSUPP);
    ASSERT_TRUE(switch_kprobes(true));
    EXPECT_EQ(technique(), TRAPLINE_BREAKPOINT);
    EXPECT_EQ(added(), 0);
}

// It is in the session before it is armed: what fails then is gone again, and its id free.
TEST(Status, AProbeThatCannotBeArmedLeavesNothing) {
    if (!has_kprobes_switch())
        GTEST_SKIP() << "without debugfs kprobes can't be switched off";
    Session session;
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    session.configure(config);
    session.start();
    const std::vector<ProbeRequest> requests = {
        entry_of(1, "eventfd_read"), call_or_entry_of(2, "eventfd_read"),
        traps_returns() ? return_of(3, "eventfd_read") : entry_of(3, "eventfd_read")};
    ASSERT_TRUE(switch_kprobes(false));
    for (int turn = 0; turn < 50; turn++) {
        for (const Verdict& verdict : session.add_probes(requests)) {
            EXPECT_EQ(verdict.error, EOPNOTSUPP) << verdict.text;
            EXPECT_NE(verdict.text.find("switched off"), std::string::npos) << verdict.text;
        }
    }
    EXPECT_TRUE(session.probes().empty());
    EXPECT_EQ(own_report(session).probes, 0U);
    EXPECT_TRUE(none_planted());
    ASSERT_TRUE(switch_kprobes(true));
    for (const Verdict& verdict : session.add_probes(requests))
        EXPECT_EQ(verdict.error, 0) << verdict.text;
    EXPECT_EQ(session.probes().size(), 3U);
    EXPECT_EQ(own_report(session).probes, 3U);
    session.stop();
}

TEST(Status, ADumpThatNobodyReceivesKeepsNoSession) {
    const std::vector<ProbeRequest> requests = many_probes(many);
    ASSERT_EQ(requests.size(), many);
    const Session asker;
    const Channel channel;
    auto other = std::make_unique<Session>();
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    other->configure(config);
    other->add_probes(requests);
    ASSERT_GT(planted().size(), many / 2);

    SlowDump whole(channel.family(), asker.fd(), number_of(*other));
    int probes = 0;
    int datagrams = 0;
    while (!whole.ended()) {
        const int n = whole.next();
        ASSERT_GE(n, 0);
        probes += n;
        datagrams++;
    }
    EXPECT_EQ(static_cast<std::size_t>(probes), other->probes().size());
    ASSERT_GT(datagrams, 3) << "else nothing below is tested";

    // Begun, and one datagram of it received; then what it is about goes.
    SlowDump slow(channel.family(), asker.fd(), number_of(*other));
    EXPECT_GT(slow.next(), 0);
    SlowDump abandoned(channel.family(), asker.fd(), number_of(*other));
    other.reset();
    EXPECT_TRUE(none_planted()) << "closing lifts, whoever dumps";
    int n = 0;
    while (!slow.ended() && (n = slow.next()) >= 0)
        ; // what was dumped before it was closed
    EXPECT_EQ(n, -ESRCH);
}

// Sessions come, are dumped by several at once, and go, at any moment.
TEST(Status, DumpsAndClosingRace) {
    const std::vector<ProbeRequest> requests = many_probes(many);
    std::atomic<bool> end = false;
    std::atomic<unsigned> dumped = 0;
    std::atomic<unsigned> wrong = 0;
    const auto ask = [&](bool slowly) {
        Session asker;
        const Channel channel;
        while (!end) {
            for (const SessionReport& report : asker.sessions()) {
                if (report.own)
                    continue;
                if (slowly) {
                    SlowDump dump(channel.family(), asker.fd(), report.number);
                    int n = 0;
                    while (!dump.ended() && (n = dump.next()) >= 0)
                        usleep(200); // leave the others something of the CPU
                    if (n < 0 && n != -ESRCH)
                        wrong++;
                    continue;
                }
                const auto probes = asker.probes_of(report.number);
                if (!probes)
                    continue; // closed since
                dumped++;
                for (const ProbeReport& probe : *probes) {
                    if (!probe.symbol.starts_with(many_prefix) || probe.counters.recorded != 0)
                        wrong++;
                }
            }
        }
    };
    std::vector<std::thread> askers;
    for (const bool slowly : {false, true, true})
        askers.emplace_back(ask, slowly);
    std::mt19937 random(static_cast<unsigned>(getpid()));
    for (int turn = 0; turn < 6; turn++) {
        Session session;
        SessionConfig config;
        config.ring_size = TRAPLINE_RING_MIN;
        session.configure(config);
        session.add_probes(std::span<const ProbeRequest>(requests).first(24 + random() % 16));
        usleep(random() % 5000);
    }
    end = true;
    for (std::thread& thread : askers)
        thread.join();
    EXPECT_EQ(wrong, 0U);
    EXPECT_GT(dumped, 0U);
    EXPECT_TRUE(none_planted());
    Session last;
    EXPECT_EQ(last.sessions().size(), 1U) << "none is left in the list";
}

} // namespace
