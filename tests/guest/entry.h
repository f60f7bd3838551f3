// SPDX-License-Identifier: GPL-2.0
// Where a function's entry is trapped: at its first byte, or behind what must stay there.
#pragma once

namespace trapline::guest {

unsigned entry_offset(); // where the kernel plants a trap at +0
unsigned behind_entry(); // the first instruction that is not ftrace's

} // namespace trapline::guest
