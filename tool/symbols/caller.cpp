// SPDX-License-Identifier: GPL-2.0
// Which functions of the running kernel return addresses lead back into, and which symbols other
// addresses are in.
#include "symbols/caller.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <utility>

namespace trapline {

namespace {

// Code and data of the kernel's modules are within this of its image, on every architecture.
constexpr std::uint64_t module_distance = std::uint64_t{2} << 30;

// Their names and addresses: "NAME SIZE USES USERS STATE ADDRESS". Uses change all the time.
std::string module_places(const std::string& path) {
    std::ifstream modules(path);
    std::string places;
    for (std::string line; std::getline(modules, line);) {
        std::istringstream columns(line);
        std::string name;
        std::string skipped;
        std::string address;
        columns >> name >> skipped >> skipped >> skipped >> skipped >> address;
        places.append(name).append(" ").append(address).append("\n");
    }
    return places;
}

Caller caller_of(const Symbol& symbol, std::uint64_t address) {
    const std::uint64_t offset = address - symbol.address;
    return {{std::string(symbol.name), std::string(symbol.module), offset},
            std::max(symbol.size, offset + (symbol.size == 0 ? 1 : 0))};
}

} // namespace

NewerSymbols::NewerSymbols(std::string modules, std::string kallsyms)
    : modules_path_(std::move(modules)), kallsyms_path_(std::move(kallsyms)),
      modules_(module_places(modules_path_)) {}

std::optional<Kallsyms> NewerSymbols::operator()() {
    std::string now = module_places(modules_path_);
    if (now == modules_)
        return std::nullopt;
    modules_ = std::move(now);
    return Kallsyms(kallsyms_path_);
}

Callers::Callers(Kallsyms symbols,
                 std::function<std::optional<Place>(std::uint64_t)> find_elsewhere,
                 std::function<std::optional<Kallsyms>()> newer)
    : symbols_(std::move(symbols)), find_elsewhere_(std::move(find_elsewhere)),
      newer_(std::move(newer)) {}

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
        return caller_of(*symbol, return_address);
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

bool Callers::may_be_module(std::uint64_t address) const {
    const auto text = symbols_.find("_stext", "kernel");
    const std::uint64_t at = text.empty() ? 0 : text.front().address;
    return at != 0 && std::max(at, address) - std::min(at, address) < module_distance;
}

std::optional<Caller> Callers::find_symbol(std::uint64_t address) {
    if (symbols_.addresses_hidden())
        return std::nullopt;
    auto symbol = newest_ ? newest_->symbol_at(address) : std::nullopt;
    if (!symbol)
        symbol = symbols_.symbol_at(address);
    if (!symbol && may_be_module(address)) {
        if (auto newer = newer_(); newer && !newer->addresses_hidden()) {
            newest_ = std::move(newer);
            symbol = newest_->symbol_at(address);
        }
    }
    return symbol ? std::optional(caller_of(*symbol, address)) : std::nullopt;
}

std::string Callers::symbol_name(std::uint64_t address) {
    const std::optional<Caller> found = find_symbol(address);
    return found ? found->place.text() : fmt::format("{:#x}", address);
}

} // namespace trapline
