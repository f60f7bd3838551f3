// SPDX-License-Identifier: GPL-2.0
// Lists of CPUs as the kernel writes them: "0-2,5".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace trapline {

// Above any CPU's number.
constexpr std::uint32_t cpus_most = 65536;

// The CPUs in order, each once; a newline may follow. None for what is no such list.
std::optional<std::vector<std::uint32_t>> parse_cpu_list(std::string_view text);

} // namespace trapline
