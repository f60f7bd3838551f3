// SPDX-License-Identifier: GPL-2.0
// A kernel's or a module's file with DWARF, by elfutils' libdw.
#include "types/dwarf_file.h"

#include <algorithm>
#include <cerrno>
#include <dwarf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

namespace {

// What is elsewhere, or on a server, isn't looked for: the file was named.
int find_none(Dwfl_Module* /*module*/, void** /*data*/, const char* /*name*/, Dwarf_Addr /*base*/,
              const char* /*file*/, const char* /*link*/, GElf_Word /*crc*/, char** /*found*/) {
    return -1;
}

int find_no_elf(Dwfl_Module* /*module*/, void** /*data*/, const char* /*name*/, Dwarf_Addr /*base*/,
                char** /*file*/, Elf** /*elf*/) {
    return -1;
}

constexpr Dwfl_Callbacks callbacks = {.find_elf = find_no_elf,
                                      .find_debuginfo = find_none,
                                      .section_address = dwfl_offline_section_address,
                                      .debuginfo_path = nullptr};

} // namespace

DwarfFile::DwarfFile(const std::string& path) : path_(path), dwfl_(dwfl_begin(&callbacks)) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        throw errno_error("cannot open " + path, errno);
    dwfl_report_begin(dwfl_.get());
    module_ = dwfl_report_offline(dwfl_.get(), path.c_str(), path.c_str(), fd);
    if (module_ == nullptr) {
        const char* why = dwfl_errmsg(-1);
        close(fd);
        throw Error(fmt::format("{}: no ELF file, or damaged ({})", path, why ? why : "?"),
                    "a vmlinux is wanted, or a module's .ko, not the compressed image that is "
                    "booted");
    }
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    Dwarf_Addr bias = 0;
    dwarf_ = dwfl_module_getdwarf(module_, &bias);
    bias_ = bias;
    if (dwarf_ == nullptr)
        throw Error(path + ": there is no DWARF in it",
                    "kernels built with CONFIG_DEBUG_INFO have a vmlinux that has; distributions "
                    "have it in packages of their own (trapline doctor names this kernel's)");
}

void DwarfFile::fail(DieOffset offset, std::string_view why) const {
    throw Error(fmt::format("{} is damaged: DIE {:#x} {}", path_, offset, why));
}

// ---- symbols

void DwarfFile::read_symbols() const {
    const int count = dwfl_module_getsymtab(module_);
    for (int i = 1; i < count; i++) {
        GElf_Sym symbol{};
        GElf_Addr address = 0;
        GElf_Word section = 0;
        const char* name =
            dwfl_module_getsym_info(module_, i, &symbol, &address, &section, nullptr, nullptr);
        if (name == nullptr || *name == '\0' || section == SHN_UNDEF)
            continue;
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC || std::string_view(name) == "_stext")
            symbols_.push_back({address, symbol.st_size, name});
    }
    const auto place = [](const DwarfSymbol& symbol) {
        return std::pair(symbol.address, std::string_view(symbol.name));
    };
    std::stable_sort(
        symbols_.begin(), symbols_.end(),
        [&](const DwarfSymbol& a, const DwarfSymbol& b) { return place(a) < place(b); });
    symbols_.erase(std::unique(symbols_.begin(), symbols_.end(),
                               [&](const DwarfSymbol& a, const DwarfSymbol& b) {
                                   return place(a) == place(b);
                               }),
                   symbols_.end());
    for (std::uint32_t i = 0; i < symbols_.size(); i++)
        by_name_[symbols_[i].name].push_back(i);
}

const std::vector<DwarfSymbol>& DwarfFile::symbols() const {
    if (symbols_.empty())
        read_symbols();
    return symbols_;
}

std::vector<const DwarfSymbol*> DwarfFile::symbols(std::string_view name) const {
    std::vector<const DwarfSymbol*> all;
    if (symbols().empty())
        return all;
    if (const auto found = by_name_.find(name); found != by_name_.end())
        for (const std::uint32_t i : found->second)
            all.push_back(&symbols_[i]);
    return all;
}

