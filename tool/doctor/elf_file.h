// SPDX-License-Identifier: GPL-2.0
// The little that the doctor wants to know of a kernel's image with debug information.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>

namespace trapline {

class ElfFile {
public:
    // A file that is no 64-bit ELF file has no sections.
    explicit ElfFile(const std::string& path);

    bool has(std::string_view section) const { return find(section) != nullptr; }
    // A section's bytes, if they are in the file; of absurd ones the beginning.
    std::string contents(std::string_view section);

private:
    const Elf64_Shdr* find(std::string_view section) const;
    std::string bytes(std::uint64_t offset, std::uint64_t size);

    std::ifstream file_;
    std::vector<Elf64_Shdr> sections_;
    std::string names_;
};

// The build id among ELF notes, as they are in /sys/kernel/notes and in .notes; empty: none.
std::string build_id(std::string_view notes);

// "name: value" lines as modinfo prints them, of a module's file that isn't compressed; of a
// signature only that there is one (sig_id). Empty: it is no such file.
std::string modinfo_of_file(const std::string& path);

} // namespace trapline
