// SPDX-License-Identifier: GPL-2.0
// Which functions return addresses lead back into, by what a trace's description knows.
#include "trace/recorded_callers.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace trapline {

RecordedCallers::RecordedCallers(std::span<const SymbolDescription> symbols) {
    std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(symbols_),
                 [](const SymbolDescription& symbol) { return symbol.size != 0; });
    std::stable_sort(symbols_.begin(), symbols_.end(),
                     [](const auto& a, const auto& b) { return a.address < b.address; });
}

std::string RecordedCallers::name(std::uint64_t return_address) const {
    // Of the call, which may be the function's last instruction.
    const auto above = std::upper_bound(
        symbols_.begin(), symbols_.end(), return_address - 1,
        [](std::uint64_t address, const auto& symbol) { return address < symbol.address; });
    if (above == symbols_.begin() ||
        return_address - 1 - std::prev(above)->address >= std::prev(above)->size)
        return fmt::format("{:#x}", return_address);
    const SymbolDescription& symbol = *std::prev(above);
    const std::uint64_t offset = return_address - symbol.address;
    const std::size_t colon = symbol.name.find(':');
    if (colon == std::string::npos)
        return fmt::format("{}+{:#x}", symbol.name, offset);
    return fmt::format("{}+{:#x} [{}]", symbol.name.substr(colon + 1), offset,
                       symbol.name.substr(0, colon));
}

} // namespace trapline
