// SPDX-License-Identifier: GPL-2.0
// The directory of a recording: what it takes the place of, and what it leaves alone.
#include "recording/directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include "recording/packet.h"
#include "recording_fixture.h"
#include "trace/ctf_metadata.h"

using namespace trapline;
using namespace trapline::test;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    return status.st_mode & 07777;
}

// A recording with that version of the tool in its metadata, to tell one from another.
void record(const std::string& path, const std::string& version) {
    RecordingDirectory directory(path);
    directory.create();
    TraceDescription description = small_description();
    description.version = version;
    directory.write_metadata(description);
    directory.stream(0).append(numbered_packets(0, 1));
}

std::string version_of(const std::string& path) {
    return description_in_metadata(contents(path + "/metadata")).version;
}

std::string refusal(const std::string& path) {
    return error_of([&] { const RecordingDirectory directory(path); });
}

TEST(RecordingDirectory, IsMadeForItsOwnerAlone) {
    const TempDir dir;
    RecordingDirectory directory(dir / "rec///");
    EXPECT_EQ(directory.path(), dir / "rec");
    EXPECT_FALSE(directory.created());
    EXPECT_FALSE(fs::exists(dir / "rec")) << "so far it only looked";
    directory.create();
    EXPECT_TRUE(directory.created());
    directory.write_metadata(small_description());
    StreamFile& first = directory.stream(0);
    for (std::uint32_t cpu = 1; cpu < 100; cpu++)
        directory.stream(cpu);
    EXPECT_EQ(&directory.stream(0), &first);
    EXPECT_EQ(mode_of(dir / "rec"), 0700U);
    EXPECT_EQ(mode_of(dir / "rec/metadata"), 0600U);
    EXPECT_EQ(mode_of(dir / "rec/cpu_99"), 0600U);
    EXPECT_TRUE(is_recording(dir / "rec"));
}

TEST(RecordingDirectory, KnowsItsSize) {
    const TempDir dir;
    RecordingDirectory directory(dir / "rec");
    directory.create();
    directory.write_metadata(small_description());
    directory.stream(0).append(numbered_packets(0, 1));
    directory.stream(3).append(numbered_packets(3, 1));
    EXPECT_EQ(directory.size(), fs::file_size(dir / "rec/metadata") + 2 * 16384);
}

TEST(RecordingDirectory, AnEmptyDirectoryIsUsed) {
    const TempDir dir;
    fs::create_directory(dir / "rec");
    fs::permissions(dir / "rec", fs::perms(0750));
    record(dir / "rec", "new");
    EXPECT_EQ(version_of(dir / "rec"), "new");
    EXPECT_EQ(mode_of(dir / "rec"), 0750U);
    EXPECT_FALSE(fs::exists(dir / "rec.old"));
}

TEST(RecordingDirectory, AnOlderRecordingIsKeptOnce) {
    const TempDir dir;
    record(dir / "rec", "first");
    record(dir / "rec/", "second");
    EXPECT_EQ(version_of(dir / "rec"), "second");
    EXPECT_EQ(version_of(dir / "rec.old"), "first");
    store(dir / "rec.old/.metadata.new", "left by one that was killed");
    record(dir / "rec", "third");
    EXPECT_EQ(version_of(dir / "rec"), "third");
    EXPECT_EQ(version_of(dir / "rec.old"), "second");
}

TEST(RecordingDirectory, AnEmptyOldDirectoryGivesWay) {
    const TempDir dir;
    record(dir / "rec", "first");
    fs::create_directory(dir / "rec.old");
    record(dir / "rec", "second");
    EXPECT_EQ(version_of(dir / "rec.old"), "first");
}

