// SPDX-License-Identifier: GPL-2.0
// Which functions of the running kernel return addresses lead back into.
#include "symbols/caller.h"

#include <fmt/format.h>
#include <utility>

namespace trapline {

Callers::Callers(Kallsyms symbols,
                 std::function<std::optional<Place>(std::uint64_t)> find_elsewhere)
    : symbols_(std::move(symbols)), find_elsewhere_(std::move(find_elsewhere)) {}

const std::optional<Caller>& Callers::find(std::uint64_t return_address) {
    const auto known = known_.find(return_address);
    if (known != known_.end())
        return known->second;
    return known_.emplace(return_address, look(return_address)).first->second;
}

std::optional<Caller> Callers::look(std::uint64_t return_address) const {
    const std::uint64_t call = return_address - 1;
    if (symbols_.addresses_hidden())
        return std::nullopt;
    if (const auto symbol = symbols_.function_at(call))
        return Caller{{std::string(symbol->name), std::string(symbol->module),
                       return_address - symbol->address},
                      symbol->size};
    std::optional<Place> place = find_elsewhere_(call);
    if (!place)
        return std::nullopt;
    place->offset++;
    const std::uint64_t size = place->offset;
    return Caller{std::move(*place), size};
}

std::string Callers::name(std::uint64_t return_address) {
    const std::optional<Caller>& caller = find(return_address);
    return caller ? caller->place.text() : fmt::format("{:#x}", return_address);
}

} // namespace trapline
