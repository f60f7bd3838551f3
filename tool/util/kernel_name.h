// SPDX-License-Identifier: GPL-2.0
// What the running kernel calls itself.
#pragma once

#include <string>

#include <sys/utsname.h>

namespace trapline {

// As uname gives it. It can't fail: the kernel writes to our own memory.
utsname kernel_name();

std::string kernel_release(); // "6.1.0-18-amd64"

} // namespace trapline
