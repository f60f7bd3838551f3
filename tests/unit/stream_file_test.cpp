// SPDX-License-Identifier: GPL-2.0
// A stream being written: what its file holds then, and when writing fails.
#include "recording/stream_file.h"

#include <csignal>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/packet.h"
#include "recording_fixture.h"

using namespace trapline;
using namespace trapline::test;

namespace {

class File {
public:
    StreamFile stream(std::uint32_t cpu = 0) const {
        return {UniqueFd(open(path().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), cpu,
                "DIR/cpu_0"};
    }
    std::string path() const { return dir_ / "cpu_0"; }
    std::string bytes() const { return contents(path()); }
    std::uint64_t allocated() const {
        struct stat status {};
        EXPECT_EQ(stat(path().c_str(), &status), 0);
        return static_cast<std::uint64_t>(status.st_blocks) * 512;
    }

private:
    TempDir dir_;
};

// While it lives no file can grow beyond `bytes`: writing stops short there, and fails.
class FileSizeLimit {
public:
    explicit FileSizeLimit(rlim_t bytes) {
        getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_{};
    sighandler_t handler_;
};

TEST(StreamFile, PacketsAreAppendedAsTheyAre) {
    const File file;
    StreamFile stream = file.stream();
    const std::vector<std::byte> packets = numbered_packets(0, 3000); // 16 KiB chunks
    ASSERT_GT(packets.size(), 16384U);
    stream.append(std::span(packets).first(16384));
    stream.append(std::span(packets).subspan(16384));
    stream.append({});
    EXPECT_EQ(stream.size(), packets.size());
    EXPECT_EQ(file.bytes(), as_string(packets));
}

TEST(StreamFile, ALastPacketOfLittleContentIsMostlyAHole) {
    const File file;
    StreamFile stream = file.stream();
    std::vector<std::byte> packets = numbered_packets(0, 1, 1000, 262144);
    ASSERT_EQ(packets.size(), 65536U);
    std::fill(packets.begin() + 200, packets.end(), std::byte{0xee}); // a chunk used before
    stream.append(packets);
    EXPECT_EQ(stream.size(), 65536U);
    const std::string bytes = file.bytes();
    ASSERT_EQ(bytes.size(), 65536U);
    const auto content = static_cast<std::size_t>(packet_at(packets, 0).content_size / 8);
    EXPECT_EQ(bytes.substr(0, content), as_string(packets).substr(0, content));
    EXPECT_EQ(bytes.find_first_not_of('\0', content), std::string::npos);
    EXPECT_LT(file.allocated(), 32768U);
    // What follows comes behind the hole.
    stream.append(numbered_packets(0, 3000, 5000, 262144));
    EXPECT_EQ(file.bytes().substr(65536, 4), "\xc1\x1f\xfc\xc1");
}

// More than half is stored whole: a hole isn't worth it.
TEST(StreamFile, ALastPacketOfMuchContentIsStoredWhole) {
    const File file;
    StreamFile stream = file.stream();
    std::vector<std::byte> packets = numbered_packets(0, 30, 1000, 4096);
    ASSERT_EQ(packets.size(), 1024U);
    packets.back() = std::byte{0xee};
    stream.append(packets);
    EXPECT_EQ(file.bytes(), as_string(packets));
}

TEST(StreamFile, AFailedAppendLeavesWhatWasThere) {
    const File file;
    StreamFile stream = file.stream();
    const std::vector<std::byte> packets = numbered_packets(0, 3000);
    stream.append(packets);
    const std::string before = file.bytes();
    {
        const FileSizeLimit limit(before.size() + 20'000); // a whole packet and a part
        EXPECT_EQ(error_of([&] { stream.append(packets); }),
                  "cannot write to DIR/cpu_0: File too large");
    }
    EXPECT_EQ(stream.size(), before.size());
    EXPECT_EQ(file.bytes(), before);
    {
        const std::vector<std::byte> little = numbered_packets(0, 1, 1000, 262144);
        const FileSizeLimit limit(before.size() + 1000); // its content, and not the hole
        EXPECT_EQ(error_of([&] { stream.append(little); }),
                  "cannot write to DIR/cpu_0: File too large");
    }
    EXPECT_EQ(file.bytes(), before);
    stream.append(packets);
    EXPECT_EQ(file.bytes(), before + as_string(packets));
}

TEST(StreamFile, ADiskThatIsFull) {
    StreamFile stream(UniqueFd(open("/dev/full", O_WRONLY | O_CLOEXEC)), 0, "DIR/cpu_0");
    const std::vector<std::byte> packets = numbered_packets(0, 1);
    try {
        stream.append(packets);
        FAIL() << "it was not full";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "cannot write to DIR/cpu_0: No space left on device");
        EXPECT_EQ(error.hint(),
                  "the recording holds what was written before; make room, or record elsewhere");
    }
    EXPECT_EQ(stream.size(), 0U);
}

TEST(StreamFile, OnlyWholePacketsOfItsCpu) {
    const File file;
    StreamFile stream = file.stream();
    const std::vector<std::byte> packets = numbered_packets(0, 1, 1000, 4096);
    EXPECT_EQ(error_of([&] { stream.append(std::span(packets).first(1000)); }),
              "what is to be written to DIR/cpu_0 is no whole packet of CPU 0");
    EXPECT_EQ(error_of([&] { stream.append(numbered_packets(1, 1, 1000, 4096)); }),
              "what is to be written to DIR/cpu_0 is no whole packet of CPU 0");
    EXPECT_EQ(error_of([&] { stream.append(std::vector<std::byte>(1024)); }),
              "what is to be written to DIR/cpu_0 is no packet: it begins with 0x0 instead of "
              "0xc1fc1fc1");
    EXPECT_EQ(file.bytes(), "");
}

// A chunk that grows from copy to copy, as a flight recorder's last one does.
class Growing {
public:
    Growing() : ring_(4096) {}

