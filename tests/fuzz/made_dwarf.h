// SPDX-License-Identifier: GPL-2.0
// A little DWARF 4, made by hand: the seeds of the fuzzer that reads it.
#pragma once

#include <cstdint>
#include <dwarf.h>
#include <initializer_list>
#include <string>
#include <utility>

#include "dwarf_input.h"

namespace trapline::fuzz {

class MadeDwarf {
public:
    MadeDwarf() {
        entry(DW_TAG_compile_unit, true,
              {{DW_AT_name, DW_FORM_string},
               {DW_AT_low_pc, DW_FORM_addr},
               {DW_AT_high_pc, DW_FORM_data4},
               {DW_AT_stmt_list, DW_FORM_sec_offset}},
              "a.c" + std::string(1, '\0') + bytes(text_address, 8) + bytes(text_size, 4) +
                  bytes(0, 4));
    }

    // Where it is, for those that refer to it.
    std::uint32_t entry(unsigned tag, bool children,
                        std::initializer_list<std::pair<unsigned, unsigned>> attributes,
                        const std::string& values) {
        code_++;
        abbrev_ += static_cast<char>(code_);
        abbrev_ += static_cast<char>(tag);
        abbrev_ += static_cast<char>(children);
        for (const auto& [name, form] : attributes) {
            abbrev_ += static_cast<char>(name);
            abbrev_ += static_cast<char>(form);
        }
        abbrev_ += std::string(2, '\0');
        const auto at = static_cast<std::uint32_t>(header_size + info_.size());
        info_ += static_cast<char>(code_) + values;
        return at;
    }

    void end() { info_ += '\0'; } // of children

    std::string input() {
        end();
        const std::string unit = bytes(4, 2) + bytes(0, 4) + bytes(8, 1) + info_;
        return dwarf_input(
            {bytes(unit.size(), 4) + unit, abbrev_ + std::string(1, '\0'), lines(), ""});
    }

    static std::string bytes(std::uint64_t value, unsigned size) {
        std::string out;
        for (unsigned i = 0; i < size; i++)
            out += static_cast<char>(value >> (8 * i) & 0xff);
        return out;
    }

    static std::string text(const char* name) { return name + std::string(1, '\0'); }

private:
    static constexpr std::size_t header_size = 11;

    // Line 2 at the beginning, line 3 eight bytes behind it.
    static std::string lines() {
        const std::string program = std::string("\0\x09\x02", 3) + bytes(text_address, 8) +
                                    "\x03\x01\x01\x02\x08\x03\x01\x01\x02\x38" +
                                    std::string("\0\x01\x01", 3);
        const std::string names = std::string(1, '\0') + text("a.c") + bytes(0, 3) + '\0';
        const std::string header = std::string("\x01\x01\xfb\x0e\x0a") +
                                   std::string("\0\x01\x01\x01\x01\0\0\0\x01", 9) + names;
        const std::string unit = bytes(2, 2) + bytes(header.size(), 4) + header + program;
        return bytes(unit.size(), 4) + unit;
    }

    unsigned code_ = 0;
    std::string abbrev_;
    std::string info_;
};

} // namespace trapline::fuzz
