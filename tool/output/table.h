// SPDX-License-Identifier: GPL-2.0
// Tables for people: columns as wide as what is in them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace trapline {

using TableRow = std::vector<std::string>;

// Appends the rows, of equal length, a line each. The first `left` columns are aligned to the
// left, the others, of numbers, to the right.
void append_table(std::string& out, std::span<const TableRow> rows, std::size_t left);

} // namespace trapline
