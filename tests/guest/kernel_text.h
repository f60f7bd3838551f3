// SPDX-License-Identifier: GPL-2.0
// The kernel image's instructions, as they are in memory (/proc/kcore): where no debugfs lists the
// kprobes, they are found by what they change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trapline::guest {

// From _stext to _etext.
struct KernelText {
    std::uint64_t address = 0;
    std::string bytes;
};

KernelText read_kernel_text();

// Where instructions differ: the first byte of each. `now` is of the same kernel.
std::vector<std::uint64_t> changed_places(const KernelText& before, const KernelText& now);

} // namespace trapline::guest
