// SPDX-License-Identifier: GPL-2.0
// Tables for people: columns as wide as what is in them.
#include "output/table.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace trapline {

void append_table(std::string& out, std::span<const TableRow> rows, std::size_t left) {
    std::vector<std::size_t> widths;
    for (const TableRow& row : rows) {
        widths.resize(row.size());
        for (std::size_t i = 0; i < row.size(); i++)
            widths[i] = std::max(widths[i], row[i].size());
    }
    for (const TableRow& row : rows) {
        for (std::size_t i = 0; i < row.size(); i++) {
            if (i != 0)
                out += "  ";
            if (i < left)
                fmt::format_to(std::back_inserter(out), "{:<{}}", row[i], widths[i]);
            else
                fmt::format_to(std::back_inserter(out), "{:>{}}", row[i], widths[i]);
        }
        out += '\n';
    }
}

} // namespace trapline
