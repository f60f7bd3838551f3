// SPDX-License-Identifier: GPL-2.0
// Types from files that are named: which files, and of which kernel.
#include "types/type_files.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "made_btf.h"
#include "made_elf.h"
#include "recording_fixture.h"
#include "util/error.h"
#include "util/kernel_name.h"

namespace {

using namespace trapline;
using namespace trapline::test;

class TypeFilesTest : public testing::Test {
protected:
    TypeFilesTest() {
        made.function("vfs_read", made.ssize_t_, {{"file", made.file_pointer}});
        kernel_btf = text_of(made);
        MadeBtf split(made);
        split.function("in_module", made.int_, {{"text", made.text}});
        module_btf = text_of(split);
        write("sys/kernel/notes", build_id_note("running-kernel-0001x"));
        write("sys/module/mod/notes/.note.gnu.build-id", build_id_note("running-module-0001x"));
    }

    static std::string text_of(const MadeBtf& btf) {
        const auto bytes = btf.bytes();
        return bytes_of(bytes.data(), bytes.size());
    }

    std::string write(const std::string& name, const std::string& bytes) {
        const std::filesystem::path path = directory.path() / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << bytes;
        return path.string();
    }

    std::string elf(const std::string& name,
                    const std::vector<std::pair<std::string, std::string>>& sections) {
        const std::string path = directory / name;
        write_elf(path, sections);
        return path;
    }

    std::unique_ptr<FileTypes> open(std::vector<std::string> files) {
        return open_types({.btf = std::move(files), .vmlinux = {}}, directory / "sys");
    }

    std::string refusal(std::vector<std::string> files) {
        try {
            open(std::move(files));
        } catch (const Error& error) {
            hint = error.hint();
            return error.what();
        }
        return "none";
    }

