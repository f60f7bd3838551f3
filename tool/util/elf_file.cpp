// SPDX-License-Identifier: GPL-2.0
// The little that is wanted of a kernel's or a module's file without libelf.
#include "util/elf_file.h"

#include <algorithm>
#include <cstring>

namespace trapline {

namespace {

template <typename T>
bool take(std::ifstream& file, std::uint64_t offset, T* to, std::size_t count) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    const auto size = static_cast<std::streamsize>(count * sizeof(T));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(to), size));
}

} // namespace

ElfFile::ElfFile(const std::string& path) : file_(path, std::ios::binary) {
    Elf64_Ehdr header{};
    if (!file_ || !take(file_, 0, &header, 1) ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
        return;
    sections_.resize(header.e_shnum);
    if (!take(file_, header.e_shoff, sections_.data(), sections_.size()) ||
        header.e_shstrndx >= sections_.size()) {
        sections_.clear();
        return;
    }
    const Elf64_Shdr& names = sections_[header.e_shstrndx];
    names_ = bytes(names.sh_offset, names.sh_size, contents_most);
}

std::string ElfFile::bytes(std::uint64_t offset, std::uint64_t size, std::uint64_t most) {
    std::string out(static_cast<std::size_t>(std::min(size, most)), '\0');
    return take(file_, offset, out.data(), out.size()) ? out : std::string();
}

const Elf64_Shdr* ElfFile::find(std::string_view section) const {
    for (const Elf64_Shdr& header : sections_) {
        if (header.sh_name < names_.size() && names_.c_str() + header.sh_name == section)
            return &header;
    }
    return nullptr;
}

std::string ElfFile::contents(std::string_view section, std::uint64_t most) {
    const Elf64_Shdr* header = find(section);
    return header == nullptr || header->sh_type == SHT_NOBITS
               ? std::string()
               : bytes(header->sh_offset, header->sh_size, most);
}

std::string build_id(std::string_view notes) {
    const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    while (notes.size() >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note{};
        std::memcpy(&note, notes.data(), sizeof(note));
        notes.remove_prefix(sizeof(note));
        const std::size_t size = padded(note.n_namesz) + padded(note.n_descsz);
        if (size > notes.size())
            return {};
        if (note.n_type == NT_GNU_BUILD_ID && notes.starts_with(std::string_view("GNU\0", 4)))
            return std::string(notes.substr(padded(note.n_namesz), note.n_descsz));
        notes.remove_prefix(size);
    }
    return {};
}

std::string build_id_of_file(const std::string& path) {
    ElfFile file(path);
    for (const char* section : {".notes", ".note.gnu.build-id"})
        if (std::string id = build_id(file.contents(section)); !id.empty())
            return id;
    return {};
}

std::string modinfo_of_file(const std::string& path) {
    std::string out;
    const std::string texts = ElfFile(path).contents(".modinfo");
    for (std::size_t at = 0; at < texts.size();) {
        const std::string text = texts.c_str() + at;
        const std::size_t equals = text.find('=');
        if (equals != std::string::npos)
            out += text.substr(0, equals) + ": " + text.substr(equals + 1) + '\n';
        at += text.size() + 1;
    }
    constexpr std::string_view signed_mark = "~Module signature appended~\n";
    std::ifstream file(path, std::ios::binary);
    std::string end(signed_mark.size(), '\0');
    file.seekg(-static_cast<std::streamoff>(end.size()), std::ios::end);
    if (!out.empty() && file.read(end.data(), static_cast<std::streamsize>(end.size())) &&
        end == signed_mark)
        out += "sig_id: PKCS#7\n";
    return out;
}

} // namespace trapline
