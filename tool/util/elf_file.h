// SPDX-License-Identifier: GPL-2.0
// The little that is wanted of a kernel's or a module's file without libelf.
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
    bool is_elf() const { return !sections_.empty(); }

    static constexpr std::uint64_t contents_most = 1 << 20; // bytes; names and notes are small

    // A section's bytes, if they are in the file; of those that have more than `most` the
    // beginning.
    std::string contents(std::string_view section, std::uint64_t most = contents_most);

private:
    const Elf64_Shdr* find(std::string_view section) const;
    std::string bytes(std::uint64_t offset, std::uint64_t size, std::uint64_t most);

    std::ifstream file_;
    std::vector<Elf64_Shdr> sections_;
    std::string names_;
};

// The build id among ELF notes, as they are in /sys/kernel/notes and in .notes; empty: none.
std::string build_id(std::string_view notes);

// The build id of a kernel's or a module's file; empty: it has none.
std::string build_id_of_file(const std::string& path);

// "name: value" lines as modinfo prints them, of a module's file that isn't compressed; of a
// signature only that there is one (sig_id). Empty: it is no such file.
std::string modinfo_of_file(const std::string& path);

} // namespace trapline
