// SPDX-License-Identifier: GPL-2.0
// Which functions return addresses lead back into, and which symbols other addresses are in, by
// what a trace's description knows.
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

// By the call, which may be the function's last instruction.
std::string RecordedCallers::name(std::uint64_t return_address) const {
    return name(return_address, return_address - 1);
}

std::string RecordedCallers::symbol_name(std::uint64_t address) const {
    return name(address, address);
}

std::string RecordedCallers::name(std::uint64_t address, std::uint64_t inside) const {
    const auto above = std::upper_bound(
        symbols_.begin(), symbols_.end(), inside,
        [](std::uint64_t wanted, const auto& symbol) { return wanted < symbol.address; });
    if (above == symbols_.begin() || inside - std::prev(above)->address >= std::prev(above)->size)
        return fmt::format("{:#x}", address);
    const SymbolDescription& symbol = *std::prev(above);
    const std::uint64_t offset = address - symbol.address;
    const std::string plus = offset == 0 ? "" : fmt::format("+{:#x}", offset);
    const std::size_t colon = symbol.name.find(':');
    if (colon == std::string::npos)
        return symbol.name + plus;
    return fmt::format("{}{} [{}]", symbol.name.substr(colon + 1), plus,
                       symbol.name.substr(0, colon));
}

} // namespace trapline
