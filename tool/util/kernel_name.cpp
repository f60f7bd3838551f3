// SPDX-License-Identifier: GPL-2.0
// What the running kernel calls itself.
#include "util/kernel_name.h"

namespace trapline {

utsname kernel_name() {
    utsname names{};
    uname(&names);
    return names;
}

std::string kernel_release() {
    return kernel_name().release;
}

} // namespace trapline