    std::vector<std::byte> with(unsigned events) {
        for (; written_ < events; written_++)
            EXPECT_TRUE(
                ring_.write(number_id, 1000 + written_, task(7, 6, "cat"), number_field(written_)));
        tl_ring_writer copy = ring_.writer;
        tl_ring_close(&copy);
        const auto* data = reinterpret_cast<const std::byte*>(ring_.data());
        return {data, data + 1024};
    }

private:
    TestRing ring_;
    unsigned written_ = 0;
};

TEST(StreamFile, AnOpenPacketIsReplacedInItsPlace) {
    const File file;
    StreamFile stream = file.stream();
    const std::vector<std::byte> first = numbered_packets(0, 45, 500, 4096);
    Growing growing;
    stream.append(first);
    stream.append_open(growing.with(2));
    EXPECT_EQ(stream.size(), first.size() + 1024);
    const std::vector<std::byte> three = growing.with(3); // little: a hole again
    stream.replace_open(three);
    EXPECT_EQ(file.bytes(), as_string(first) + as_string(three));
    const std::vector<std::byte> full = growing.with(44);
    stream.replace_open(full);
    EXPECT_EQ(file.bytes(), as_string(first) + as_string(full));
    // Also when others lie behind it already.
    stream.append(first);
    stream.replace_open(full);
    EXPECT_EQ(file.bytes(), as_string(first) + as_string(full) + as_string(first));
    EXPECT_EQ(stream.size(), 2 * first.size() + 1024);
}

TEST(StreamFile, AFailedReplacementLeavesTheCopyThatIsThere) {
    const File file;
    StreamFile stream = file.stream();
    Growing growing;
    const std::vector<std::byte> two = growing.with(2);
    stream.append_open(two);
    {
        const FileSizeLimit limit(300);
        EXPECT_EQ(error_of([&] { stream.replace_open(growing.with(44)); }),
                  "cannot write to DIR/cpu_0: File too large");
    }
    const std::string bytes = file.bytes();
    ASSERT_EQ(bytes.size(), 1024U);
    const auto content =
        static_cast<std::size_t>(reinterpret_cast<const tl_packet*>(two.data())->content_size / 8);
    EXPECT_EQ(bytes.substr(0, content), as_string(two).substr(0, content));
}

TEST(StreamFile, OnlyACopyOfTheOpenPacketReplacesIt) {
    const File file;
    StreamFile stream = file.stream();
    Growing growing;
    const std::vector<std::byte> two = growing.with(2);
    const std::string refused = "what is to be written to DIR/cpu_0 is no copy of its open packet";
    EXPECT_EQ(error_of([&] { stream.replace_open(two); }), refused) << "nothing is open";
    stream.append_open(two);
    EXPECT_EQ(error_of([&] { stream.replace_open(numbered_packets(0, 1)); }), refused);
    EXPECT_EQ(error_of([&] { stream.append_open(numbered_packets(0, 3000)); }),
              "what is to be written to DIR/cpu_0 is not one packet");
}

TEST(StreamFile, SeesThatItWasDeleted) {
    const File file;
    const StreamFile stream = file.stream();
    stream.check_present();
    unlink(file.path().c_str());
    EXPECT_EQ(error_of([&] { stream.check_present(); }), "DIR/cpu_0 is not there any more");
}

TEST(Packet, HeadersAreTakenApartAndMade) {
    const PacketHeader in{.begin = 5,
                          .end = 6,
                          .events_discarded = ~0ULL,
                          .sequence = 8,
                          .first_event = 9,
                          .cpu = 65535};
    const EmptyPacket bytes = empty_packet(in);
    PacketHeader out;
    std::string why;
    ASSERT_TRUE(parse_packet(bytes, out, why)) << why;
    EXPECT_EQ(out.begin, 5U);
    EXPECT_EQ(out.end, 6U);
    EXPECT_EQ(out.content_size, std::size_t{TL_PACKET_SIZE});
    EXPECT_EQ(out.packet_size, std::size_t{TL_PACKET_SIZE});
    EXPECT_EQ(out.events_discarded, ~0ULL);
    EXPECT_EQ(out.sequence, 8U);
    EXPECT_EQ(out.first_event, 9U);
    EXPECT_EQ(out.cpu, 65535U);
}

template <class Change>
std::string why_not(Change&& change) {
    std::vector<std::byte> bytes = numbered_packets(3, 2, 1000, 4096);
    change(packet_at(bytes, 0));
    PacketHeader header;
    std::string why;
    EXPECT_FALSE(parse_packet(bytes, header, why));
    return why;
}

TEST(Packet, WhatIsNoHeader) {
    EXPECT_EQ(why_not([](tl_packet& p) { p.magic = 1; }),
              "it begins with 0x1 instead of 0xc1fc1fc1");
    EXPECT_EQ(why_not([](tl_packet& p) { p.stream_id = 1; }), "stream 1 is unknown");
    EXPECT_EQ(why_not([](tl_packet& p) { p.content_size += 1; }),
              "1121 bits of content in 8192 are no whole bytes");
    EXPECT_EQ(why_not([](tl_packet& p) { p.packet_size += 4; }),
              "1120 bits of content in 8196 are no whole bytes");
    EXPECT_EQ(why_not([](tl_packet& p) { p.content_size = 67 * 8; }),
              "67 bytes of content in 1024, with a header of 68");
    EXPECT_EQ(why_not([](tl_packet& p) { p.content_size = 1025 * 8; }),
              "1025 bytes of content in 1024, with a header of 68");
    EXPECT_EQ(why_not([](tl_packet& p) { p.packet_size = 65537 * 8; }),
              "65537 bytes, and 65536 are the most");
    EXPECT_EQ(why_not([](tl_packet& p) { p.timestamp_end = 999; }),
              "its end, 999, is before its begin, 1000");
    EXPECT_EQ(why_not([](tl_packet& p) { p.cpu_id = 65536; }), "there is no CPU 65536");
    PacketHeader header;
    std::string why;
    EXPECT_FALSE(parse_packet(std::vector<std::byte>(67), header, why));
    EXPECT_EQ(why, "truncated: 67 of 68 bytes of a header");
}

} // namespace
