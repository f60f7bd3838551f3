// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#include "spec/caret.h"

#include <fmt/format.h>

#include "util/escape.h"

namespace trapline {

std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '\\' ? std::string(1, c) : escaped(std::string_view(&c, 1));
    return out;
}

UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint) {
    const std::size_t column = shown(text.substr(0, position)).size();
    return UsageError(
        fmt::format("bad probe: {}\n    {}\n    {:>{}}", why, shown(text), '^', column + 1),
        std::move(hint));
}

} // namespace trapline