TEST(RecordingDirectory, WhatIsNoRecordingStays) {
    const TempDir dir;
    store(dir / "file", "mine");
    EXPECT_EQ(refusal(dir / "file"), (dir / "file") + " is in the way: it is not a directory");
    fs::create_directory(dir / "full");
    store(dir / "full/mine", "");
    EXPECT_EQ(refusal(dir / "full/"),
              (dir / "full") + " is in the way: it is a directory that holds no recording");
    store(dir / "full/metadata", "/* CTF 1.8 */\nenv { tracer_name = \"lttng-modules\"; };\n");
    EXPECT_EQ(refusal(dir / "full"),
              (dir / "full") + " is in the way: it is a directory that holds no recording");
    fs::create_directory(dir / "empty");
    fs::create_directory_symlink(dir / "empty", dir / "link");
    EXPECT_EQ(refusal(dir / "link"), (dir / "link") + " is in the way: it is a symbolic link");
    fs::create_symlink(dir / "nowhere", dir / "dangling");
    EXPECT_EQ(refusal(dir / "dangling"),
              (dir / "dangling") + " is in the way: it is a symbolic link");
    EXPECT_EQ(refusal(dir / "file/rec"),
              "cannot look at " + (dir / "file/rec") + ": Not a directory");
    EXPECT_EQ(refusal(dir / "none/rec"), "cannot make anything in the directory " + (dir / "none") +
                                             ": No such file or directory");
    EXPECT_EQ(refusal(""), "a recording needs a name for its directory");
    EXPECT_EQ(refusal("//"), "/ is no name for a recording");
    EXPECT_EQ(refusal(dir / "."), (dir / ".") + " is no name for a recording");
    EXPECT_EQ(refusal(dir / "x/.."), (dir / "x/..") + " is no name for a recording");
}

TEST(RecordingDirectory, IsNobodyElsesWhileItIsRecorded) {
    const TempDir dir;
    {
        RecordingDirectory directory(dir / "rec");
        directory.create();
        directory.write_metadata(small_description());
        EXPECT_EQ(refusal(dir / "rec"),
                  (dir / "rec") + " is in the way: it is being recorded just now");
    }
    EXPECT_EQ(refusal(dir / "rec"), "") << "the lock goes with its holder";
}

TEST(RecordingDirectory, WithdrawnItLeavesWhatWasThere) {
    const TempDir dir;
    record(dir / "rec", "older");
    {
        RecordingDirectory directory(dir / "rec");
        directory.create();
        directory.write_metadata(small_description());
        directory.reserve_metadata(5000);
        EXPECT_EQ(version_of(dir / "rec.old"), "older");
        directory.withdraw();
        EXPECT_FALSE(directory.created());
    }
    EXPECT_EQ(version_of(dir / "rec"), "older");
    EXPECT_FALSE(fs::exists(dir / "rec.old"));
    RecordingDirectory fresh(dir / "fresh");
    fresh.create();
    fresh.write_metadata(small_description());
    fresh.withdraw();
    EXPECT_FALSE(fs::exists(dir / "fresh"));
}

TEST(RecordingDirectory, HoldsRoomForItsMetadata) {
    const TempDir dir;
    RecordingDirectory directory(dir / "rec");
    directory.create();
    directory.write_metadata(small_description());
    directory.reserve_metadata(100000);
    EXPECT_EQ(fs::file_size(dir / "rec/.reserve"), 100000U);
    directory.write_metadata(small_description());
    EXPECT_FALSE(fs::exists(dir / "rec/.reserve"));
}

// What lies in PATH.old and is no part of a recording is never deleted.
TEST(RecordingDirectory, WhatIsNoRecordingAtOldStays) {
    const TempDir dir;
    record(dir / "rec", "first");
    const auto way = [&](const std::string& what) {
        return (dir / "rec.old") + " is in the way: it " + what;
    };
    store(dir / "rec.old", "mine");
    EXPECT_EQ(refusal(dir / "rec"), way("is not a directory"));
    fs::remove(dir / "rec.old");
    fs::create_directory(dir / "else");
    fs::create_directory_symlink(dir / "else", dir / "rec.old");
    EXPECT_EQ(refusal(dir / "rec"), way("is a symbolic link"));
    fs::remove(dir / "rec.old");
    record(dir / "rec", "second");
    store(dir / "rec.old/notes", "mine");
    EXPECT_EQ(refusal(dir / "rec"), way("holds notes, which is no part of a recording"));
    fs::remove(dir / "rec.old/notes");
    fs::create_directory(dir / "rec.old/cpu_9");
    EXPECT_EQ(refusal(dir / "rec"), way("holds cpu_9, which is no part of a recording"));
    fs::remove(dir / "rec.old/cpu_9");
    store(dir / "else/cpu_7", "mine");
    fs::create_symlink(dir / "else/cpu_7", dir / "rec.old/cpu_7");
    EXPECT_EQ(refusal(dir / "rec"), way("holds cpu_7, which is no part of a recording"));
    // The same when it came there after the look.
    fs::remove(dir / "rec.old/cpu_7");
    RecordingDirectory third(dir / "rec");
    store(dir / "rec.old/notes", "mine");
    EXPECT_EQ(error_of([&] { third.create(); }),
              way("holds notes, which is no part of a recording"));
    EXPECT_EQ(version_of(dir / "rec"), "second");
    EXPECT_EQ(version_of(dir / "rec.old"), "first");
    EXPECT_EQ(contents(dir / "else/cpu_7"), "mine");
}

