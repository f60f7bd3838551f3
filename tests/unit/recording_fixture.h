// SPDX-License-Identifier: GPL-2.0
// Directories, files and rings for the tests of what is recorded and read.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ring_fixture.h"
#include "trace/description.h"
#include "util/error.h"

namespace trapline::test {

class TempDir {
public:
    TempDir() {
        std::string name = testing::TempDir() + "trapline-XXXXXX";
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
    std::string operator/(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

struct Pclose {
    void operator()(FILE* file) const { pclose(file); }
};

inline std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, Pclose> pipe(popen(command.c_str(), "r"));
    std::string out;
    std::array<char, 4096> piece{};
    while (const std::size_t n = fread(piece.data(), 1, piece.size(), pipe.get()))
        out.append(piece.data(), n);
    return out;
}

inline std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void store(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
}

// What `failing()` throws as an Error; empty if it doesn't.
template <class F>
std::string error_of(F&& failing) {
    try {
        failing();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

constexpr std::uint16_t number_id = 1;
constexpr std::uint16_t text_id = 2;

inline TraceDescription small_description(std::uint32_t chunk_size = 1024) {
    TraceDescription description;
    description.layouts = {layout(number_id, TRAPLINE_ENTRY, 1),
                           layout(text_id, TRAPLINE_ENTRY, 1, true)};
    description.clock = {
        "tsc", 1'000'000'000,
        ClockAnchor{.ticks = 1000, .monotonic_ns = 5000, .realtime_ns = 1'700'000'000'000'000'000}};
    description.chunk_size = chunk_size;
    return description;
}

// All chunks that were begun in a ring that was never read, closed.
inline std::vector<std::byte> packets_of(TestRing& ring) {
    if (ring.writer.cur != ring.writer.limit)
        tl_ring_finish(&ring.writer, ring.writer.last);
    const auto* data = reinterpret_cast<const std::byte*>(ring.data());
    return {data, data + ring.writer.next};
}

// Packets of CPU `cpu` with `events` number events in all, one tick apart from `from` on.
inline std::vector<std::byte> numbered_packets(std::uint32_t cpu, unsigned events,
                                               std::uint64_t from = 1000,
                                               std::uint64_t ring_size = 65536) {
    TestRing ring(ring_size, cpu);
    bool room = true;
    for (unsigned i = 0; i < events; i++)
        room = room && ring.write(number_id, from + i, task(7, 6, "cat"), number_field(i));
    EXPECT_TRUE(room) << events << " events in " << ring_size;
    return packets_of(ring);
}

inline std::string as_string(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline tl_packet& packet_at(std::vector<std::byte>& bytes, std::size_t at) {
    return *reinterpret_cast<tl_packet*>(bytes.data() + at);
}

} // namespace trapline::test
