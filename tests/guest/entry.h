// SPDX-License-Identifier: GPL-2.0
// Where a function's entry is trapped: at its first byte, or behind what must stay there; and how.
#pragma once

#include <string>

namespace trapline::guest {

bool entries_by_ftrace(); // this kernel traps an entry by ftrace's call, else by a breakpoint
unsigned entry_offset();  // where it plants a trap at +0
// The first instruction behind that, and behind ftrace's, which can be probed.
unsigned behind_entry(const std::string& function);

} // namespace trapline::guest
