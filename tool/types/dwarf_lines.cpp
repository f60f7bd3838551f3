// SPDX-License-Identifier: GPL-2.0
// The source's lines from DWARF.
#include "types/dwarf_lines.h"

#include <map>

namespace trapline {

namespace {

std::string text(const char* name) {
    std::string out = name == nullptr ? "" : name;
    for (char& c : out)
        if (c < ' ' || c > '~')
            c = '?';
    return out;
}

// The nearest to a line, of all that are offered.
class Nearest {
public:
    explicit Nearest(unsigned line) : line_(line) {}

    void offer(unsigned line) {
        if (line < line_ && line > near_.before)
            near_.before = line;
        if (line > line_ && (near_.after == 0 || line < near_.after))
            near_.after = line;
    }

    SourceLines::Near near() const { return near_; }

private:
    unsigned line_;
    SourceLines::Near near_;
};

} // namespace

void DwarfLines::each_row(DieOffset unit, const Visit& visit) const {
    Dwarf_Die top = file_.die(unit);
    Dwarf_Lines* lines = nullptr;
    std::size_t count = 0;
    if (dwarf_getsrclines(&top, &lines, &count) != 0)
        return; // a unit need not have any
    for (std::size_t i = 0; i < count; i++) {
        Dwarf_Line* line = dwarf_onesrcline(lines, i);
        bool begins = false;
        bool ends = false;
        Row row{};
        int number = 0;
        if (dwarf_linebeginstatement(line, &begins) != 0 || !begins ||
            dwarf_lineendsequence(line, &ends) != 0 || ends ||
            dwarf_lineaddr(line, &row.address) != 0 || dwarf_lineno(line, &number) != 0 ||
            number <= 0)
            continue;
        row.address += file_.bias();
        row.line = static_cast<unsigned>(number);
        row.file = dwarf_linesrc(line, nullptr, nullptr);
        if (row.file != nullptr)
            visit(row);
    }
}

// What a unit is called is what it was compiled from; other files are parts of any.
void DwarfLines::each_row(std::string_view file, const Visit& visit) const {
    std::vector<DieOffset> units;
    for (const DieOffset unit : file_.units()) {
        Dwarf_Die top = file_.die(unit);
        const char* name = dwarf_diename(&top);
        if (name != nullptr && is_file(name, file))
            units.push_back(unit);
    }
    for (const DieOffset unit : units.empty() ? file_.units() : units)
        each_row(unit, [&](const Row& row) {
            if (is_file(row.file, file))
                visit(row);
        });
}

void DwarfLines::each_row(const SourcePlace& function, const Visit& visit) const {
    const auto unit = file_.unit_at(function.address);
    const DwarfSymbol* symbol = file_.symbol_at(function.address);
    if (!unit || symbol == nullptr)
        return;
    each_row(*unit, [&](const Row& row) {
        if (row.address - function.address < symbol->size && function.file == row.file)
            visit(row);
    });
}

SourcePlace DwarfLines::beginning(const DwarfSymbol& symbol) const {
    SourcePlace place{
        .function = text(symbol.name), .address = symbol.address, .offset = 0, .file = {}};
    if (const auto function = file_.function_at(symbol.address)) {
        Dwarf_Die die = file_.die(*function);
        int line = 0;
        place.file = text(dwarf_decl_file(&die));
        if (dwarf_decl_line(&die, &line) == 0 && line > 0)
            place.line = static_cast<unsigned>(line);
    }
    if (!place.file.empty())
        return place;
    // Of assembly lines are known, and no functions.
    if (const auto unit = file_.unit_at(symbol.address)) {
        Dwarf_Die top = file_.die(*unit);
        int line = 0;
        Dwarf_Line* row = dwarf_getsrc_die(&top, symbol.address - file_.bias());
        if (row != nullptr && dwarf_lineno(row, &line) == 0 && line > 0) {
            place.file = text(dwarf_linesrc(row, nullptr, nullptr));
            place.line = static_cast<unsigned>(line);
        }
    }
    return place;
}

std::vector<SourcePlace> DwarfLines::functions(std::string_view name) const {
    std::vector<SourcePlace> all;
    for (const DwarfSymbol* symbol : file_.symbols(name))
        all.push_back(beginning(*symbol));
    return all;
}

std::vector<SourcePlace> DwarfLines::places(std::string_view file, unsigned line) const {
    std::map<std::uint64_t, SourcePlace> first; // by function
    each_row(file, [&](const Row& row) {
        const DwarfSymbol* symbol = row.line == line ? file_.symbol_at(row.address) : nullptr;
        if (symbol == nullptr)
            return;
        const std::uint64_t offset = row.address - symbol->address;
        const auto [known, fresh] =
            first.try_emplace(symbol->address, SourcePlace{text(symbol->name), symbol->address,
                                                           offset, text(row.file), row.line});
        if (!fresh && offset < known->second.offset)
            known->second.offset = offset;
    });
    std::vector<SourcePlace> all;
    for (const auto& [address, place] : first)
        all.push_back(place);
    return all;
}

std::vector<SourcePlace> DwarfLines::places(const SourcePlace& function, unsigned line) const {
    std::vector<SourcePlace> all;
    each_row(function, [&](const Row& row) {
        if (row.line != line)
            return;
        const std::uint64_t offset = row.address - function.address;
        if (all.empty())
            all.push_back({function.function, function.address, offset, function.file, line});
        else if (offset < all.front().offset)
            all.front().offset = offset;
    });
    return all;
}

SourceLines::Near DwarfLines::near(std::string_view file, unsigned line) const {
    Nearest nearest(line);
    each_row(file, [&](const Row& row) { nearest.offer(row.line); });
    return nearest.near();
}

SourceLines::Near DwarfLines::near(const SourcePlace& function, unsigned line) const {
    Nearest nearest(line);
    each_row(function, [&](const Row& row) { nearest.offer(row.line); });
    return nearest.near();
}

bool DwarfLines::has_file(std::string_view file) const {
    for (const DieOffset unit : file_.units()) {
        Dwarf_Die top = file_.die(unit);
        Dwarf_Files* files = nullptr;
        std::size_t count = 0;
        if (dwarf_getsrcfiles(&top, &files, &count) != 0)
            continue;
        for (std::size_t i = 0; i < count; i++) {
            const char* name = dwarf_filesrc(files, i, nullptr, nullptr);
            if (name != nullptr && is_file(name, file))
                return true;
        }
    }
    return false;
}

std::vector<SourceAnchor> DwarfLines::anchors(std::uint64_t address) const {
    constexpr std::size_t most = 64;
    std::vector<SourceAnchor> all;
    for (const DwarfSymbol* symbol : file_.neighbours(address, most))
        all.push_back({text(symbol->name), symbol->address});
    return all;
}

} // namespace trapline
