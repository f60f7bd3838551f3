// SPDX-License-Identifier: GPL-2.0
// Marks: which sessions have them, where, and what happens around them.
#include <atomic>
#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include "guest.h"
#include "machine.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

TEST(Mark, WithoutASessionThatIsStartedIsIntoNone) {
    Session session;
    MarkReport report = session.mark("to nobody");
    EXPECT_EQ(report.marked, 0U);
    EXPECT_EQ(report.lost, 0U);
    Traced traced;
    traced.rings();
    report = traced.session().mark("not started yet");
    EXPECT_EQ(report.marked, 0U);
    traced.start();
    traced.stop();
    report = traced.session().mark("stopped");
    EXPECT_EQ(report.marked, 0U);
    EXPECT_EQ(report.lost, 0U);
    traced.drain();
    traced.expect_exact();
    EXPECT_TRUE(traced.events().empty());
}

TEST(Mark, IsInEverySessionThatIsStartedWhoeverSendsIt) {
    const Pinned here(0);
    Traced a;
    Traced b;
    Traced idle;
    Traced over;
    Session bare;
    a.add(entry_of(1, "write_null", store_args({2})));
    b.add(call_of(1, "write_null"));
    idle.rings();
    a.start();
    b.start();
    over.start();
    over.stop();
    NullWriter writer;
    std::vector<std::string> texts;
    for (const std::size_t length : {1U, 2U, 3U, 4U, 5U, 99U, 1022U, 1023U, 1024U})
        texts.emplace_back(length, static_cast<char>('a' + length % 20));
    texts.emplace_back("R\xc3\xbc"
                       "be\n\t\"quoted\" \xff\x01");
    Session* senders[] = {&a.session(), &b.session(), &idle.session(), &over.session(), &bare};
    const std::uint64_t begun = a.session().sync().ticks;
    for (std::size_t n = 0; n < texts.size(); n++) {
        writer.write(1);
        const MarkReport report = senders[n % std::size(senders)]->mark(texts[n]);
        EXPECT_EQ(report.marked, 2U);
        EXPECT_EQ(report.lost, 0U);
    }
    writer.write(1);
    const std::uint64_t ended = a.session().sync().ticks;
    b.stop();
    EXPECT_EQ(bare.mark("only a").marked, 1U);
    texts.emplace_back("only a");
    a.stop();
    for (Traced* traced : {&a, &b, &idle, &over}) {
        traced->drain();
        traced->expect_exact();
    }
    EXPECT_EQ(a.marks(), texts);
    EXPECT_TRUE(idle.events().empty());
    EXPECT_TRUE(over.events().empty());
    texts.pop_back();
    EXPECT_EQ(b.marks(), texts);

    // Each between the calls before and after it, and by whoever sent it.
    const std::vector<Event> events = a.events();
    ASSERT_EQ(events.size(), 2 * texts.size() + 2);
    for (std::size_t n = 0; n < events.size() - 1; n++) {
        SCOPED_TRACE(n);
        const Event& event = events[n];
        EXPECT_EQ(event.id, n % 2 == 0 ? 1 : TL_ID_MARK);
        EXPECT_EQ(event.tid, static_cast<std::uint32_t>(gettid()));
        EXPECT_EQ(event.tgid, static_cast<std::uint32_t>(getpid()));
        EXPECT_STREQ(event.comm.data(), "tl-module-test");
        EXPECT_EQ(event.flags & ~TL_NEED_RESCHED, 0);
        EXPECT_EQ(event.cpu, 0U);
        EXPECT_GT(event.ticks, begun);
        EXPECT_LT(event.ticks, ended);
    }
    const std::vector<SessionReport> list = bare.sessions();
    EXPECT_EQ(list.front().recorded, 2 * texts.size() + 2);
}

