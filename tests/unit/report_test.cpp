// SPDX-License-Identifier: GPL-2.0
// `trapline report` on recordings made with the real writer of shared/ring.h.
#include "report/report.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "report/damage.h"
#include "report/losses.h"
#include "report_fixture.h"
#include "ring_fixture.h"
#include "trace/ctf_metadata.h"
#include "util/error.h"

using namespace trapline;
using namespace trapline::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t ring_size = 65536;
constexpr std::uint64_t s = 1'000'000'000;

// A recording with a clock of nanoseconds that began at 1 s, when it was `began` in real time.
class Recording {
public:
    Recording(fs::path path, std::uint64_t began) : path_(std::move(path)) {
        EventLayout call = layout(1, TRAPLINE_CALL, 1);
        call.name = "vfs_read";
        call.return_fields.push_back({.name = "return"});
        EventLayout entry = layout(2, TRAPLINE_ENTRY, 1);
        entry.name = "ext4:ext4_sync_file";
        description.version = "0.1.0";
        description.kernel = {"Linux", "6.1.0", "#1", "x86_64", "box", ""};
        description.clock.anchor = ClockAnchor{1 * s, 1 * s, began};
        description.chunk_size = 16384;
        description.layouts = {call, entry};
        description.probes = {
            {.id = 1, .text = "vfs_read", .symbol = "vfs_read", .maxactive = 64},
            {.id = 2, .text = "kprobe:ext4:ext4_sync_file", .symbol = "ext4:ext4_sync_file"}};
    }

    TestRing& ring(std::uint32_t cpu) {
        auto& ring = rings_[cpu];
        if (!ring)
            ring = std::make_unique<TestRing>(ring_size, cpu);
        return *ring;
    }

    void call(std::uint32_t cpu, std::uint64_t ns, std::uint64_t arg, std::uint64_t duration,
              std::uint64_t returned, std::uint32_t pid = 99, std::string_view comm = "cat") {
        std::vector<std::uint8_t> fields = number_field(arg);
        for (const std::uint64_t number : {duration, returned}) {
            const std::vector<std::uint8_t> more = number_field(number);
            fields.insert(fields.end(), more.begin(), more.end());
        }
        ring(cpu).write(1, ns, task(pid, pid, comm), fields);
    }

    void entry(std::uint32_t cpu, std::uint64_t ns, std::uint64_t arg, std::uint32_t pid = 99,
               std::string_view comm = "cat") {
        ring(cpu).write(2, ns, task(pid, pid, comm), number_field(arg));
    }

    void mark(std::uint64_t ns, std::string_view text) {
        ring(0).write(TL_ID_MARK, ns, task(7, 7, "sh"), string_field(text));
    }

    // It ended as it should, at 11 s, with these many hits of the first probe filtered.
    void end(std::uint64_t filtered) {
        TraceTotals& totals = description.totals.emplace();
        totals.stop = {11 * s, 11 * s, description.clock.anchor->realtime_ns + 10 * s};
        totals.ended_by = "SIGINT";
        ProbeTotals& first = totals.probes.emplace_back();
        first.id = 1;
        first.counters.hits = 2 + filtered;
        first.counters.recorded = 2;
        first.counters.entered = 2;
        first.counters.returned = 2;
        first.counters.filtered = filtered;
        for (auto& [cpu, ring] : rings_) {
            RingTotals& of = totals.rings.emplace_back();
            of.cpu = cpu;
            of.written = of.read = ring->control().written;
            of.lost_full = ring->control().lost_full;
        }
    }

    // Gives back what the ring holds, for the writer to go on, into the stream's file.
    void save(std::uint32_t cpu, std::uint64_t now) {
        TestRing& ring = this->ring(cpu);
        ring.finish(now);
        std::ofstream file(stream(cpu), std::ios::binary | std::ios::app);
        for (std::uint64_t at = ring.consumer().tail; at < ring.control().head;
             at += ring.chunk_size())
            file.write(reinterpret_cast<const char*>(ring.data()) + at % ring_size,
                       ring.chunk_size());
        ring.consumer().tail = ring.control().head;
    }

    void write() {
        fs::create_directories(path_);
        for (auto& [cpu, ring] : rings_)
            save(cpu, 11 * s);
        std::ofstream(path_ / "metadata") << ctf_metadata(description);
    }

