// SPDX-License-Identifier: GPL-2.0
// The context that a record claims, and what ftrace says of the same events.
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "machine.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

// Restores the kernel's setting.
class JumpOptimisation {
public:
    explicit JumpOptimisation(bool on) {
        if (!makes_jumps)
            return;
        before_ = read_file(path);
        EXPECT_TRUE(write_file(path, on ? "1" : "0"));
    }
    ~JumpOptimisation() {
        if (makes_jumps)
            write_file(path, before_);
    }

private:
    static constexpr const char* path = "/proc/sys/debug/kprobes-optimization";
    std::string before_;
};

// Reads a file every millisecond or so, so that the CPUs are neither all idle nor all busy.
void keep_busy(int milliseconds) {
    const auto end = 2 * static_cast<unsigned>(milliseconds);
    for (unsigned n = 0; n < end; n++) {
        for (int turn = 0; turn < 50; turn++)
            syscall(SYS_getppid);
        usleep(500);
    }
}

TEST(Context, OfAnInterruptIsSeen) {
    Traced traced;
    traced.add(entry_of(1, "update_process_times"));
    traced.add(call_or_entry_of(2, "update_process_times"));
    traced.add(entry_of(3, "run_timer_softirq"));
    traced.add(call_or_entry_of(4, "run_timer_softirq"));
    traced.start();
    keep_busy(300);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 4; id++) {
        SCOPED_TRACE(id);
        const std::vector<Event> events = traced.events(id);
        EXPECT_FALSE(events.empty());
        std::uint64_t wrong = 0;
        unsigned flags = 0;
        for (const Event& event : events) {
            const unsigned must = id <= 2 ? TL_HARDIRQ | TL_IRQS_OFF : TL_SOFTIRQ;
            const unsigned must_not = id <= 2 ? TL_NMI : TL_NMI | TL_HARDIRQ | TL_IRQS_OFF;
            if ((event.flags & must) != must || (event.flags & must_not) != 0) {
                wrong++;
                flags = event.flags;
            }
        }
        EXPECT_EQ(wrong, 0U) << "for example " << std::hex << flags;
    }
}

// A session that excludes nobody records the idle tasks, too.
TEST(Context, OfTheIdleTaskIsRecordedLikeAnyOther) {
    Traced traced;
    traced.add(entry_of(1, "update_process_times"));
    traced.add(call_or_entry_of(2, "update_process_times"));
    traced.start();
    usleep(500'000);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 2; id++) {
        EXPECT_EQ(traced.counters(id).filtered, 0U) << "there is no filter";
        std::uint64_t idle = 0;
        for (const Event& event : traced.events(id)) {
            if (event.tid == 0) {
                idle++;
                EXPECT_EQ(event.tgid, 0U);
                EXPECT_TRUE(std::string(event.comm.data()).starts_with("swapper/"));
            }
        }
        EXPECT_GT(idle, 0U);
    }
}

TEST(Context, OfATaskAtABreakpointIsPlain) {
    const JumpOptimisation off(false);
    Traced traced;
    for (std::uint16_t id = 1; id <= 2; id++) {
        ProbeRequest request = entry_of(
            id, "write_null",
            id == 1 ? store_args({}) : Program{reg(0, argument_word(2)), put(0), accept()});
        request.offset = behind_entry("write_null");
        traced.add(request);
    }
    traced.start();
    write_everywhere(100);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(technique_of(traced.session().site(1).now), Technique::breakpoint);
    const std::vector<Event> events = traced.events();
    EXPECT_EQ(events.size(), 200U * (online_cpus() + 1));
    for (const Event& event : events)
        ASSERT_EQ(event.flags & ~TL_NEED_RESCHED, 0);
}

TEST(Context, OfATaskAtAnOptimisedJumpIsPlain) {
    if (!makes_jumps)
        GTEST_SKIP() << "x86 alone makes jumps of breakpoints";
    SessionConfig config;
    config.tgids = {static_cast<std::uint32_t>(getpid())};
    Traced traced(config);
    ProbeRequest request = entry_of(1, "vfs_write", {reg(0, argument_word(2)), put(0), accept()});
    request.offset = behind_entry("vfs_write");
    traced.add(request);
    ASSERT_TRUE(
        wait_for([&] { return technique_of(traced.session().site(1).now) == Technique::jump; }));
    traced.start();
    NullWriter writer;
    writer.write(100);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    ASSERT_EQ(events.size(), 100U);
    std::uint64_t number = 0;
    for (const Event& event : events) {
        ASSERT_EQ(traced.fields(event).entry[0].number, ++number);
        ASSERT_EQ(event.flags & ~TL_NEED_RESCHED, 0);
    }
}

