// SPDX-License-Identifier: GPL-2.0
// Sizes as people write them: 65536, 64K, 64KiB, 1M, 1G.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trapline {

// Bytes; K, M, G are powers of 1024. Throws UsageError, naming `what` ("--ring-size").
std::uint64_t parse_size(std::string_view text, std::string_view what);

// The shortest exact form: "64K", "1M", "65537".
std::string format_size(std::uint64_t bytes);

} // namespace trapline
