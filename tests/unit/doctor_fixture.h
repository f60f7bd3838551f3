// SPDX-License-Identifier: GPL-2.0
// A machine in a directory, where everything is as it should be until a test spoils it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <elf.h>
#include <gtest/gtest.h>

#include "doctor/check.h"
#include "shared/trapline.h"

namespace trapline {

class FakeSystem : public System {
public:
    explicit FakeSystem(const std::string& root) : System(root) {}

    FileText read(const std::string& path) const override {
        const auto refusal = refused.find(path);
        return refusal == refused.end() ? System::read(path) : FileText{refusal->second, {}};
    }
    std::string modinfo(const std::string& path) const override {
        const auto text = modinfos.find(path);
        return text == modinfos.end() ? std::string() : text->second;
    }
    std::string release() const override { return running; }
    bool has_modprobe() const override { return modprobe; }
    bool is_node(const std::string& path, unsigned minor) const override {
        return exists(path) && node == minor;
    }
    std::string module_file(const std::string&) const override { return beside; }
    unsigned effective_user() const override { return euid; }
    std::string kernel_log() const override { return log; }
    DeviceAnswer ask_device() const override { return device; }
    std::string build_folder() const override { return built; }

    std::map<std::string, int> refused; // errno
    std::map<std::string, std::string> modinfos;
    std::string running = "6.1.0-18-amd64";
    bool modprobe = true;
    std::string beside; // the tool, or where else a file is loaded without modprobe
    unsigned euid = 0;
    std::string log;
    unsigned node = 61; // /dev/trapline's minor
    DeviceAnswer device{0, TRAPLINE_ABI, {}};
    std::string built = "/src/build/kmod";
};

// A note as ELF has it: NT_GNU_BUILD_ID.
inline std::string build_id_note(std::string_view id) {
    const Elf64_Nhdr header{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID};
    return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
           std::string("GNU\0", 4) + std::string(id);
}

// An ELF file with .notes, a section of that name, and the names of both.
inline std::string debug_elf(std::string_view section, const std::string& notes,
                             const std::string& contents = {}) {
    const std::string names = std::string("\0.notes\0.names\0", 15) + std::string(section) + '\0';
    Elf64_Ehdr header{};
    header.e_ident[EI_MAG0] = ELFMAG0;
    header.e_ident[EI_MAG1] = ELFMAG1;
    header.e_ident[EI_MAG2] = ELFMAG2;
    header.e_ident[EI_MAG3] = ELFMAG3;
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 4;
    header.e_shstrndx = 2;
    header.e_shoff = sizeof(header) + notes.size() + names.size();
    Elf64_Shdr sections[4] = {};
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_NOTE;
    sections[1].sh_offset = sizeof(header);
    sections[1].sh_size = notes.size();
    sections[2].sh_name = 8;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sizeof(header) + notes.size();
    sections[2].sh_size = names.size();
    sections[3].sh_name = 15;
    sections[3].sh_type = SHT_PROGBITS;
    sections[3].sh_offset = header.e_shoff + sizeof(sections);
    sections[3].sh_size = contents.size();
    return std::string(reinterpret_cast<const char*>(&header), sizeof(header)) + notes + names +
           std::string(reinterpret_cast<const char*>(sections), sizeof(sections)) + contents;
}

class Doctor : public testing::Test {
protected:
    static constexpr const char* modules = "/lib/modules/6.1.0-18-amd64/";
    static constexpr const char* ko = "/lib/modules/6.1.0-18-amd64/updates/trapline.ko";
    static constexpr const char* vermagic =
        "vermagic:       6.1.0-18-amd64 SMP preempt mod_unload modversions \n";

    Doctor() {
        write("/etc/os-release", "NAME=\"Debian GNU/Linux\"\nID=debian\n");
        write("/proc/modules", "trapline 65536 0 - Live 0x0000000000000000\n");
        write("/proc/misc", " 61 trapline\n");
        write("/dev/trapline", "");
        write("/sys/module/trapline/version", "0.1.0\n");
        write("/proc/sys/kernel/modules_disabled", "0\n");
        write("/proc/mounts", "debugfs /sys/kernel/debug debugfs rw 0 0\n"
                              "securityfs /sys/kernel/security securityfs rw 0 0\n");
        write("/proc/stat", "cpu 1 2 3\nbtime 1000000000\n");
        write("/proc/self/status", "Name:\ttrapline\nCapEff:\t000001ffffffffff\nCapBnd:\t0\n");
        write("/proc/kallsyms", "ffffffff81000000 T _text\nffffffff81100000 T register_kprobe\n");
        write("/proc/sys/kernel/kptr_restrict", "0\n");
        write("/proc/sys/kernel/ftrace_enabled", "1\n");
        write("/sys/kernel/debug/kprobes/enabled", "1\n");
        write("/sys/kernel/debug/kprobes/blacklist",
              "0xffffffff81000000-0xffffffff81000040\tdo_int3\n");
        write("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        write("/sys/module/module/parameters/sig_enforce", "N\n");
        write("/sys/kernel/btf/vmlinux", "BTF");
        write("/sys/kernel/notes", build_id_note("this"));
        write("/usr/lib/debug/boot/vmlinux-6.1.0-18-amd64",
              debug_elf(".debug_info", build_id_note("this")));
        write("/boot/config-6.1.0-18-amd64",
              "# Linux/x86\nCONFIG_MODULES=y\nCONFIG_KPROBES=y\n# CONFIG_X is not set\n");
        write(std::string(modules) + "build/include/generated/utsrelease.h", "");
        write(std::string(modules) + "modules.dep",
              "kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko\nupdates/trapline.ko:\n");
        write(ko, "");
        write("/src/build/kmod/6.1.0-18-amd64/trapline.ko", "");
        system.modinfos[std::string(modules) + "kernel/fs/ext4/ext4.ko"] =
            std::string("name:           ext4\n") + vermagic;
        system.modinfos[ko] = our_modinfo(vermagic);
    }
    ~Doctor() override { std::filesystem::remove_all(root); }

    static std::string our_modinfo(const std::string& rest) {
        return "filename:       trapline.ko\ntrapline_abi:   " + std::to_string(TRAPLINE_ABI) +
               "\nversion:        0.1.0\nname:           trapline\n" + rest;
    }

    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path file = root + path;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(root + path); }

    void unload() {
        write("/proc/modules", "");
        write("/proc/misc", "");
        remove("/dev/trapline");
        remove("/sys/module/trapline");
        system.device = {ENOENT, {}, {}};
    }
    void uninstall() const {
        remove(ko);
        write(std::string(modules) + "modules.dep", "kernel/fs/ext4/ext4.ko:\n");
    }

    Result look(Result (*check)(const Machine&)) const { return check(Machine(system)); }

    std::string root = [] {
        std::string path = testing::TempDir() + "doctor.XXXXXX";
        return std::string(mkdtemp(path.data()));
    }();
    FakeSystem system{root};
};

#define EXPECT_RESULT(check, wanted_level, found_part, wanted_remedy)                              \
    do {                                                                                           \
        const Result result_ = look(check);                                                        \
        EXPECT_EQ(result_.level, wanted_level) << result_.found;                                   \
        EXPECT_NE(result_.found.find(found_part), std::string::npos) << result_.found;             \
        EXPECT_EQ(result_.remedy, wanted_remedy);                                                  \
    } while (0)

} // namespace trapline