TEST(Context, IsTheSameAtABreakpointInAnInterrupt) {
    const JumpOptimisation off(false);
    Traced traced;
    ProbeRequest request = entry_of(1, "update_process_times");
    request.offset = behind_entry("update_process_times");
    traced.add(request);
    traced.start();
    keep_busy(150);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events();
    EXPECT_FALSE(events.empty());
    for (const Event& event : events)
        ASSERT_EQ(event.flags & (TL_HARDIRQ | TL_IRQS_OFF | TL_NMI), TL_HARDIRQ | TL_IRQS_OFF);
}

constexpr const char* tracing = "/sys/kernel/tracing/";

bool put_tracing(const std::string& file, const std::string& text, int flags = 0) {
    return write_file(tracing + file, text, flags);
}

// ftrace's own kprobe events, as long as they are wanted.
class Ftrace {
public:
    explicit Ftrace(const std::vector<std::string>& probes) {
        EXPECT_TRUE(put_tracing("trace", "\n", O_TRUNC));
        EXPECT_TRUE(put_tracing("buffer_size_kb", "4096\n"));
        EXPECT_TRUE(put_tracing("options/irq-info", "1\n"));
        for (const std::string& probe : probes)
            EXPECT_TRUE(put_tracing("kprobe_events", probe + "\n", O_APPEND)) << probe;
    }
    Ftrace(const Ftrace&) = delete;
    Ftrace& operator=(const Ftrace&) = delete;
    ~Ftrace() {
        enable(false);
        put_tracing("kprobe_events", "\n", O_TRUNC);
        put_tracing("trace", "\n", O_TRUNC);
        put_tracing("buffer_size_kb", "16\n");
    }

    static bool there() { return access("/sys/kernel/tracing/kprobe_events", F_OK) == 0; }
    void enable(bool on) { EXPECT_TRUE(put_tracing("events/tltest/enable", on ? "1" : "0")); }

    struct Line {
        std::string event;
        char interrupts = 0;
        char context = 0;
        char depth = 0;
        std::vector<std::uint64_t> values; // in order
    };

    // By task.
    static std::map<std::uint32_t, std::vector<Line>> lines() {
        std::map<std::uint32_t, std::vector<Line>> all;
        std::istringstream text(read_file(std::string(tracing) + "trace"));
        std::vector<std::string> letters; // what each is of; a real-time kernel has more
        const auto letter = [&](const std::string& flags, std::string_view of) {
            for (std::size_t n = 0; n < letters.size(); n++)
                if (letters[n].starts_with(of))
                    return flags.at(n);
            throw Error(fmt::format("ftrace tells no {}", of));
        };
        for (std::string line; std::getline(text, line);) {
            if (line.empty() || line[0] == '#') {
                // "#                              | / _---=> hardirq/softirq"
                if (const std::size_t arrow = line.find("-=> "); arrow != std::string::npos)
                    letters.push_back(line.substr(arrow + 4));
                continue;
            }
            // "  comm-123   [001] d..2.   12.345678: name: (place) a=0x1 b=0x2"
            const std::size_t bracket = line.find(" [");
            const std::size_t dash = line.rfind('-', bracket);
            Line parsed;
            std::istringstream rest(line.substr(line.find(']', bracket) + 1));
            std::string word;
            std::string flags;
            rest >> flags >> word >> parsed.event;
            parsed.interrupts = letter(flags, "irqs-off");
            parsed.context = letter(flags, "hardirq/softirq");
            parsed.depth = letter(flags, "preempt-depth");
            while (rest >> word)
                if (const std::size_t equals = word.find('='); equals != std::string::npos)
                    parsed.values.push_back(std::stoull(word.substr(equals + 1), nullptr, 16));
            all[static_cast<std::uint32_t>(std::stoul(line.substr(dash + 1)))].push_back(parsed);
        }
        return all;
    }
};

