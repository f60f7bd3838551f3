// SPDX-License-Identifier: GPL-2.0
// What the console's fuzzer takes. The input's first byte chooses: a log, in which sums of dashes
// are made right ones; or the items of a dump, each behind its kind and length.
#pragma once

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "recording/console_log.h"
#include "shared/console.h"

namespace trapline::fuzz {

constexpr char as_items = 'I';
constexpr char as_log = 'L';
constexpr std::string_view no_sum = " --------";

// Who guesses sums finds nothing else.
inline std::string with_sums(std::string_view log) {
    constexpr std::string_view mark = TL_CONSOLE_MARK;
    std::string out(log);
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) {
        at += mark.size();
        const std::size_t end = out.find(no_sum, at);
        if (end == std::string::npos)
            break;
        const auto* text = reinterpret_cast<const __u8*>(out.data() + at);
        const std::uint32_t sum = tl_checksum(text, static_cast<__u32>(end - at));
        out.replace(end, no_sum.size(), fmt::format(" {:08x}", sum));
    }
    return out;
}

inline ConsoleDump items_in(std::string_view bytes) {
    ConsoleDump dump;
    while (bytes.size() >= 3) {
        const std::size_t size = static_cast<std::uint8_t>(bytes[1]) |
                                 static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[2])) << 8;
        dump.items.push_back({bytes[0], std::string(bytes.substr(3, size))});
        bytes.remove_prefix(std::min(3 + size, bytes.size()));
    }
    return dump;
}

inline std::string input_of(const std::vector<ConsoleItem>& items) {
    std::string input(1, as_items);
    for (const auto& [kind, bytes] : items) {
        const std::size_t size = std::min<std::size_t>(bytes.size(), 0xffff);
        input += {kind, static_cast<char>(size & 0xff), static_cast<char>(size >> 8)};
        input += bytes.substr(0, size);
    }
    return input;
}

} // namespace trapline::fuzz
