// SPDX-License-Identifier: GPL-2.0
// A recording read back: all streams in one order, and directories that are not what they should
// be.
#include "recording/trace_reader.h"

#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/contents.h"
#include "recording/directory.h"
#include "recording_fixture.h"
#include "trace/ctf_metadata.h"

using namespace trapline;
using namespace trapline::test;
namespace fs = std::filesystem;

namespace {

class Recorded {
public:
    explicit Recorded(const TraceDescription& description = small_description())
        : directory_(path()) {
        directory_.create();
        directory_.write_metadata(description);
    }
    std::string path() const { return dir_ / "rec"; }
    std::string operator/(const std::string& name) const { return path() + "/" + name; }
    StreamFile& stream(std::uint32_t cpu) { return directory_.stream(cpu); }

private:
    TempDir dir_;
    RecordingDirectory directory_;
};

struct Reading {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> events; // ticks and CPU
    std::string damage;
    std::optional<TraceReader> reader;

    explicit Reading(const std::string& path) {
        reader.emplace(path, [this](const std::string& text) { damage += text + "\n"; });
        while (const Event* event = reader->next()) {
            EXPECT_NE(reader->layout(event->id), nullptr);
            events.emplace_back(event->ticks, event->cpu);
        }
        EXPECT_EQ(reader->next(), nullptr);
        EXPECT_EQ(reader->damaged(), !damage.empty());
    }
};

std::string refusal(const std::string& path) {
    return error_of([&] { TraceReader reader(path, nullptr); });
}

TEST(TraceReader, EventsOfAllCpusByTime) {
    Recorded recorded;
    recorded.stream(10).append(numbered_packets(10, 2000, 1500));
    recorded.stream(2).append(numbered_packets(2, 2000, 1000));
    recorded.stream(0).append(numbered_packets(0, 1000, 2000));
    recorded.stream(4);
    const Reading read(recorded.path());
    EXPECT_EQ(read.damage, "");
    ASSERT_EQ(read.events.size(), 5000U);
    EXPECT_TRUE(std::is_sorted(read.events.begin(), read.events.end()));
    EXPECT_EQ(read.events.front(), std::pair(std::uint64_t{1000}, 2U));
    EXPECT_EQ(read.events.back(), std::pair(std::uint64_t{3499}, 10U));
    ASSERT_EQ(read.reader->streams(), 3U) << "an empty file is none";
    EXPECT_EQ(read.reader->cpu(0), 0U);
    EXPECT_EQ(read.reader->cpu(1), 2U);
    EXPECT_EQ(read.reader->cpu(2), 10U);
    EXPECT_TRUE(read.reader->gaps(2).empty());
}

TEST(TraceReader, LayoutsAndMarks) {
    Recorded recorded;
    TestRing ring(4096, 1);
    ASSERT_TRUE(ring.write(TL_ID_MARK, 2000, task(1, 1, "sh"), string_field("here")));
    recorded.stream(1).append(packets_of(ring));
    TraceReader reader(recorded.path(), nullptr);
    EXPECT_EQ(reader.layout(text_id)->name, "event2");
    EXPECT_EQ(reader.layout(3), nullptr);
    EXPECT_EQ(reader.layout(65535), nullptr);
    const Event* event = reader.next();
    ASSERT_NE(event, nullptr);
    EXPECT_EQ(reader.layout(event->id)->name, "mark");
    EXPECT_FALSE(reader.damaged());
}

TEST(TraceReader, TheClockGoesThroughBothAnchors) {
    TraceDescription description = small_description();
    {
        const Recorded recorded(description);
        const TraceReader reader(recorded.path(), nullptr);
        EXPECT_EQ(reader.clock().to_monotonic_ns(1000 + 2'000'000'000), 5000 + 2'000'000'000U);
    }
    description.totals.emplace();
    description.totals->stop = {.ticks = 1000 + 2'000'000'000,
                                .monotonic_ns = 5000 + 1'000'000'000,
                                .realtime_ns = 1'700'000'001'000'000'000};
    description.totals->ended_by = "SIGINT";
    const Recorded recorded(description);
    const TraceReader reader(recorded.path(), nullptr);
    EXPECT_EQ(reader.clock().to_monotonic_ns(1000 + 2'000'000'000), 5000 + 1'000'000'000U);
    EXPECT_EQ(reader.clock().to_monotonic_ns(1000), 5000U);
    EXPECT_EQ(reader.clock().to_realtime_ns(1000), 1'700'000'000'000'000'000U);
    EXPECT_EQ(reader.description().totals->ended_by, "SIGINT");
}

TEST(TraceReader, WhatIsNoRecording) {
    const TempDir dir;
    EXPECT_EQ(refusal(dir / "none"),
              "cannot open the directory " + (dir / "none") + ": No such file or directory");
    EXPECT_EQ(refusal(dir.path().string()),
              "cannot open " + (dir / "metadata") + ": No such file or directory");
    store(dir / "metadata", "/* CTF 1.8 */\n");
    EXPECT_EQ(refusal(dir / "metadata"),
              "cannot open the directory " + (dir / "metadata") + ": Not a directory");
    EXPECT_EQ(refusal(dir.path().string()),
              "cannot read the trace in " + dir.path().string() +
                  ": the metadata has no description of a trace by trapline");
    fs::resize_file(dir / "metadata", metadata_file_max + 1);
    EXPECT_EQ(refusal(dir.path().string()),
              (dir / "metadata") + " has more than 67108864 bytes: it is not by trapline");
    fs::remove(dir / "metadata");
    const Recorded recorded;
    fs::create_symlink(recorded / "metadata", dir / "metadata");
    EXPECT_EQ(refusal(dir.path().string()), (dir / "metadata") + " is a symbolic link, not a file");
    fs::remove(dir / "metadata");
    ASSERT_EQ(mkfifo((dir / "metadata").c_str(), 0600), 0);
    EXPECT_EQ(refusal(dir.path().string()), (dir / "metadata") + " is a FIFO, not a file");
}

TEST(TraceReader, WhatIsNoStreamIsReported) {
    Recorded recorded;
    recorded.stream(0).append(numbered_packets(0, 10));
    store(recorded / "cpu_1", "this is no packet at all");
    store(recorded / ".hidden", "nobody looks at this");
    fs::create_symlink(recorded / "cpu_0", recorded / "cpu_2");
    fs::create_symlink(recorded / "nowhere", recorded / "cpu_3");
    ASSERT_EQ(mkfifo((recorded / "cpu_4").c_str(), 0600), 0);
    fs::create_directory(recorded / "cpu_5");
    store(recorded / "odd\033name", "x");
    const Reading read(recorded.path());
    EXPECT_EQ(read.damage,
              "cpu_1: packet at byte 0: truncated: 24 of 68 bytes of a header; none follows\n" +
                  (recorded / "cpu_2") + " is a symbolic link, not a file\n" +
                  (recorded / "cpu_3") + " is a symbolic link, not a file\n" +
                  (recorded / "cpu_4") + " is a FIFO, not a file\n" + (recorded / "cpu_5") +
                  " is a directory, not a file\n" +
                  "odd\\033name: packet at byte 0: truncated: 1 of 68 bytes of a header; none "
                  "follows\n");
    EXPECT_EQ(read.events.size(), 10U);
    EXPECT_EQ(read.reader->streams(), 1U);
}

TEST(TraceReader, TwoStreamsOfOneCpuAreBothRead) {
    Recorded recorded;
    recorded.stream(0).append(numbered_packets(0, 10, 1000));
    store(recorded / "copy", as_string(numbered_packets(0, 10, 1005)));
    const Reading read(recorded.path());
    EXPECT_EQ(read.damage, recorded.path() + ": more than one stream is of CPU 0\n");
    EXPECT_EQ(read.events.size(), 20U);
    EXPECT_TRUE(std::is_sorted(read.events.begin(), read.events.end()));
}

TEST(TraceReader, DamageInOneStreamLeavesTheOthers) {
    Recorded recorded;
    recorded.stream(0).append(numbered_packets(0, 100, 1000, 4096));
    recorded.stream(1).append(numbered_packets(1, 100, 1000, 4096));
    std::string bytes = contents(recorded / "cpu_0");
    bytes[1024] = 'x';
    store(recorded / "cpu_0", bytes);
    const Reading read(recorded.path());
    EXPECT_EQ(read.damage, "cpu_0: packet at byte 1024: it begins with 0xc1fc1f78 instead of "
                           "0xc1fc1fc1; the next one is at byte 2048\n");
    EXPECT_EQ(read.events.size(), 200U - 46);
}

} // namespace