TEST(Mark, PassesFilters) {
    Gate gate;
    Child child([&] {
        gate.take();
        return 0;
    });
    SessionConfig restricted;
    restricted.tgids = {static_cast<std::uint32_t>(child.pid())};
    SessionConfig excluding;
    excluding.exclude_tgid = static_cast<std::uint32_t>(getpid());
    Traced a(restricted);
    Traced b(excluding);
    for (Traced* traced : {&a, &b}) {
        traced->add(entry_of(1, "write_null"));
        traced->start();
    }
    NullWriter writer;
    writer.write(5);
    EXPECT_EQ(a.session().mark("passes").marked, 2U);
    gate.give();
    child.wait();
    for (Traced* traced : {&a, &b}) {
        traced->stop();
        traced->drain();
        traced->expect_exact();
        EXPECT_EQ(traced->counters().filtered, 5U);
        EXPECT_EQ(traced->marks(), std::vector<std::string>{"passes"});
    }
}

TEST(Mark, WithoutRoomIsLostAndCounted) {
    const Pinned here(0);
    SessionConfig small;
    small.ring_size = TRAPLINE_RING_MIN;
    Traced full(small);
    SessionConfig recorder = small;
    recorder.overwrite = true;
    Traced overwriting(recorder);
    Traced roomy;
    full.start();
    roomy.start();
    overwriting.start();
    const std::string text(TRAPLINE_MARK_MAX, 'm');
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    for (; sent < 200; sent++) {
        const MarkReport report = roomy.session().mark(text);
        EXPECT_EQ(report.marked + report.lost, 3U);
        EXPECT_LE(report.lost, 1U);
        lost += report.lost;
    }
    EXPECT_GT(lost, 100U);
    EXPECT_EQ(full.lost(), lost);
    // Given room again, it has them again.
    full.drain();
    EXPECT_EQ(full.session().mark("room").marked, 3U);
    for (Traced* traced : {&full, &roomy, &overwriting})
        traced->stop();
    full.drain();
    full.expect_exact(false, lost);
    EXPECT_EQ(full.marks().size(), sent - lost + 1);
    EXPECT_EQ(full.marks().back(), "room");
    roomy.drain();
    roomy.expect_exact();
    EXPECT_EQ(roomy.marks().size(), sent + 1);
    overwriting.drain();
    EXPECT_EQ(overwriting.written(), sent + 1);
    EXPECT_EQ(overwriting.lost(), 0U);
    EXPECT_EQ(overwriting.marks().back(), "room");
}

TEST(Mark, IsNotPutBehindTheTriggerThatEndedARun) {
    Traced traced;
    ProbeRequest request = entry_of(1, "write_null");
    request.trigger = TRAPLINE_TRIGGER_STOP;
    traced.add(request);
    traced.start();
    EXPECT_EQ(traced.session().mark("before").marked, 1U);
    NullWriter writer;
    writer.write(1);
    const MarkReport report = traced.session().mark("after");
    EXPECT_EQ(report.marked, 0U);
    EXPECT_EQ(report.lost, 0U);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.marks(), std::vector<std::string>{"before"});
    EXPECT_EQ(traced.events().back().id, 1U);
}

// Traps on everything that a mark runs through, down to what copies the text.
TEST(Mark, IsPutWhileWhatPutsItIsTraced) {
    SessionConfig config;
    config.ring_size = std::uint64_t{4} << 20;
    config.tgids = {static_cast<std::uint32_t>(getpid())};
    Traced traced(config);
    const std::string functions[] = {
        "trapline:tl_do_mark", "trapline:tl_mark", "netlink_sendmsg", "netlink_unicast",
        "mutex_lock",          "mutex_unlock",     "__alloc_skb",     "ktime_get_mono_fast_ns"};
    std::uint16_t id = 1;
    for (const std::string& function : functions) {
        // On riscv64 they may begin with what can't be stepped, a fence or a reservation.
        if (has_reservations && function.starts_with("mutex_"))
            continue;
        traced.add(entry_of(id++, function));
        traced.add(call_or_entry_of(id++, function));
    }
    traced.start();
    constexpr std::uint64_t marks = 300;
    for (std::uint64_t n = 1; n <= marks; n++) {
        const MarkReport report = traced.session().mark(fmt::format("mark {}", n));
        ASSERT_EQ(report.marked, 1U);
        ASSERT_EQ(report.lost, 0U);
    }
    traced.stop();
    traced.drain();
    traced.expect_exact(true);
    EXPECT_EQ(traced.marks().size(), marks);
    for (std::uint16_t each = 1; each <= 4; each++)
        EXPECT_EQ(traced.counters(each).recorded, marks) << each;
    // What enters the ring can't be trapped.
    const ProbeRequest inside = entry_of(100, "trapline:tl_mark_session");
    EXPECT_EQ(traced.session().add_probes({&inside, 1}).front().error, EINVAL);
}

