// SPDX-License-Identifier: GPL-2.0
// The CTF description against the real writer of shared/ring.h, decoded by babeltrace2 if there
// is one.
#include "trace/ctf_metadata.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <unistd.h>

#include "record_bytes.h"
#include "shared/ring.h"

using namespace trapline;
using trapline::test::RecordBytes;

namespace {

constexpr std::uint32_t ring_size = 65536;
constexpr std::uint32_t chunk_size = ring_size / 4;

const EventLayout call{.id = 1,
                       .name = "vfs_read",
                       .kind = TRAPLINE_CALL,
                       .at_entry = true,
                       .entry_fields = {{.name = "arg0"}},
                       .return_fields = {{.name = "return"}}};

// Names that clash, with each other and with ours; a string last, so that its padding counts.
const EventLayout strings{.id = 2,
                          .name = "do_open+0x1c",
                          .kind = TRAPLINE_ENTRY,
                          .at_entry = false,
                          .entry_fields = {{.name = "n", .type = FieldType::raw, .size = 2},
                                           {.name = "faults", .type = FieldType::faults},
                                           {.name = "n", .type = FieldType::string}},
                          .return_fields = {}};

const EventLayout empty{.id = 3,
                        .name = "none",
                        .kind = TRAPLINE_ENTRY,
                        .at_entry = true,
                        .entry_fields = {},
                        .return_fields = {}};

const ClockDescription tsc{
    .name = "tsc",
    .hz = 1'000'000'000,
    .anchor =
        ClockAnchor{.ticks = 1000, .monotonic_ns = 0, .realtime_ns = 1'700'000'000'000'000'000}};

std::string metadata(std::vector<EventLayout> layouts, const ClockDescription& clock) {
    TraceDescription description;
    description.layouts = std::move(layouts);
    description.clock = clock;
    return ctf_metadata(description);
}

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(CtfMetadata, StartsAsReadersExpect) {
    EXPECT_TRUE(metadata({}, tsc).starts_with("/* CTF 1.8 */\n"));
}

TEST(CtfMetadata, ClockOffset) {
    const std::string with = metadata({}, tsc);
    EXPECT_TRUE(contains(with, "freq = 1000000000;"));
    EXPECT_TRUE(contains(with, "offset_s = 1699999999;"));
    EXPECT_TRUE(contains(with, "offset = 999999000;"));
    EXPECT_TRUE(contains(with, "absolute = true;"));
    ClockDescription unknown = tsc;
    unknown.anchor.reset();
    EXPECT_TRUE(contains(metadata({}, unknown), "offset_s = 0;\n\toffset = 0;"));
    EXPECT_TRUE(contains(metadata({}, unknown), "absolute = false;"));
    // A counter that began before 1970, as far as the clocks say.
    ClockDescription early = tsc;
    early.anchor = ClockAnchor{.ticks = 1'500'000'000, .monotonic_ns = 0, .realtime_ns = 0};
    EXPECT_TRUE(contains(metadata({}, early), "offset_s = -2;\n\toffset = 500000000;"));
}

TEST(CtfMetadata, NamesAreQuotedAndUnique) {
    EventLayout hostile = strings;
    hostile.name = "a\"b\\c\n\033";
    const std::string text = metadata({hostile}, tsc);
    EXPECT_TRUE(contains(text, "name = \"a\\\"b\\\\c??\";"));
    EXPECT_TRUE(contains(text, " _n;"));
    EXPECT_TRUE(contains(text, " _n_2;"));
}

// A ring of the real kind, written by the real writer.
class Ring {
public:
    Ring() : data_(ring_size) {
        control_.size = ring_size;
        control_.chunk_size = chunk_size;
        tl_ring_writer_init(&writer_, &control_, &consumer_, data_.data());
        std::memcpy(task_.comm, "cat", 4);
        task_.tid = 7;
        task_.tgid = 6;
    }

    void put(std::uint64_t now, const EventLayout& layout, const std::vector<std::byte>& fields) {
        ASSERT_TRUE(tl_ring_enter(&writer_));
        std::uint8_t* at = tl_ring_reserve(&writer_, &task_, layout.id, TL_IRQS_OFF | 1, now,
                                           static_cast<std::uint32_t>(fields.size()));
        ASSERT_NE(at, nullptr);
        std::copy_n(reinterpret_cast<const std::uint8_t*>(fields.data()), fields.size(), at);
        tl_ring_commit(&writer_, at + fields.size());
        tl_ring_leave(&writer_);
    }

    void close() { tl_ring_close(&writer_); }
    void finish(std::uint64_t now) { tl_ring_finish(&writer_, now); }

    void save(const std::filesystem::path& path) const {
        std::ofstream file(path, std::ios::binary);
        file.write(reinterpret_cast<const char*>(data_.data()),
                   static_cast<std::streamsize>(writer_.next));
    }

private:
    std::vector<std::uint8_t> data_;
    tl_ring_control control_{};
    tl_ring_consumer consumer_{};
    tl_ring_writer writer_{};
    tl_task task_{};
};

class TempDir {
public:
    TempDir() {
        std::string name = testing::TempDir() + "trapline-ctf-XXXXXX";
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

struct Pclose {
    void operator()(FILE* file) const { pclose(file); }
};

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, Pclose> pipe(popen(command.c_str(), "r"));
    std::string out;
    std::array<char, 4096> piece{};
    while (const std::size_t n = fread(piece.data(), 1, piece.size(), pipe.get()))
        out.append(piece.data(), n);
    return out;
}

TEST(CtfMetadata, BabeltraceDecodesTheRing) {
    if (std::system("babeltrace2 --version >/dev/null 2>&1") != 0)
        GTEST_SKIP() << "babeltrace2 is not installed";

    const std::vector<std::byte> call_bytes = RecordBytes()
                                                  .number(std::uint64_t{0x11})
                                                  .number(std::uint64_t{99})
                                                  .number(std::uint64_t{0x44});
    const std::vector<std::byte> string_bytes =
        RecordBytes().number(std::uint16_t{5}).number(std::uint32_t{0}).string(TL_STR_CUT, "abc");
    Ring ring;
    ring.put(1000, call, call_bytes);
    ring.put(1005, strings, string_bytes);
    ring.put(1005 + 0x300000000, call, call_bytes); // too long a silence for 32 bits
    ring.put(1006 + 0x300000000, empty, {});
    ring.put(1007 + 0x300000000, strings, string_bytes);
    ring.close();
    ring.put(1009 + 0x300000000, strings, string_bytes);
    ring.finish(1010 + 0x300000000);

    const TempDir dir;
    ring.save(dir.path() / "cpu0");
    const std::vector<EventLayout> layouts{call, strings, empty};
    std::ofstream(dir.path() / "metadata") << metadata(layouts, tsc);
    const std::string out =
        output_of("babeltrace2 --clock-cycles --no-delta '" + dir.path().string() + "' 2>&1");

    const std::string task = "task: { first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, "
                             "{ tgid = 6, comm = \"cat\" }\n";
    const std::string context = "{ first_event = 0, cpu_id = 0 }, { flags = 0x11, tid = 7 }, ";
    const std::string call_text =
        "vfs_read: " + context + "{ arg0 = 0x11, duration = 99, return = 0x44 }\n";
    const std::string string_fields =
        "{ n = 0x5, faults = 0x0, n_2 = { status = ( \"cut\" : "
        "container = 1 ), length = 3, text = \"abc\" }, end = { } }\n";
    EXPECT_EQ(out, "[00000000000000001000] " + task +                                      //
                       "[00000000000000001000] " + call_text +                             //
                       "[00000000000000001005] do_open+0x1c: " + context + string_fields + //
                       "[00000000012884902893] " + call_text +                             //
                       "[00000000012884902894] none: " + context + "{ }\n" +               //
                       "[00000000012884902895] do_open+0x1c: " + context + string_fields + //
                       "[00000000012884902897] task: { first_event = 5, cpu_id = 0 }, "
                       "{ flags = 0x11, tid = 7 }, { tgid = 6, comm = \"cat\" }\n" +
                       "[00000000012884902897] do_open+0x1c: { first_event = 5, cpu_id = 0 }, "
                       "{ flags = 0x11, tid = 7 }, " +
                       string_fields);
}

} // namespace
