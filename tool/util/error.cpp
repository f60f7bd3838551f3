// SPDX-License-Identifier: GPL-2.0
// Failures whose message is meant for the user.
#include "util/error.h"

#include <algorithm>
#include <system_error>

#include "util/escape.h"

namespace trapline {

std::string errno_text(int number) {
    return std::generic_category().message(number);
}

Error errno_error(std::string_view what, int number, std::string hint) {
    return Error(std::string(what) + ": " + errno_text(number), std::move(hint));
}

std::string complaint(std::string_view message, std::string_view hint) {
    std::string text = "trapline: " + without_controls(message) + "\n";
    while (!hint.empty()) {
        const std::string_view line = hint.substr(0, hint.find('\n'));
        text += "  " + without_controls(line) + "\n";
        hint.remove_prefix(std::min(hint.size(), line.size() + 1));
    }
    return text;
}

} // namespace trapline