    TempDir directory;
    SmallKernel made;
    std::string kernel_btf;
    std::string module_btf;
    std::string hint;
    std::string why;
};

TEST_F(TypeFilesTest, RawBtf) {
    const auto source = open({write("vmlinux", kernel_btf)});
    const Types* types = source->types_of("", why);
    ASSERT_NE(types, nullptr);
    EXPECT_TRUE(types->function("vfs_read"));
    EXPECT_EQ(source->types_of("mod", why), nullptr);
    EXPECT_EQ(why, "--btf names no file of the module mod");
    EXPECT_EQ(source->lines_of("", why), nullptr);
    ASSERT_EQ(source->builds().size(), 1U);
    EXPECT_EQ(source->builds()[0].id, "");
}

TEST_F(TypeFilesTest, ElfWithBtf) {
    const auto source =
        open({elf("vmlinux", {{".notes", build_id_note("running-kernel-0001x")},
                              {".rodata", "abc%Linux version %s\nLinux version 6.1.0-9-made (x)"},
                              {".BTF", kernel_btf}})});
    EXPECT_TRUE(source->types_of("", why)->function("vfs_read"));
    EXPECT_EQ(source->builds()[0].release, "6.1.0-9-made");
    EXPECT_EQ(source->builds()[0].id, "72756e6e696e672d6b65726e656c2d3030303178");
}

TEST_F(TypeFilesTest, ModulesGoOnFromTheKernel) {
    const std::string kernel = write("vmlinux", kernel_btf);
    const std::string module = write("mod", module_btf);
    for (const auto& files : {std::vector{kernel, module}, std::vector{module, kernel}}) {
        const auto source = open(files);
        const Types* types = source->types_of("mod", why);
        ASSERT_NE(types, nullptr);
        EXPECT_TRUE(types->function("in_module"));
    }
    // By what is in it, if that is loaded, else by the beginning of its name.
    const auto module_of = [&](const std::string& file) {
        return open({kernel, file})->builds().at(1).module;
    };
    EXPECT_EQ(module_of(write("my-mod.btf.raw", module_btf)), "my_mod");
    EXPECT_EQ(module_of(write(".my-mod.btf", module_btf)), ".my_mod");
    write("sys/kernel/btf/mod", module_btf);
    EXPECT_EQ(module_of(write("any", module_btf)), "mod");
    std::filesystem::remove_all(directory.path() / "sys/kernel/btf");
    EXPECT_EQ(refusal({module}), module + ": a module's BTF, which goes on from its kernel's");
    EXPECT_EQ(hint, "name that besides: --btf VMLINUX --btf " + module);
    EXPECT_EQ(refusal({kernel, module, module}),
              module + ": another file has the types of mod too");
    EXPECT_NE(refusal({kernel, kernel}).find("are both a whole kernel's BTF"), std::string::npos);
}

TEST_F(TypeFilesTest, ModuleAsElf) {
    const auto source =
        open({write("vmlinux", kernel_btf),
              elf("other-name.ko",
                  {{".note.gnu.build-id", build_id_note("running-module-0001x")},
                   {".modinfo", std::string("name=mod\0vermagic=6.1.0-9-made SMP \0", 35)},
                   {".gnu.linkonce.this_module", "x"},
                   {".BTF", module_btf}})});
    EXPECT_NE(source->types_of("mod", why), nullptr);
    EXPECT_EQ(source->builds()[1].release, "6.1.0-9-made");
}

TEST_F(TypeFilesTest, WhatIsNoBtf) {
    EXPECT_EQ(refusal({directory / "missing"}),
              "cannot open " + (directory / "missing") + ": No such file or directory");
    const std::string text = write("text", "some text, longer than a header of BTF is");
    EXPECT_EQ(refusal({text}), text + ": no BTF, and no ELF file that has a section .BTF");
    EXPECT_NE(hint, "");
    const std::string naked = elf("naked", {{".text", "x"}});
    EXPECT_EQ(refusal({naked}), naked + ": there is no BTF in it (no section .BTF)");
    EXPECT_EQ(hint, "if it has DWARF: --vmlinux " + naked);
    EXPECT_EQ(refusal({write("empty", "")}).substr(0, 1), "/");
    const std::string cut = write("cut", kernel_btf.substr(0, kernel_btf.size() / 2));
    EXPECT_EQ(refusal({cut}).substr(0, cut.size()), cut);
    const std::string distilled = elf("new.ko", {{".BTF.base", "x"}, {".BTF", module_btf}});
    EXPECT_NE(refusal({distilled}).find(".BTF.base"), std::string::npos);
}

TEST_F(TypeFilesTest, AnotherBuildIsRefused) {
    const std::string other = elf("vmlinux", {{".notes", build_id_note("another-kernel-0002x")},
                                              {".rodata", "Linux version 5.4.0-other ("},
                                              {".BTF", kernel_btf}});
    EXPECT_EQ(refusal({other}),
              other + " is not of the kernel that runs: it is of 5.4.0-other, and this is " +
                  kernel_release() +
                  " (build id 616e6f746865722d6b65726e656c2d3030303278, not "
                  "72756e6e696e672d6b65726e656c2d3030303178)");
    EXPECT_NE(hint.find("/usr/lib/debug/boot/vmlinux-" + kernel_release()), std::string::npos);
    EXPECT_NO_THROW(open_types({.btf = {other}, .vmlinux = {}}, "")) << "for another machine";

    const std::string module =
        elf("mod.ko", {{".note.gnu.build-id", build_id_note("another-module-0002x")},
                       {".gnu.linkonce.this_module", "x"},
                       {".BTF", module_btf}});
    EXPECT_NE(refusal({write("kernel", kernel_btf), module})
                  .find("is not of the module mod that runs: it is of another build"),
              std::string::npos);
    const std::string unloaded =
        elf("unloaded.ko", {{".note.gnu.build-id", build_id_note("another-module-0002x")},
                            {".gnu.linkonce.this_module", "x"},
                            {".BTF", module_btf}});
    EXPECT_EQ(refusal({write("kernel", kernel_btf), unloaded}), "none");
}

#ifndef TRAPLINE_LIBDW
TEST_F(TypeFilesTest, WithoutLibdw) {
    EXPECT_THROW(open_types({.btf = {}, .vmlinux = {"vmlinux"}}, ""), Error);
}
#endif

} // namespace
