// SPDX-License-Identifier: GPL-2.0
// A register as a probe's handler finds it.
#pragma once

#include <cstdint>
#include <string_view>

namespace trapline {

struct Register {
    std::string_view name;
    std::uint32_t word; // of struct pt_regs
};

} // namespace trapline
