// SPDX-License-Identifier: GPL-2.0
// The source's lines from DWARF.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "types/dwarf_file.h"
#include "types/source_lines.h"

namespace trapline {

class DwarfLines : public SourceLines {
public:
    explicit DwarfLines(const DwarfFile& file) : file_(file) {}

    std::vector<SourcePlace> functions(std::string_view name) const override;
    std::vector<SourcePlace> places(std::string_view file, unsigned line) const override;
    std::vector<SourcePlace> places(const SourcePlace& function, unsigned line) const override;
    Near near(std::string_view file, unsigned line) const override;
    Near near(const SourcePlace& function, unsigned line) const override;
    std::vector<std::string> clones(std::string_view name) const override;
    std::optional<Inlined> inlined(std::string_view name) const override;
    bool has_file(std::string_view file) const override;
    std::vector<SourceAnchor> anchors(std::uint64_t address) const override;

private:
    // Where a line's code begins.
    struct Row {
        std::uint64_t address;
        unsigned line;
        const char* file;
    };
    using Visit = std::function<void(const Row& row)>;

    void each_row(DieOffset unit, const Visit& visit) const;
    void each_row(std::string_view file, const Visit& visit) const;
    void each_row(const SourcePlace& function, const Visit& visit) const;
    SourcePlace beginning(const DwarfSymbol& symbol) const;
    void add_callers(DieOffset unit, std::span<const DieOffset> functions, Inlined& to) const;
    bool has_inlined(Dwarf_Die in, std::span<const DieOffset> functions, unsigned depth) const;

    const DwarfFile& file_;
};

} // namespace trapline
