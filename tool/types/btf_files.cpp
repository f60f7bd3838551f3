// SPDX-License-Identifier: GPL-2.0
// Types from BTF in files.
#include "types/btf_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <linux/btf.h>
#include <span>

#include "util/elf_file.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::size_t bytes_max = std::size_t{1} << 30;

struct BtfFile {
    std::string path;
    KernelBuild build;
    std::string bytes;
    bool split = false; // a module's, which goes on from the kernel's
};

std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw errno_error("cannot open " + path, errno);
    if (!std::filesystem::is_regular_file(path))
        throw Error(path + " is no regular file", "name a file of BTF, or a vmlinux");
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file.bad())
        throw errno_error("cannot read " + path, errno);
    return bytes;
}

bool is_btf(std::string_view bytes) {
    std::uint16_t magic = 0;
    if (bytes.size() < sizeof(btf_header))
        return false;
    std::memcpy(&magic, bytes.data(), sizeof(magic));
    return magic == BTF_MAGIC;
}

// The first name of the kernel's is the empty one; a module's strings go on from those.
bool is_split(std::string_view bytes) {
    btf_header header{};
    std::memcpy(&header, bytes.data(), sizeof(header));
    const std::uint64_t strings = std::uint64_t{header.hdr_len} + header.str_off;
    return strings < bytes.size() && bytes[strings] != '\0';
}

// Which of the loaded modules' it is; else as the file is called, up to a '.' within. BTF itself
// has no name in it.
std::string module_of(const BtfFile& file, const std::string& sys) {
    std::error_code error;
    if (!sys.empty())
        for (const auto& entry : std::filesystem::directory_iterator(sys + "/kernel/btf", error))
            if (entry.file_size(error) == file.bytes.size() &&
                read_bytes(entry.path()) == file.bytes)
                return entry.path().filename();
    std::string name = std::filesystem::path(file.path).filename();
    name.resize(std::min(name.find('.', 1), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

BtfFile open_file(const std::string& path, const std::string& sys) {
    BtfFile file{.path = path, .build = {}, .bytes = {}, .split = false};
    ElfFile elf(path);
    if (elf.is_elf()) {
        file.build = build_of_file(path);
        if (elf.has(".BTF.base"))
            throw Error(
                path + ": its BTF goes on from one of its own (.BTF.base), not from a "
                       "kernel's",
                fmt::format("where it is loaded, take /sys/kernel/btf/{}", file.build.module));
        file.bytes = elf.contents(".BTF", bytes_max);
        if (file.bytes.empty())
            throw Error(path + ": there is no BTF in it (no section .BTF)",
                        "if it has DWARF: --vmlinux " + path);
    } else {
        file.bytes = read_bytes(path);
    }
    if (!is_btf(file.bytes))
        throw Error(path + ": no BTF, and no ELF file that has a section .BTF",
                    "BTF is what /sys/kernel/btf has, and a vmlinux that was built with "
                    "CONFIG_DEBUG_INFO_BTF=y");
    file.split = is_split(file.bytes);
    if (file.split && file.build.module.empty())
        file.build.module = module_of(file, sys);
    if (!file.split)
        file.build.module.clear();
    return file;
}

} // namespace

BtfFiles::BtfFiles(const std::vector<std::string>& paths, const std::string& sys) {
    std::vector<BtfFile> files;
    for (const std::string& path : paths)
        files.push_back(open_file(path, sys));
    std::stable_partition(files.begin(), files.end(),
                          [](const BtfFile& file) { return !file.split; });
    if (files.size() > 1 && !files[1].split)
        throw Error(
            fmt::format("{} and {} are both a whole kernel's BTF", files[0].path, files[1].path),
            "name one");
    if (files.front().split)
        throw Error(files.front().path + ": a module's BTF, which goes on from its kernel's",
                    "name that besides: --btf VMLINUX --btf " + files.front().path);
    const BtfTypes* base = nullptr;
    for (const BtfFile& file : files) {
        if (!sys.empty())
            check_runs(file.build, file.path, sys);
        auto& types = types_[file.build.module];
        if (types)
            throw Error(fmt::format("{}: another file has the types of {} too", file.path,
                                    file.build.module),
                        "name one");
        types = std::make_unique<BtfTypes>(std::as_bytes(std::span(file.bytes)), base, file.path);
        builds_.push_back(file.build);
        if (base == nullptr)
            base = types.get();
    }
}

const Types* BtfFiles::types_of(const std::string& module, std::string& why_none) {
    const auto found = types_.find(module);
    if (found != types_.end())
        return found->second.get();
    why_none = fmt::format("--btf names no file of the module {}", module);
    return nullptr;
}

} // namespace trapline