TEST(RecordingDirectory, NothingIsWrittenThroughALink) {
    const TempDir dir;
    store(dir / "mine", "mine");
    fs::create_directory(dir / "rec");
    RecordingDirectory directory(dir / "rec");
    directory.create();
    for (const char* name : {"metadata", ".metadata.new", "cpu_0"})
        fs::create_symlink(dir / "mine", (dir / "rec/") + name);
    directory.write_metadata(small_description());
    EXPECT_EQ(error_of([&] { directory.stream(0); }),
              "cannot make " + (dir / "rec/cpu_0") + ": File exists");
    EXPECT_EQ(contents(dir / "mine"), "mine");
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(dir / "rec/metadata")));
}

TEST(RecordingDirectory, MetadataIsReplacedWholeOrNot) {
    const TempDir dir;
    RecordingDirectory directory(dir / "rec");
    directory.create();
    directory.write_metadata(small_description());
    const std::string before = contents(dir / "rec/metadata");
    // In its temporary name's way is what can't be removed like a file.
    fs::create_directory(dir / "rec/.metadata.new");
    TraceDescription later = small_description();
    later.version = "later";
    EXPECT_EQ(error_of([&] { directory.write_metadata(later); }),
              "cannot make " + (dir / "rec/.metadata.new") + ": File exists");
    EXPECT_EQ(contents(dir / "rec/metadata"), before);
    fs::remove(dir / "rec/.metadata.new");
    // The name itself can't be taken.
    fs::rename(dir / "rec/metadata", dir / "kept");
    fs::create_directory(dir / "rec/metadata");
    EXPECT_EQ(error_of([&] { directory.write_metadata(later); }),
              "cannot write " + (dir / "rec/metadata") + ": Is a directory");
    EXPECT_FALSE(fs::exists(dir / "rec/.metadata.new")) << "nothing is left behind";
    EXPECT_EQ(directory.size(), before.size());
    fs::remove(dir / "rec/metadata");
    directory.write_metadata(later);
    EXPECT_EQ(version_of(dir / "rec"), "later");
    EXPECT_FALSE(fs::exists(dir / "rec/.metadata.new"));
}

TEST(RecordingDirectory, SeesThatItIsGone) {
    const TempDir dir;
    RecordingDirectory directory(dir / "rec");
    directory.create();
    directory.stream(0);
    directory.stream(1);
    directory.check_present();
    fs::rename(dir / "rec", dir / "elsewhere");
    directory.check_present(); // all of it is there
    fs::remove(dir / "elsewhere/cpu_1");
    EXPECT_EQ(error_of([&] { directory.check_present(); }),
              (dir / "rec/cpu_1") + " is not there any more");
    fs::remove_all(dir / "elsewhere");
    EXPECT_EQ(error_of([&] { directory.check_present(); }),
              (dir / "rec") + " is not there any more");
}

TEST(RecordingDirectory, IsToldFromOthers) {
    const TempDir dir;
    EXPECT_FALSE(is_recording(dir / "none"));
    EXPECT_FALSE(is_recording(dir.path().string()));
    store(dir / "metadata", "/* CTF 1.8 */\n/* trapline: {\"format\":99} */\n");
    EXPECT_TRUE(is_recording(dir.path().string())) << "a later version's";
    EXPECT_FALSE(is_recording(dir / "metadata"));
    fs::remove(dir / "metadata");
    ASSERT_EQ(mkfifo((dir / "metadata").c_str(), 0600), 0);
    EXPECT_FALSE(is_recording(dir.path().string())) << "nor does it wait";
}

