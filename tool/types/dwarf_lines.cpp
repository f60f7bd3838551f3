// SPDX-License-Identifier: GPL-2.0
// The source's lines from DWARF.
#include "types/dwarf_lines.h"

#include <algorithm>
#include <dwarf.h>
#include <map>

namespace trapline {

namespace {

constexpr unsigned depth_max = 64;     // of what is inlined into one another
constexpr std::size_t callers_max = 3; // that are named

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

// ---- what has no code of its own

// Cold parts are jumped to: they are no functions.
std::vector<std::string> DwarfLines::clones(std::string_view name) const {
    std::vector<std::string> all;
    for (const DwarfSymbol& symbol : file_.symbols()) {
        const std::string_view full = symbol.name;
        if (full.starts_with(name) && full.substr(name.size()).starts_with('.') &&
            full.find(".cold") == full.npos)
            all.push_back(text(symbol.name));
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

// Whether one of the functions was inlined into it, or into what was.
bool DwarfLines::has_inlined(Dwarf_Die in, std::span<const DieOffset> functions,
                             unsigned depth) const {
    bool found = false;
    if (depth > depth_max)
        return found;
    file_.each_child(in, [&](Dwarf_Die& child) {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_inlined_subroutine) {
            Dwarf_Attribute attribute{};
            Dwarf_Die origin{};
            found = dwarf_attr(&child, DW_AT_abstract_origin, &attribute) != nullptr &&
                    dwarf_formref_die(&attribute, &origin) != nullptr &&
                    std::find(functions.begin(), functions.end(), dwarf_dieoffset(&origin)) !=
                        functions.end();
        }
        if (!found && (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block))
            found = has_inlined(child, functions, depth + 1);
        return !found;
    });
    return found;
}

void DwarfLines::add_callers(DieOffset unit, std::span<const DieOffset> functions,
                             Inlined& to) const {
    file_.each_child(file_.die(unit), [&](Dwarf_Die& child) {
        Dwarf_Addr begin = 0;
        if (dwarf_tag(&child) != DW_TAG_subprogram || dwarf_entrypc(&child, &begin) != 0 ||
            !has_inlined(child, functions, 0))
            return true;
        const DwarfSymbol* symbol = file_.symbol_at(begin + file_.bias());
        if (symbol == nullptr)
            return true;
        std::string name = text(symbol->name);
        if (std::find(to.into.begin(), to.into.end(), name) == to.into.end())
            to.into.push_back(std::move(name));
        return to.into.size() < callers_max;
    });
}

// Each unit that has it has one of its own; until some callers are known.
std::optional<SourceLines::Inlined> DwarfLines::inlined(std::string_view name) const {
    std::optional<Inlined> found;
    if (!clones(name).empty())
        return found;
    for (const DieOffset unit : file_.units()) {
        std::vector<DieOffset> functions;
        file_.each_child(file_.die(unit), [&](Dwarf_Die& child) {
            const char* own =
                dwarf_tag(&child) == DW_TAG_subprogram ? dwarf_diename(&child) : nullptr;
            if (own == nullptr || own != name || dwarf_func_inline(&child) == 0)
                return true;
            functions.push_back(dwarf_dieoffset(&child));
            if (found)
                return true;
            int line = 0;
            found.emplace();
            found->file = text(dwarf_decl_file(&child));
            if (dwarf_decl_line(&child, &line) == 0 && line > 0)
                found->line = static_cast<unsigned>(line);
            return true;
        });
        if (!functions.empty())
            add_callers(unit, functions, *found);
        if (found && found->into.size() >= callers_max)
            break;
    }
    return found;
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
