// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#include "spec/caret.h"

#include <algorithm>
#include <fmt/format.h>

#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::size_t bytes_shown = 240;

} // namespace

std::string shown(std::string_view text) {
    std::string out;
    for (const char c : text)
        out += c == '\\' ? std::string(1, c) : escaped(std::string_view(&c, 1));
    return out;
}

std::string brief(std::string_view text) {
    return text.size() <= bytes_shown ? std::string(text)
                                      : std::string(text.substr(0, bytes_shown)) + "...";
}

UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint) {
    const bool whole = text.size() <= bytes_shown;
    const std::size_t begin = whole || position < bytes_shown / 2 ? 0 : position - bytes_shown / 2;
    const std::size_t end = whole ? text.size() : std::min(text.size(), begin + bytes_shown);
    const std::string before =
        (begin == 0 ? "" : "...") + shown(text.substr(begin, position - begin));
    return UsageError(fmt::format("bad probe: {}\n    {}{}{}\n    {:>{}}", brief(why), before,
                                  shown(text.substr(position, end - position)),
                                  end == text.size() ? "" : "...", '^', before.size() + 1),
                      std::move(hint));
}

} // namespace trapline
