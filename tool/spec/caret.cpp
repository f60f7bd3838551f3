// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#include "spec/caret.h"

#include <fmt/format.h>

#include "util/escape.h"

namespace trapline {

namespace {

// As it was typed, but for what a terminal would obey: so nobody has to tell whose backslash it is.
std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '\\' ? std::string(1, c) : escaped(std::string_view(&c, 1));
    return out;
}

} // namespace

UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint) {
    const std::size_t column = shown(text.substr(0, position)).size();
    return UsageError(
        fmt::format("bad probe: {}\n    {}\n    {:>{}}", why, shown(text), '^', column + 1),
        std::move(hint));
}

} // namespace trapline
