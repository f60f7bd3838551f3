// SPDX-License-Identifier: GPL-2.0
// What the module prints of a session at a crash: shared/console.h.
#pragma once

#include <cstdint>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ring_fixture.h"
#include "shared/console.h"
#include "trace/description.h"

namespace trapline::test {

inline std::string base64(std::string_view bytes) {
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::string_view three = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < three.size() ? static_cast<std::uint8_t>(three[k]) : 0U);
        for (std::size_t k = 0; k < 4; k++)
            out += k <= three.size() ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

inline std::string console_sum(std::string_view text) {
    return fmt::format("{:08x}", tl_checksum(reinterpret_cast<const __u8*>(text.data()),
                                             static_cast<__u32>(text.size())));
}

template <class T>
std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

class TestConsole {
public:
    explicit TestConsole(std::string tag = "0badcafe.1") : tag_(std::move(tag)) {}

    // An item's lines, without newlines.
    void item(char kind, const std::string& bytes) {
        const std::size_t parts = (bytes.size() + TL_CONSOLE_PIECE - 1) / TL_CONSOLE_PIECE;
        for (std::size_t part = 0; part < parts; part++) {
            const std::string text =
                fmt::format("{} {} {} {}/{} {}", tag_, lines.size(), kind, part + 1, parts,
                            base64(bytes.substr(part * TL_CONSOLE_PIECE, TL_CONSOLE_PIECE)));
            lines.push_back(TL_CONSOLE_MARK + text + ' ' + console_sum(text));
        }
    }

    // A clock of nanoseconds; started at 1 s.
    static std::string session(std::uint64_t recorded = 100, std::uint64_t lost = 0) {
        constexpr std::uint64_t s = 1'000'000'000;
        tl_console_session about{};
        about.format = TL_CONSOLE_FORMAT;
        about.clock_hz = s;
        about.start = {1 * s, 1 * s, 1'700'000'000 * s};
        about.now = {11 * s, 11 * s, 1'700'000'010 * s};
        about.recorded = recorded;
        about.lost = lost;
        std::string bytes = bytes_of(about);
        for (const char* text : {"Linux", "6.1.0", "#1", "x86_64", "box", "0.1.0"})
            bytes.append(text, std::strlen(text) + 1);
        return bytes;
    }

    static std::string label(const EventLayout& layout) {
        return bytes_of(layout.id) + layout_json(layout);
    }

    static std::string record(std::uint32_t cpu, std::uint16_t id, std::uint64_t ticks,
                              const tl_task& who, const std::vector<std::uint8_t>& fields,
                              std::uint16_t flags = 0) {
        tl_console_record about{};
        about.cpu = cpu;
        about.tgid = who.tgid;
        std::memcpy(about.comm, who.comm, sizeof(about.comm));
        std::uint8_t header[TL_EXTENDED_SIZE];
        tl_ring_put_header(header, id, flags, who.tid, ticks, 1);
        std::string bytes = bytes_of(about) + std::string(header, header + sizeof(header));
        return bytes.append(fields.begin(), fields.end());
    }

    static std::string end(std::uint32_t records) { return bytes_of(records); }

    std::string text() const {
        std::string all;
        for (const std::string& line : lines)
            all += line + '\n';
        return all;
    }

    std::vector<std::string> lines;

private:
    std::string tag_;
};

} // namespace trapline::test
