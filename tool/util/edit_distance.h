// SPDX-License-Identifier: GPL-2.0
// How far apart two names are, for "did you mean".
#pragma once

#include <optional>
#include <string_view>

namespace trapline {

// Levenshtein's distance, given up (no value) when it exceeds `limit`.
std::optional<unsigned> edit_distance(std::string_view a, std::string_view b, unsigned limit);

} // namespace trapline
