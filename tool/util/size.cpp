// SPDX-License-Identifier: GPL-2.0
// Sizes as people write them: 65536, 64K, 64KiB, 1M, 1G.
#include "util/size.h"

#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::string_view letters = "KMG";

std::optional<unsigned> unit_shift(std::string_view unit) {
    if (unit.empty() || unit == "B")
        return 0;
    const char upper = unit[0] >= 'a' ? static_cast<char>(unit[0] - 'a' + 'A') : unit[0];
    const std::size_t at = letters.find(upper);
    const std::string_view rest = unit.substr(1);
    if (at == std::string_view::npos || !(rest.empty() || rest == "iB"))
        return std::nullopt;
    return static_cast<unsigned>(10 * (at + 1));
}

} // namespace

std::uint64_t parse_size(std::string_view text, std::string_view what) {
    const auto refuse = [&](std::string_view why) {
        return UsageError(fmt::format("{}: '{}' {}", what, escaped(text), why),
                          "sizes are bytes, or a number followed by K, M or G: 65536, 64K, 1M");
    };

    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc::invalid_argument)
        throw refuse("is not a size");
    const auto shift = unit_shift(text.substr(static_cast<std::size_t>(end - text.data())));
    if (!shift)
        throw refuse("is not a size");
    if (error == std::errc::result_out_of_range ||
        number > std::numeric_limits<std::uint64_t>::max() >> *shift)
        throw refuse("is larger than any memory");
    return number << *shift;
}

std::string format_size(std::uint64_t bytes) {
    std::size_t unit = 0;
    while (bytes != 0 && bytes % 1024 == 0 && unit < letters.size()) {
        bytes /= 1024;
        unit++;
    }
    return unit == 0 ? fmt::format("{}", bytes) : fmt::format("{}{}", bytes, letters[unit - 1]);
}

} // namespace trapline
