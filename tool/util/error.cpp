// SPDX-License-Identifier: GPL-2.0
// Failures whose message is meant for the user.
#include "util/error.h"

#include <system_error>

namespace trapline {

std::string errno_text(int number) {
    return std::generic_category().message(number);
}

Error errno_error(std::string_view what, int number, std::string hint) {
    return Error(std::string(what) + ": " + errno_text(number), std::move(hint));
}

} // namespace trapline
