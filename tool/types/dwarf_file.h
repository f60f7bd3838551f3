// SPDX-License-Identifier: GPL-2.0
// A kernel's or a module's file with DWARF, by elfutils' libdw: what of it is where. Nothing is
// read before it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

namespace trapline {

// A function's symbol.
struct DwarfSymbol {
    std::uint64_t address = 0; // as all here: the file's, with a module's sections laid out
    std::uint64_t size = 0;
    const char* name = nullptr; // the file's own
};

// Where a DIE is in .debug_info.
using DieOffset = std::uint64_t;

class DwarfFile {
public:
    // Error for what is no ELF file, or has no DWARF.
    explicit DwarfFile(const std::string& path);

    const std::string& path() const { return path_; }
    Dwarf* dwarf() const { return dwarf_; }
    std::uint64_t bias() const { return bias_; } // from DWARF's addresses to these

    // By address. Of those of one name at one address, one.
    const std::vector<DwarfSymbol>& symbols() const;
    std::vector<const DwarfSymbol*> symbols(std::string_view name) const;
    const DwarfSymbol* symbol_at(std::uint64_t address) const; // that it is inside of

    // Symbols that no other of the file shares its name with, of the section that has `address`.
    std::vector<const DwarfSymbol*> neighbours(std::uint64_t address, std::size_t most) const;

    // Compilation units, in the order of the file.
    const std::vector<DieOffset>& units() const;
    std::optional<DieOffset> unit_at(std::uint64_t address) const;

    // The function that begins there.
    std::optional<DieOffset> function_at(std::uint64_t address) const;

    Dwarf_Die die(DieOffset offset) const; // Error: there is none

    // Calls `visit` for each child until it says false.
    void each_child(Dwarf_Die parent, const std::function<bool(Dwarf_Die&)>& visit) const;

    [[noreturn]] void fail(DieOffset offset, std::string_view why) const;

private:
    struct End {
        void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
    };
    using Functions = std::unordered_map<std::uint64_t, DieOffset>; // by address

    void read_symbols() const;
    int section_of(std::uint64_t address) const;
    const Functions& functions_of(DieOffset unit) const;

    std::string path_;
    std::unique_ptr<Dwfl, End> dwfl_;
    Dwfl_Module* module_ = nullptr;
    Dwarf* dwarf_ = nullptr;
    std::uint64_t bias_ = 0;
    mutable std::vector<DwarfSymbol> symbols_;
    mutable std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name_;
    mutable std::vector<DieOffset> units_;
    mutable std::unordered_map<DieOffset, Functions> functions_;
};

} // namespace trapline
