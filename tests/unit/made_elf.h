// SPDX-License-Identifier: GPL-2.0
// ELF files made by the test: sections, and nothing else.
#pragma once

#include <cstring>
#include <elf.h>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace trapline::test {

inline std::string bytes_of(const void* from, std::size_t size) {
    return {static_cast<const char*>(from), size};
}

// A build id as linkers note it.
inline std::string build_id_note(const std::string& id) {
    const Elf64_Nhdr header{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID};
    return bytes_of(&header, sizeof(header)) + std::string("GNU\0", 4) + id;
}

inline void write_elf(const std::string& path,
                      const std::vector<std::pair<std::string, std::string>>& sections) {
    std::string names(1, '\0');
    std::string contents;
    std::vector<Elf64_Shdr> headers(1);
    const auto add = [&](const std::string& name, const std::string& bytes) {
        Elf64_Shdr header{};
        header.sh_name = static_cast<Elf64_Word>(names.size());
        header.sh_type = SHT_PROGBITS;
        header.sh_offset = sizeof(Elf64_Ehdr) + contents.size();
        header.sh_size = bytes.size();
        headers.push_back(header);
        names += name + '\0';
        contents += bytes;
    };
    for (const auto& [name, bytes] : sections)
        add(name, bytes);
    add(".shstrtab", "");
    headers.back().sh_size = names.size();
    contents += names;

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shoff = sizeof(header) + contents.size();
    header.e_shnum = static_cast<Elf64_Half>(headers.size());
    header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
    std::ofstream file(path, std::ios::binary);
    file << bytes_of(&header, sizeof(header)) << contents
         << bytes_of(headers.data(), headers.size() * sizeof(headers[0]));
}

} // namespace trapline::test