TEST(Ftrace, RecordingTheSameCallsAgreesEventForEvent) {
    if (!Ftrace::there())
        GTEST_SKIP() << "this kernel has no kprobe events";
    Traced traced;
    traced.add(entry_of(1, "write_null", store_args({0, 1, 2})));
    traced.add(return_of(2, "write_null"));
    traced.add(call_of(3, "write_null", store_args({0, 1, 2})));
    const Ftrace ftrace({"p:tltest/entry write_null file=" + event_register(0) + ":x64 buffer=" +
                             event_register(1) + ":x64 length=" + event_register(2) + ":x64",
                         "r:tltest/return write_null ret=$retval:x64"});
    const_cast<Ftrace&>(ftrace).enable(true);
    traced.start();
    const std::vector<Worker> workers = write_everywhere(300);
    traced.stop();
    const_cast<Ftrace&>(ftrace).enable(false);
    traced.drain();
    traced.expect_exact();

    std::map<std::uint32_t, std::vector<Ftrace::Line>> theirs = Ftrace::lines();
    std::uint64_t differ = 0;
    for (const Worker& worker : workers) {
        SCOPED_TRACE(worker.comm);
        const auto tid = static_cast<std::uint32_t>(worker.tid);
        std::vector<std::vector<std::uint64_t>> entries;
        std::vector<std::vector<std::uint64_t>> returns;
        for (const Ftrace::Line& line : theirs[tid]) {
            (line.event == "entry:" ? entries : returns).push_back(line.values);
            differ += line.context != '.' || line.depth != '.';
        }
        ASSERT_EQ(entries.size(), worker.calls);
        ASSERT_EQ(returns.size(), worker.calls);
        std::size_t at[4] = {};
        for (const Event& event : traced.events()) {
            if (event.tid != tid)
                continue;
            const FieldValues values = traced.fields(event);
            std::vector<std::uint64_t> ours;
            for (const FieldValue& value : values.entry)
                ours.push_back(value.number);
            const std::size_t n = at[event.id]++;
            ASSERT_LT(n, worker.calls);
            if (event.id != 2) {
                ASSERT_EQ(ours, entries[n]);
            }
            if (event.id != 1) {
                ASSERT_EQ(values.ret.at(0).number, returns[n].at(0));
            }
            differ += (event.flags & ~TL_NEED_RESCHED) != 0;
        }
        for (const std::size_t id : {1, 2, 3})
            EXPECT_EQ(at[id], worker.calls);
    }
    EXPECT_EQ(differ, 0U) << "contexts";
}

// The flags of the same hits, in interrupts.
TEST(Ftrace, AgreesOnTheContextInInterrupts) {
    if (!Ftrace::there())
        GTEST_SKIP() << "this kernel has no kprobe events";
    if (!ftrace_sees_breakpoints)
        GTEST_SKIP() << "ftrace's own kprobe events record nothing here";
    Ftrace ftrace({"p:tltest/tick update_process_times", "p:tltest/timers run_timer_softirq"});
    SessionConfig config;
    config.exclude_tgid = 1; // somebody who does nothing
    Traced traced(config);
    traced.add(entry_of(1, "update_process_times"));
    traced.add(entry_of(2, "run_timer_softirq"));
    traced.start();
    ftrace.enable(true);
    keep_busy(200);
    ftrace.enable(false);
    traced.stop();
    traced.drain();
    traced.expect_exact();

    // A breakpoint's handler has interrupts off, and that is what ftrace tells of it.
    const auto interrupts = [](bool off) { return off || !entries_by_ftrace() ? 'd' : '.'; };
    const auto letter = [](unsigned flags) {
        return (flags & TL_NMI) != 0                                    ? 'z'
               : (flags & TL_HARDIRQ) != 0 && (flags & TL_SOFTIRQ) != 0 ? 'H'
               : (flags & TL_HARDIRQ) != 0                              ? 'h'
               : (flags & TL_SOFTIRQ) != 0                              ? 's'
                                                                        : '.';
    };
    std::map<std::string, std::uint64_t> theirs;
    for (const auto& [tid, lines] : Ftrace::lines())
        for (const Ftrace::Line& line : lines)
            theirs[line.event + interrupts(line.interrupts != '.' && line.interrupts != 'b') +
                   line.context]++;
    std::map<std::string, std::uint64_t> ours;
    for (const Event& event : traced.events())
        ours[std::string(event.id == 1 ? "tick:" : "timers:") +
             interrupts((event.flags & TL_IRQS_OFF) != 0) + letter(event.flags)]++;
    EXPECT_FALSE(theirs.empty());
    // Ours began earlier and ended later.
    for (const auto& [what, count] : theirs)
        EXPECT_LE(count, ours[what]) << what;
    for (const auto& [what, count] : ours)
        EXPECT_LE(count, theirs[what] + 5 * online_cpus() + count / 2) << what;
}

} // namespace