// Sessions that come, start, stop and go meanwhile have those that they were told to have.
TEST(Mark, IsSafeFromSessionsThatComeAndGo) {
    std::atomic<bool> end{false};
    std::atomic<std::uint64_t> marked{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::uint64_t> read{0};
    std::atomic<std::uint64_t> sent{0};
    std::atomic<std::uint64_t> sessions{0};
    std::vector<std::thread> threads;
    for (unsigned n = 0; n < 2; n++)
        threads.emplace_back([&, n] {
            Session session;
            for (std::uint64_t count = 0; !end; count++) {
                const MarkReport report = session.mark(fmt::format("mark {} of {}", count, n));
                marked += report.marked;
                lost += report.lost;
                sent++;
                if (count % 8 == 0)
                    pin(static_cast<unsigned>(count / 8) % online_cpus());
            }
        });
    for (unsigned n = 0; n < 2; n++)
        threads.emplace_back([&, n] {
            std::mt19937 random(n);
            NullWriter writer;
            while (!end) {
                SessionConfig config;
                config.ring_size = std::uint64_t{1} << 19;
                Traced traced(config);
                ProbeRequest request = entry_of(1, "write_null", store_args({2}));
                if (random() % 3 == 0)
                    request.trigger = TRAPLINE_TRIGGER_STOP;
                traced.add(request);
                for (unsigned run = random() % 3; run < 3; run++) {
                    traced.start();
                    usleep(random() % 3000);
                    writer.write(random() % 20);
                    if (random() % 4 == 0)
                        break;
                    traced.stop();
                    traced.drain();
                }
                // Stopped in any case: then what was read is all.
                if (refusal([&] { traced.session().stop(); }).code != EALREADY)
                    traced.drain();
                traced.expect_exact();
                read += traced.marks().size();
                sessions++;
            }
        });
    // As long as it takes: an emulated machine may be slow.
    EXPECT_TRUE(wait_for([&] { return sessions > 20 && sent > 200; }, 120'000));
    end = true;
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_GT(marked, 50U);
    EXPECT_EQ(lost, 0U);
    EXPECT_EQ(read, marked);
}

// The same with sessions that end while they run, whose marks nobody can count.
TEST(Mark, IsSafeFromSessionsThatEndInTheMiddle) {
    Traced witness;
    witness.start();
    std::atomic<bool> end{false};
    std::atomic<std::uint64_t> sent{0};
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        Session session;
        for (; !end; sent++)
            EXPECT_GE(session.mark("x").marked, 1U);
    });
    for (unsigned n = 0; n < 3; n++)
        threads.emplace_back([&] {
            NullWriter writer;
            while (!end) {
                SessionConfig config;
                config.ring_size = TRAPLINE_RING_MIN;
                Session session;
                session.configure(config);
                const ProbeRequest request = entry_of(1, "write_null");
                EXPECT_EQ(session.add_probes({&request, 1}).front().error, 0);
                session.start();
                writer.write(5);
            }
        });
    for (int n = 0; n < 40; n++) {
        usleep(100'000);
        witness.drain();
    }
    end = true;
    for (std::thread& thread : threads)
        thread.join();
    witness.stop();
    witness.drain();
    witness.expect_exact();
    EXPECT_EQ(witness.marks().size(), sent);
    EXPECT_TRUE(none_planted());
}

} // namespace