const DwarfSymbol* DwarfFile::symbol_at(std::uint64_t address) const {
    const auto& all = symbols();
    auto above = std::upper_bound(
        all.begin(), all.end(), address,
        [](std::uint64_t wanted, const DwarfSymbol& symbol) { return wanted < symbol.address; });
    // Of several that begin at one place, the first.
    const DwarfSymbol* found = nullptr;
    while (above != all.begin()) {
        --above;
        if (found != nullptr && above->address != found->address)
            break;
        if (address - above->address < above->size)
            found = &*above;
        else if (found == nullptr && above->size != 0)
            break;
    }
    return found;
}

int DwarfFile::section_of(std::uint64_t address) const {
    Dwarf_Addr at = address;
    return dwfl_module_relocate_address(module_, &at);
}

std::vector<const DwarfSymbol*> DwarfFile::neighbours(std::uint64_t address,
                                                      std::size_t most) const {
    std::vector<const DwarfSymbol*> all;
    const int section = section_of(address);
    for (const DwarfSymbol& symbol : symbols()) {
        if (section_of(symbol.address) != section || by_name_.at(symbol.name).size() != 1)
            continue;
        all.push_back(&symbol);
        if (all.size() == most)
            break;
    }
    return all;
}

// ---- units

const std::vector<DieOffset>& DwarfFile::units() const {
    if (!units_.empty())
        return units_;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die{};
    std::uint8_t type = 0;
    while (dwarf_get_units(dwarf_, unit, &unit, nullptr, &type, &die, nullptr) == 0)
        if (type == DW_UT_compile && dwarf_tag(&die) == DW_TAG_compile_unit)
            units_.push_back(dwarf_dieoffset(&die));
    return units_;
}

// By .debug_aranges, which gcc writes; else, as for clang's, the units are asked one by one.
std::optional<DieOffset> DwarfFile::unit_at(std::uint64_t address) const {
    Dwarf_Aranges* ranges = nullptr;
    std::size_t count = 0;
    if (dwarf_getaranges(dwarf_, &ranges, &count) == 0 && count != 0) {
        Dwarf_Arange* range = dwarf_getarange_addr(ranges, address - bias_);
        Dwarf_Off unit = 0;
        if (range != nullptr && dwarf_getarangeinfo(range, nullptr, nullptr, &unit) == 0)
            return unit;
    }
    for (const DieOffset unit : units()) {
        Dwarf_Die top = die(unit);
        if (dwarf_haspc(&top, address - bias_) > 0)
            return unit;
    }
    return std::nullopt;
}

Dwarf_Die DwarfFile::die(DieOffset offset) const {
    Dwarf_Die found{};
    if (dwarf_offdie(dwarf_, offset, &found) == nullptr)
        fail(offset, "is referred to, and is not there");
    return found;
}

void DwarfFile::each_child(Dwarf_Die parent, const std::function<bool(Dwarf_Die&)>& visit) const {
    Dwarf_Die child{};
    int more = dwarf_child(&parent, &child);
    while (more == 0 && visit(child)) {
        const DieOffset before = dwarf_dieoffset(&child);
        Dwarf_Die next{};
        more = dwarf_siblingof(&child, &next);
        if (more == 0 && dwarf_dieoffset(&next) <= before)
            fail(before, "is followed by one before it");
        child = next;
    }
    if (more < 0)
        fail(dwarf_dieoffset(&parent), "has children that can't be read");
}

const DwarfFile::Functions& DwarfFile::functions_of(DieOffset unit) const {
    const auto [found, fresh] = functions_.try_emplace(unit);
    Functions& functions = found->second;
    if (!fresh)
        return functions;
    each_child(die(unit), [&](Dwarf_Die& child) {
        if (dwarf_tag(&child) != DW_TAG_subprogram)
            return true;
        Dwarf_Addr base = 0;
        Dwarf_Addr begin = 0;
        Dwarf_Addr end = 0;
        // Of a function in several pieces the first is where it is entered.
        if (dwarf_ranges(&child, 0, &base, &begin, &end) > 0)
            functions.emplace(begin + bias_, dwarf_dieoffset(&child));
        return true;
    });
    return functions;
}

std::optional<DieOffset> DwarfFile::function_at(std::uint64_t address) const {
    const auto unit = unit_at(address);
    if (!unit)
        return std::nullopt;
    const Functions& functions = functions_of(*unit);
    const auto found = functions.find(address);
    return found == functions.end() ? std::nullopt : std::optional(found->second);
}

} // namespace trapline