    fs::path stream(std::uint32_t cpu) const { return path_ / ("cpu_" + std::to_string(cpu)); }

    TraceDescription description;

private:
    fs::path path_;
    std::map<std::uint32_t, std::unique_ptr<TestRing>> rings_;
};

class ReportCommand : public ReportRun {
protected:
    ReportCommand() {
        char name[] = "/tmp/trapline-report-XXXXXX";
        if (mkdtemp(name) == nullptr)
            throw std::runtime_error("no temporary directory");
        base_ = name;
    }
    ~ReportCommand() override { fs::remove_all(base_); }

    std::string path(const std::string& name) const { return (base_ / name).string(); }

    Recording recording(const std::string& name = "t", std::uint64_t began = 1'700'000'000 * s) {
        fs::create_directories(base_ / name);
        return {base_ / name, began};
    }

    // Two calls and an entry on two CPUs, and a mark.
    Recording example(const std::string& name = "t", std::uint64_t began = 1'700'000'000 * s) {
        Recording trace = recording(name, began);
        trace.call(0, 2 * s, 0xa, 12'345, 5);
        trace.entry(1, 3 * s, 0xb, 42, "dd");
        trace.call(0, 4 * s, 0xc, 100, -std::uint64_t{2});
        trace.mark(5 * s, "half \033 way");
        return trace;
    }

private:
    fs::path base_;
};

constexpr const char* example_text =
    "             cat-99      [000] ....      2.000000: vfs_read(0xa) = 0x5 <12.3 us>\n"
    "              dd-42      [001] ....      3.000000: ext4:ext4_sync_file(0xb)\n"
    "             cat-99      [000] ....      4.000000: vfs_read(0xc) = -2 ENOENT <100 ns>\n"
    "              sh-7       [000] ....      5.000000: mark: half \\033 way\n";

constexpr const char* example_accounting =
    "probe     kind  hits  recorded  filtered  dropped  inside\n"
    "vfs_read  call     7         2         5        0       0\n";

TEST_F(ReportCommand, TextAndAccounting) {
    Recording trace = example();
    trace.end(5);
    trace.write();
    EXPECT_EQ(run({path("t")}), 0);
    EXPECT_EQ(out, example_text);
    EXPECT_EQ(err, example_accounting);
}

TEST_F(ReportCommand, Json) {
    example().write();
    EXPECT_EQ(run({"--json", path("t")}), 0);
    std::istringstream lines(out);
    std::vector<nlohmann::json> events;
    for (std::string line; std::getline(lines, line);)
        events.push_back(nlohmann::json::parse(line));
    ASSERT_EQ(events.size(), 4U);
    EXPECT_EQ(events[0].at("return"), "0x5");
    EXPECT_FALSE(events[0].contains("trace"));
    EXPECT_EQ(events[1].at("time_ns"), 3 * s);
    EXPECT_EQ(events[3].at("text"), "half \033 way");
}

TEST_F(ReportCommand, Csv) {
    example().write();
    EXPECT_EQ(run({"--csv", path("t")}), 0);
    EXPECT_EQ(out, "time_ns,cpu,pid,tid,comm,flags,event,kind,arg0,text,return,errno,duration_ns\n"
                   "2000000000,0,99,99,cat,....,vfs_read,call,0xa,,0x5,,12345\n"
                   "3000000000,1,42,42,dd,....,ext4:ext4_sync_file,entry,0xb,,,,\n"
                   "4000000000,0,99,99,cat,....,vfs_read,call,0xc,,0xfffffffffffffffe,ENOENT,100\n"
                   "5000000000,0,7,7,sh,....,mark,mark,,half \\033 way,,,\n");
}

TEST_F(ReportCommand, FiltersChooseEventsAndChangeNoAccounting) {
    Recording trace = example();
    trace.end(5);
    trace.write();
    const std::string all = example_text;
    const auto lines = [&](std::size_t first, std::size_t count) {
        std::size_t from = 0;
        for (; first > 0; first--)
            from = all.find('\n', from) + 1;
        std::size_t to = from;
        for (; count > 0; count--)
            to = all.find('\n', to) + 1;
        return all.substr(from, to - from);
    };
    const auto shown = [&](const std::string& option, const std::string& value) {
        EXPECT_EQ(run({option, value, path("t")}), 0);
        EXPECT_EQ(err, example_accounting);
        return out;
    };
    EXPECT_EQ(shown("--probe", "ext4:*"), lines(1, 1));
    EXPECT_EQ(shown("--pid", "42"), lines(1, 1));
    EXPECT_EQ(shown("--comm", "cat"), lines(0, 1) + lines(2, 1));
    EXPECT_EQ(shown("--time", "3,4"), lines(1, 2));
    EXPECT_EQ(run({"--probe", "nothing", path("t")}), Error::failed);
    EXPECT_NE(failure.find("'nothing'"), std::string::npos);
    EXPECT_EQ(out, "");
}

TEST_F(ReportCommand, LongTaskNamesAreWarnedAbout) {
    Recording trace = recording();
    trace.entry(0, 2 * s, 1, 5, "exactly15letter");
    trace.write();
    EXPECT_EQ(run({"--comm", "exactly15lettersandmore", path("t")}), 0);
    EXPECT_NE(out.find("exactly15letter-5"), std::string::npos);
    EXPECT_NE(err.find("trapline: --comm: "), std::string::npos);
}

TEST_F(ReportCommand, SeveralTracesInRealTime) {
    Recording first = recording("a", 1'700'000'000 * s);
    Recording second = recording("long\033", 1'700'000'001 * s);
    first.entry(0, 2 * s, 1);  // 1700000001
    first.entry(0, 4 * s, 3);  // 1700000003
    second.entry(0, 1 * s, 2); // 1700000001
    second.entry(0, 2 * s, 2); // 1700000002
    first.write();
    second.write();
    const std::string a = path("a") + "       : ";
    const std::string b = path("long\\033") + ": ";
    const auto line = [](const char* time, const char* arg) {
        return std::string("             cat-99      [000] .... ") + time +
               ": ext4:ext4_sync_file(" + arg + ")\n";
    };
    EXPECT_EQ(run({path("a"), path("long\033")}), 0);
    EXPECT_EQ(out, a + line("1700000001.000000", "0x1") + b + line("1700000001.000000", "0x2") + b +
                       line("1700000002.000000", "0x2") + a + line("1700000003.000000", "0x3"));
    // Equal times: in the order of the arguments.
    EXPECT_EQ(run({path("long\033"), path("a")}), 0);
    EXPECT_TRUE(out.starts_with(b + line("1700000001.000000", "0x2") + a)) << out;

    EXPECT_EQ(run({"--time", "1700000002,1700000002", path("a"), path("long\033")}), 0);
    EXPECT_EQ(out, b + line("1700000002.000000", "0x2"));

    EXPECT_EQ(run({"--json", path("a"), path("long\033")}), 0);
    EXPECT_TRUE(out.starts_with("{\"trace\":\"" + path("a") +
                                "\",\"realtime_ns\":1700000001000000000,\"time_ns\":2000000000,"))
        << out;
    EXPECT_EQ(run({"--csv", path("a"), path("long\033")}), 0);
    EXPECT_TRUE(out.starts_with("trace,realtime_ns,time_ns,")) << out;
    EXPECT_NE(out.find("\n" + path("long\\033") + ",1700000001000000000,1000000000,0,99,"),
              std::string::npos)
        << out;
}

TEST_F(ReportCommand, TracesWithoutRealTimeCannotBeMerged) {
    Recording first = example("a");
    Recording second = example("b");
    second.description.clock.anchor.reset();
    first.write();
    second.write();
    EXPECT_EQ(run({path("a"), path("b")}), Error::failed);
    EXPECT_NE(failure.find(path("b")), std::string::npos);
    EXPECT_NE(hint.find("trapline report " + path("b")), std::string::npos);
    EXPECT_EQ(run({path("b")}), 0);
}

TEST_F(ReportCommand, Summary) {
    setenv("TZ", "UTC", 1);
    tzset();
    Recording trace = example();
    trace.end(5);
    trace.write();
    EXPECT_EQ(run({"--summary", path("t")}), 0);
    EXPECT_EQ(out,
              path("t") +
                  "\n"
                  "  kernel    Linux 6.1.0 x86_64 on box\n"
                  "  recorded  2023-11-14T22:13:20+00:00, for 10.0 s\n"
                  "  by        trapline 0.1.0, 2 probes\n"
                  "  mode      everything; what found no room was dropped\n"
                  "  ended     SIGINT\n"
                  "\n"
                  "probe                kind   events  errors    total     min     avg      max\n"
                  "vfs_read             call        2       1  12.4 us  100 ns  6.2 us  12.3 us\n"
                  "ext4:ext4_sync_file  entry       1       -        -       -       -        -\n"
                  "mark                 mark        1       -        -       -       -        -\n"
                  "\n" +
                  example_accounting +
                  "\n"
                  "ring   recorded  saved  overwritten  not saved  lost\n"
                  "CPU 0         3      3            0          0     0\n"
                  "CPU 1         1      1            0          0     0\n"
                  "total         4      4            0          0     0\n");
    EXPECT_EQ(err, "");
    EXPECT_EQ(run({"--summary", "--probe", "ext4*", path("t")}), 0);
    EXPECT_NE(out.find("ext4:ext4_sync_file  entry       1"), std::string::npos) << out;
    EXPECT_EQ(out.find("mark  "), std::string::npos) << out;
    EXPECT_EQ(out.find("vfs_read             call"), std::string::npos) << out;
    EXPECT_NE(out.find(example_accounting), std::string::npos) << out;
    EXPECT_EQ(run({"--summary", path("t"), path("t")}), 0);
    EXPECT_NE(out.find("\n\n" + path("t") + "\n  kernel"), std::string::npos) << out;
    unsetenv("TZ");
    tzset();
}

TEST_F(ReportCommand, DroppedEventsAreToldOf) {
    Recording trace = recording();
    // Twice as much as there is room for, in two bursts.
    std::uint64_t now = 2 * s;
    for (int burst = 0; burst < 2; burst++) {
        for (int i = 0; i < 6000; i++)
            trace.entry(2, now++, 1);
        trace.save(2, now);
        now += s;
    }
    const std::uint64_t lost = trace.ring(2).control().lost_full;
    ASSERT_GT(lost, 0U);
    trace.end(5);
    trace.write();
    EXPECT_EQ(run({path("t")}), 0);
    EXPECT_NE(err.find("CPU 2: " + std::to_string(lost) + " events dropped"), std::string::npos)
        << err;
    EXPECT_EQ(run({"--summary", path("t")}), 0);
    EXPECT_NE(out.find("\nCPU 2: "), std::string::npos) << out;
    EXPECT_NE(out.find(" events dropped between 2.00"), std::string::npos) << out;
}

TEST_F(ReportCommand, KilledRecording) {
    example().write();
    EXPECT_EQ(run({path("t")}), 0);
    EXPECT_EQ(out, example_text);
    EXPECT_NE(err.find("the recording has not ended, or was killed"), std::string::npos);
    EXPECT_EQ(run({"--summary", path("t")}), 0);
    EXPECT_NE(out.find("ended     not yet, or it was killed: no totals"), std::string::npos);
    EXPECT_NE(out.find("at least for 4.0 s"), std::string::npos) << out;
}

TEST_F(ReportCommand, DamageIsReportedAndTheRestRead) {
    Recording trace = example();
    trace.end(5);
    trace.write();
    std::fstream file(trace.stream(0));
    // An event id that there is not, in place of the second record's.
    file.seekp(TL_PACKET_SIZE + TL_COMPACT_SIZE + TL_TASK_FIELDS + TL_COMPACT_SIZE + 24);
    file.write("\x33\x33", 2);
    file.close();
    EXPECT_EQ(run({path("t")}), Error::failed);
    EXPECT_NE(out.find("vfs_read(0xa)"), std::string::npos) << out;
    EXPECT_NE(out.find("ext4:ext4_sync_file(0xb)"), std::string::npos) << out;
    EXPECT_NE(err.find("trapline: " + path("t") + "/cpu_0: "), std::string::npos) << err;
    EXPECT_NE(err.find("is damaged: what can be read was read\n"), std::string::npos) << err;
    EXPECT_NE(err.find(example_accounting), std::string::npos) << err;
}

TEST_F(ReportCommand, WhatIsNoRecording) {
    EXPECT_EQ(run({path("missing")}), Error::failed);
    EXPECT_NE(failure.find(path("missing")), std::string::npos) << failure;
    EXPECT_NE(hint.find("trapline record"), std::string::npos) << hint;
    fs::create_directories(path("empty"));
    EXPECT_EQ(run({path("empty")}), Error::failed);
    EXPECT_NE(failure.find(path("empty")), std::string::npos) << failure;
    EXPECT_FALSE(hint.empty());
    EXPECT_EQ(run({"--time", "x"}), Error::usage);
}

TEST_F(ReportCommand, NothingUnprintableGetsOut) {
    Recording trace = example();
    trace.description.command = {"\033"};
    trace.description.kernel.release = "\x9b";
    trace.entry(1, 6 * s, 1, 5, "\033[2J");
    trace.end(5);
    trace.description.totals->ended_by = "\033";
    trace.description.totals->probes[0].gone = true;
    trace.write();
    for (const char* form : {"--json", "--csv", "--summary"}) {
        EXPECT_EQ(run({form, path("t")}), 0);
        for (const char c : out + err)
            ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << out << err;
    }
    EXPECT_EQ(run({path("t")}), 0);
    for (const char c : out + err)
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << out << err;
    EXPECT_NE(err.find("its trap was gone at the end"), std::string::npos) << err;
}

// As `head` leaves us: the end, not an error.
TEST_F(ReportCommand, ClosedOutputEndsItQuietly) {
    example().write();
    for (const bool ignored : {false, true}) {
        const pid_t child = fork();
        if (child == 0) {
            int fds[2];
            if (pipe(fds) != 0)
                _exit(1);
            close(fds[0]);
            dup2(fds[1], STDOUT_FILENO);
            (void)std::signal(SIGPIPE, ignored ? SIG_IGN : SIG_DFL);
            report_command({path("t")});
            _exit(2);
        }
        int status = 0;
        waitpid(child, &status, 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE) << status;
    }
}

TEST(ReportDamage, TheFirstOnesOfEachFile) {
    std::vector<std::string> lines;
    DamageLog log("d:ir", [&](const std::string& line) { lines.push_back(line); });
    for (int i = 0; i < 25; i++)
        log.report("d:ir/cpu_0: packet " + std::to_string(i) + ": x\033");
    log.report("cpu_1: y");
    EXPECT_EQ(lines.size(), 21U);
    EXPECT_EQ(lines[0], "trapline: d:ir/cpu_0: packet 0: x\\033\n");
    EXPECT_EQ(lines[20], "trapline: d:ir/cpu_1: y\n");
    lines.clear();
    log.finish();
    EXPECT_EQ(lines, std::vector<std::string>{"trapline: d:ir/cpu_0: 5 more pieces of damage\n"});
}

TEST(ReportLosses, InShortAndInFull) {
    const auto time = [](std::uint64_t ticks) { return std::to_string(ticks) + ".5"; };
    const std::vector<Gap> gaps{{.from = 0, .to = 3, .dropped = 0, .overwritten = 100},
                                {.from = 5, .to = 7, .dropped = 1, .overwritten = 0},
                                {.from = 8, .to = 9, .dropped = 22, .overwritten = 3}};
    EXPECT_EQ(gaps_text(2, gaps, time), "CPU 2: 100 events overwritten before 3.5\n"
                                        "CPU 2: 1 event dropped between 5.5 and 7.5\n"
                                        "CPU 2: 22 events dropped between 8.5 and 9.5\n"
                                        "CPU 2: 3 events overwritten between 8.5 and 9.5\n");
    EXPECT_EQ(losses_text(2, gaps, time),
              "CPU 2: 23 events dropped in 2 places, first between 5.5 and 7.5; --summary lists "
              "all\n"
              "CPU 2: 103 events overwritten in 2 places, first before 3.5; --summary lists all\n");
    EXPECT_EQ(losses_text(2, std::span(gaps).subspan(1, 1), time),
              "CPU 2: 1 event dropped between 5.5 and 7.5\n");
    EXPECT_EQ(losses_text(2, {}, time), "");
}

} // namespace
