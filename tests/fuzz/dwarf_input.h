// SPDX-License-Identifier: GPL-2.0
// An input for the reader of DWARF: sections, one behind the other, of an ELF file that is made
// around them. It has a function named "opened".
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <string>
#include <string_view>
#include <vector>

namespace trapline::fuzz {

constexpr std::array<const char*, 4> dwarf_sections{".debug_info", ".debug_abbrev", ".debug_line",
                                                    ".debug_aranges"};

// Where libdwfl puts the first section of a file that is to be laid out.
constexpr std::uint64_t text_address = 0x10000;
constexpr std::uint64_t text_size = 64;

// Lengths of two bytes each, then the sections.
inline std::string dwarf_input(const std::array<std::string, dwarf_sections.size()>& sections) {
    std::string input;
    for (const std::string& section : sections) {
        input += static_cast<char>(section.size() & 0xff);
        input += static_cast<char>(section.size() >> 8);
    }
    for (const std::string& section : sections)
        input += section;
    return input;
}

class MadeElf {
public:
    explicit MadeElf(std::string_view input) {
        add(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, std::string(text_size, '\x90'));
        std::size_t at = 2 * dwarf_sections.size();
        for (std::size_t i = 0; i < dwarf_sections.size(); i++) {
            const std::size_t size = length(input, 2 * i);
            const std::string_view rest = at < input.size() ? input.substr(at) : "";
            add(dwarf_sections.at(i), SHT_PROGBITS, 0, std::string(rest.substr(0, size)));
            at += size;
        }
        const std::string strings("\0opened\0", 8);
        Elf64_Sym symbols[2] = {};
        symbols[1].st_name = 1;
        symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbols[1].st_shndx = 1;
        symbols[1].st_size = text_size;
        const std::size_t table =
            add(".symtab", SHT_SYMTAB, 0, std::string(reinterpret_cast<const char*>(symbols), 48));
        headers_[table].sh_entsize = sizeof(Elf64_Sym);
        headers_[table].sh_link = static_cast<Elf64_Word>(add(".strtab", SHT_STRTAB, 0, strings));
        headers_[table].sh_info = 1;
    }

    std::string bytes() {
        const std::size_t last = add(".shstrtab", SHT_STRTAB, 0, "");
        headers_[last].sh_size = names_.size();
        contents_ += names_;
        contents_.resize((contents_.size() + 7) & ~std::size_t{7});
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_CLASS] = ELFCLASS64;
        header.e_ident[EI_DATA] = ELFDATA2LSB;
        header.e_ident[EI_VERSION] = EV_CURRENT;
        header.e_type = ET_REL;
        header.e_machine = EM_X86_64;
        header.e_version = EV_CURRENT;
        header.e_ehsize = sizeof(header);
        header.e_shentsize = sizeof(Elf64_Shdr);
        header.e_shoff = sizeof(header) + contents_.size();
        header.e_shnum = static_cast<Elf64_Half>(headers_.size());
        header.e_shstrndx = static_cast<Elf64_Half>(last);
        return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + contents_ +
               std::string(reinterpret_cast<const char*>(headers_.data()),
                           headers_.size() * sizeof(Elf64_Shdr));
    }

private:
    static std::size_t length(std::string_view input, std::size_t at) {
        if (at + 2 > input.size())
            return 0;
        return static_cast<unsigned char>(input[at]) |
               static_cast<std::size_t>(static_cast<unsigned char>(input[at + 1])) << 8;
    }

    std::size_t add(const char* name, unsigned type, std::uint64_t flags,
                    const std::string& bytes) {
        contents_.resize((contents_.size() + 7) & ~std::size_t{7});
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names_.size());
        header.sh_type = type;
        header.sh_flags = flags;
        header.sh_offset = sizeof(Elf64_Ehdr) + contents_.size();
        header.sh_size = bytes.size();
        header.sh_addralign = 8;
        headers_.push_back(header);
        names_ += name;
        names_ += '\0';
        contents_ += bytes;
        return headers_.size() - 1;
    }

    std::string names_ = std::string(1, '\0');
    std::string contents_;
    std::vector<Elf64_Shdr> headers_ = std::vector<Elf64_Shdr>(1);
};

} // namespace trapline::fuzz