// ---- What babeltrace2 makes of it. It is among the tests' dependencies, so it is there.

struct Babeltrace {
    std::string out;
    std::string err;

    explicit Babeltrace(const std::string& path) {
        const TempDir dir;
        out = output_of("babeltrace2 --clock-cycles --no-delta '" + path + "' 2>'" + (dir / "err") +
                        "'");
        err = contents(dir / "err");
    }

    // Lines of events, those that name tasks apart.
    std::size_t events() const {
        std::size_t count = 0;
        for (std::size_t at = 0; at < out.size(); at = out.find('\n', at) + 1)
            count += contains(out.substr(at, out.find('\n', at) - at), " task: ") ? 0 : 1;
        return count;
    }
};

class Recorded {
public:
    Recorded() : directory_(path()) {
        directory_.create();
        directory_.write_metadata(small_description());
    }
    std::string path() const { return dir_ / "rec"; }
    StreamFile& stream(std::uint32_t cpu) { return directory_.stream(cpu); }

private:
    TempDir dir_;
    RecordingDirectory directory_;
};

TEST(BabeltraceReadsARecording, WithNoComplaint) {
    Recorded recorded;
    for (std::uint32_t cpu = 0; cpu < 3; cpu++)
        recorded.stream(cpu).append(numbered_packets(cpu, 2000, 1000 + cpu));
    TestRing marked(4096, 7);
    ASSERT_TRUE(marked.write(TL_ID_MARK, 5000, task(1, 1, "sh"), string_field("here it is")));
    recorded.stream(7).append(packets_of(marked));
    recorded.stream(8); // of which nothing was written
    const Babeltrace read(recorded.path());
    EXPECT_EQ(read.err, "");
    EXPECT_EQ(read.events(), 6001U);
    EXPECT_TRUE(contains(read.out, "text = \"here it is\"")) << read.out.substr(0, 1000);
}

TEST(BabeltraceReadsARecording, BehindAHole) {
    Recorded recorded;
    recorded.stream(0).append(numbered_packets(0, 1, 1000));
    std::vector<std::byte> rest = numbered_packets(0, 3, 2000);
    packet_at(rest, 0).packet_seq_num = 1;
    packet_at(rest, 0).first_event = 1;
    recorded.stream(0).append(rest);
    const Babeltrace read(recorded.path());
    EXPECT_EQ(read.err, "");
    EXPECT_EQ(read.events(), 4U);
}

TEST(BabeltraceReadsARecording, AndTellsOfDiscardedEvents) {
    Recorded recorded;
    std::vector<std::byte> packets = numbered_packets(0, 100, 1000, 4096);
    ASSERT_EQ(packets.size(), 3 * 1024U);
    packet_at(packets, 1024).events_discarded = 5;
    packet_at(packets, 2048).events_discarded = 5;
    recorded.stream(0).append(packets);
    const Babeltrace read(recorded.path());
    EXPECT_TRUE(contains(read.err, "Tracer discarded 5 events between [")) << read.err;
    EXPECT_EQ(read.events(), 100U);
}

TEST(BabeltraceReadsARecording, WithALastPacketThatOnlyTellsOfLosses) {
    Recorded recorded;
    recorded.stream(0).append(numbered_packets(0, 10, 1000, 4096));
    recorded.stream(0).append(empty_packet({.begin = 3000,
                                            .end = 3000,
                                            .events_discarded = 7,
                                            .sequence = 1,
                                            .first_event = 10,
                                            .cpu = 0}));
    const Babeltrace read(recorded.path());
    EXPECT_TRUE(contains(read.err, "Tracer discarded 7 events between [")) << read.err;
    EXPECT_EQ(read.err.find('\n'), read.err.size() - 1) << read.err;
    EXPECT_EQ(read.events(), 10U);
}

TEST(BabeltraceReadsARecording, AndTellsOfDiscardedPackets) {
    Recorded recorded;
    std::vector<std::byte> packets = numbered_packets(0, 100, 1000, 4096);
    packets.erase(packets.begin() + 1024, packets.begin() + 2048);
    recorded.stream(0).append(packets);
    const Babeltrace read(recorded.path());
    EXPECT_TRUE(contains(read.err, "Tracer discarded 1 packet between [")) << read.err;
}

} // namespace
