// SPDX-License-Identifier: GPL-2.0
// How far apart two names are, for "did you mean".
#include "util/edit_distance.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace trapline {

namespace {

constexpr std::size_t compared_max = 128;

} // namespace

std::optional<unsigned> edit_distance(std::string_view a, std::string_view b, unsigned limit) {
    if (std::max(a.size(), b.size()) >= compared_max ||
        std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
        return std::nullopt;
    std::array<unsigned, compared_max> row{};
    std::iota(row.begin(), row.end(), 0U);
    for (std::size_t i = 0; i < a.size(); i++) {
        unsigned diagonal = row[0];
        row[0] = static_cast<unsigned>(i + 1);
        unsigned least = row[0];
        for (std::size_t j = 0; j < b.size(); j++) {
            const unsigned substituted = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
            least = std::min(least, row[j + 1]);
        }
        if (least > limit)
            return std::nullopt;
    }
    return row[b.size()] <= limit ? std::optional(row[b.size()]) : std::nullopt;
}

} // namespace trapline
