// SPDX-License-Identifier: GPL-2.0
// The doctor about the module: every state of every check.
#include <cerrno>
#include <fmt/format.h>

#include "control/module_loader.h"
#include "doctor_fixture.h"
#include "util/elf_file.h"
#include "util/remedy.h"

namespace trapline {
namespace {

const std::string install = "make KDIR=/lib/modules/6.1.0-18-amd64/build && sudo make install";
const std::string rebuild = "make clean && " + install;
const std::string reload = "sudo rmmod trapline && sudo modprobe trapline";

TEST_F(Doctor, AHealthyMachineHasNoProblem) {
    const std::vector<Finding> findings = examine(Machine(system));
    EXPECT_EQ(findings.size(), checks().size());
    for (const Finding& finding : findings) {
        if (finding.name == "this build")
            continue; // as it was built
        EXPECT_EQ(finding.result.level, Level::ok) << finding.name << ": " << finding.result.found;
        EXPECT_EQ(finding.result.remedy, "") << finding.name;
        EXPECT_NE(finding.result.found, "") << finding.name;
    }
    EXPECT_FALSE(prevents_tracing(findings));
}

TEST_F(Doctor, OnlyAProblemPreventsTracing) {
    const auto prevents = [](Level level) { return prevents_tracing({{"a", {level, "", ""}}}); };
    EXPECT_FALSE(prevents(Level::ok));
    EXPECT_FALSE(prevents(Level::note));
    EXPECT_FALSE(prevents(Level::unknown));
    EXPECT_TRUE(prevents(Level::problem));
    EXPECT_TRUE(prevents_tracing({{"a", {Level::problem, "", ""}}, {"b", {Level::ok, "", ""}}}));
}

TEST_F(Doctor, LinesAreAlignedAndRemediesBelowThem) {
    const std::vector<Finding> findings = {
        {"kprobes", {Level::ok, "CONFIG_KPROBES=y", ""}},
        {"module installed", {Level::problem, "not\x1b there", "first\nsecond"}},
        {"BTF", {Level::note, "none", "boot"}},
        {"lockdown", {Level::unknown, "who knows", ""}}};
    EXPECT_EQ(listing(findings, false), "ok       kprobes           CONFIG_KPROBES=y\n"
                                        "problem  module installed  not\\033 there\n"
                                        "         first\n"
                                        "         second\n"
                                        "note     BTF               none\n"
                                        "         boot\n"
                                        "unknown  lockdown          who knows\n");
    EXPECT_EQ(listing({findings[0], findings[2]}, true), "ok       kprobes  CONFIG_KPROBES=y\n"
                                                         "\033[1mnote   \033[0m  BTF      none\n"
                                                         "         boot\n");
}

TEST_F(Doctor, LoadableModules) {
    EXPECT_RESULT(check_loadable_modules, Level::ok, "CONFIG_MODULES=y", "");
    write("/proc/sys/kernel/modules_disabled", "1\n");
    EXPECT_EQ(look(check_loadable_modules).level, Level::note); // it is loaded
    unload();
    EXPECT_RESULT(check_loadable_modules, Level::problem, "kernel.modules_disabled",
                  "reboot, and load it before that switch is set: echo trapline | sudo tee "
                  "/etc/modules-load.d/trapline.conf");
    remove("/proc/modules");
    write("/boot/config-6.1.0-18-amd64", "CONFIG_X86=y\n# CONFIG_MODULES is not set\n");
    EXPECT_RESULT(check_loadable_modules, Level::problem, "CONFIG_MODULES is not set (/boot/config",
                  "boot a kernel with CONFIG_MODULES=y and CONFIG_KPROBES=y");
    remove("/boot");
    EXPECT_RESULT(check_loadable_modules, Level::problem, "no /proc/modules",
                  "boot a kernel with CONFIG_MODULES=y and CONFIG_KPROBES=y");
}

TEST_F(Doctor, Headers) {
    EXPECT_RESULT(check_headers, Level::ok, "/lib/modules/6.1.0-18-amd64/build", "");
    remove(std::string(modules) + "build");
    const std::string debian = "sudo apt install linux-headers-6.1.0-18-amd64";
    EXPECT_RESULT(check_headers, Level::note, "there is no /lib/modules/6.1.0-18-amd64/build",
                  debian);
    unload();
    EXPECT_RESULT(check_headers, Level::note, "to build the module again only", debian);
    uninstall();
    EXPECT_RESULT(check_headers, Level::problem, "there is no", debian);
    write("/etc/os-release", "ID=fedora\n");
    EXPECT_RESULT(check_headers, Level::problem, "there is no",
                  "sudo dnf install kernel-devel-6.1.0-18-amd64");
    std::filesystem::create_symlink("/gone/linux", root + modules + "build");
    EXPECT_RESULT(check_headers, Level::problem, "is /gone/linux, where there are no headers",
                  "sudo dnf install kernel-devel-6.1.0-18-amd64");
    EXPECT_RESULT(check_built, Level::ok, "build/kmod", "");
    system.built.clear();
    EXPECT_RESULT(check_built, Level::problem, "isn't where it was built",
                  "sudo dnf install kernel-devel-6.1.0-18-amd64 && " + install);
}

// No package has the headers of a kernel that somebody built.
TEST_F(Doctor, HeadersOfAKernelOfOnesOwn) {
    const std::string ours = "Linux version 6.1.0-18-amd64 (me@here) (gcc 12.2.0) #1 SMP\n";
    const std::string tree = "    ($HOME/linux: the tree that this kernel was built in)";
    const std::string make = "make KDIR=$HOME/linux && sudo make KDIR=$HOME/linux install" + tree;
    write("/proc/version", ours);
    remove(std::string(modules) + "build");
    EXPECT_RESULT(check_headers, Level::note, "there is no", make);
    unload();
    uninstall();
    EXPECT_RESULT(check_headers, Level::problem, "there is no", make);
    EXPECT_RESULT(check_installed, Level::problem, "no trapline.ko", make);
    remove("/usr/lib/debug");
    EXPECT_EQ(look(check_debug_information).remedy.find("apt"), std::string::npos);
    const std::string dkms = "trapline/" TRAPLINE_VERSION " --kernelsourcedir $HOME/linux";
    write("/usr/src/trapline-" TRAPLINE_VERSION "/dkms.conf", "");
    EXPECT_RESULT(check_installed, Level::problem, "no trapline.ko",
                  "sudo dkms install --force " + dkms + tree);
    const Machine machine(system);
    EXPECT_EQ(remedy::rebuild(machine.installation),
              "sudo dkms build --force " + dkms + " && sudo dkms install --force " + dkms + tree);
    remove("/usr/src");
    write("/sys/module/module/parameters/sig_enforce", "Y\n");
    EXPECT_NE(look(check_signature).remedy.find("\nsudo $HOME/linux/scripts/sign-file sha256 "),
              std::string::npos);
    // Debian says so in its own.
    write("/proc/version", "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc");
    EXPECT_RESULT(check_headers, Level::problem, "there is no",
                  "sudo apt install linux-headers-6.1.0-18-amd64");
}

// A package's user has no Makefile.
TEST_F(Doctor, ThePackageOfTheModuleIsMissing) {
    unload();
    uninstall();
    write("/var/lib/dpkg/info/trapline.list", "");
    const std::string dkms = "sudo apt install ./trapline-dkms_" TRAPLINE_VERSION "_all.deb && "
                             "sudo dkms install --force trapline/" TRAPLINE_VERSION;
    EXPECT_RESULT(check_installed, Level::problem, "no trapline.ko", dkms);
    remove(std::string(modules) + "build");
    EXPECT_RESULT(check_installed, Level::problem, "no trapline.ko",
                  "sudo apt install linux-headers-6.1.0-18-amd64 && " + dkms);
}

TEST(DoctorDistribution, WhatInstallsHeadersAndDebugInformation) {
    const auto headers = [](const char* os, const char* release) {
        return Distribution(os).headers(release);
    };
    const auto headers_of = [](const char* os, const char* version) {
        return !Distribution(os, version).headers("6.1").empty();
    };
    EXPECT_EQ(headers("ID=debian\n", "6.1.0-18-amd64"),
              "sudo apt install linux-headers-6.1.0-18-amd64");
    EXPECT_EQ(headers("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", "6.8.0-31-generic"),
              "sudo apt install linux-headers-6.8.0-31-generic");
    EXPECT_EQ(headers("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", "5.14.0-427.el9.x86_64"),
              "sudo dnf install kernel-devel-5.14.0-427.el9.x86_64");
    EXPECT_EQ(headers("NAME='Arch Linux'\nID=arch\n", "6.9.1-arch1-1"),
              "sudo pacman -S linux-headers");
    EXPECT_EQ(headers("ID=manjaro\nID_LIKE=arch\n", "6.6.30-1-lts"),
              "sudo pacman -S linux-lts-headers");
    EXPECT_EQ(
        headers("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n", "5.14.21-150500.55-default"),
        "sudo zypper install kernel-default-devel");
    EXPECT_EQ(headers("ID=lfs\n", "6.1.5"), "");
    EXPECT_TRUE(
        headers_of("ID=ubuntu", "Linux version 6.8.0-31-generic (buildd@lcy02-amd64-080) "));
    EXPECT_TRUE(headers_of("ID=fedora", "Linux version 6.8.5-301.fc40.x86_64 (mockbuild@0bc0c) "));
    EXPECT_TRUE(headers_of("ID=arch", "Linux version 6.9.1-arch1-1 (linux@archlinux) (gcc "));
    EXPECT_TRUE(headers_of("ID=suse", "Linux version 5.14.21-default (geeko@buildhost) (gcc "));
    EXPECT_FALSE(headers_of("ID=fedora", "Linux version 6.8.5 (me@fedora) (gcc "));
    EXPECT_FALSE(headers_of("ID=debian", "Linux version 6.8.0-31-generic (buildd@lcy02) "));
    EXPECT_EQ(Distribution("").family(), Distribution::Family::other);
    EXPECT_EQ(Distribution("VERSION_ID=debian\nIDX=arch\n").family(), Distribution::Family::other);

    const auto debug = [](const char* os) { return Distribution(os).debug_information("6.1"); };
    EXPECT_EQ(debug("ID=debian"), "sudo apt install linux-image-6.1-dbg");
    EXPECT_EQ(debug("ID=ubuntu"), "sudo apt install linux-image-6.1-dbgsym");
    EXPECT_EQ(debug("ID=fedora"), "sudo dnf debuginfo-install kernel-6.1");
    EXPECT_EQ(debug("ID=opensuse-leap"), "sudo zypper install kernel-default-debuginfo");
    EXPECT_NE(debug("ID=arch").find("CONFIG_DEBUG_INFO"), std::string::npos);

    const auto package = [](const char* os) { return Distribution(os).package("a", "b", "c"); };
    EXPECT_EQ(package("ID=debian"), "sudo apt install a");
    EXPECT_EQ(package("ID=fedora"), "sudo dnf install b");
    EXPECT_EQ(package("ID=suse"), "sudo zypper install b");
    EXPECT_EQ(package("ID=arch"), "sudo pacman -S c");
    EXPECT_EQ(package(""), "install a");
}

TEST_F(Doctor, Built) {
    EXPECT_RESULT(check_built, Level::ok, "/src/build/kmod/6.1.0-18-amd64/trapline.ko", "");
    remove("/src");
    EXPECT_RESULT(check_built, Level::ok, "one is loaded", "");
    unload();
    EXPECT_RESULT(check_built, Level::ok, "one is installed", "");
    uninstall();
    EXPECT_RESULT(check_built, Level::problem,
                  "there is no /src/build/kmod/6.1.0-18-amd64/trapline.ko", install);
    system.built = "";
    EXPECT_RESULT(check_built, Level::problem, "isn't where it was built", install);
}

TEST_F(Doctor, Installed) {
    EXPECT_RESULT(check_installed, Level::ok, ko, "");
    unload();
    EXPECT_RESULT(check_installed, Level::ok, ko, "");
    write(std::string(modules) + "modules.dep", "kernel/fs/ext4/ext4.ko:\n");
    EXPECT_RESULT(check_installed, Level::problem, "modprobe doesn't know of it",
                  "sudo depmod 6.1.0-18-amd64");
    write(std::string(modules) + "modules.dep", "updates/trapline.ko.xz:\n");
    EXPECT_RESULT(check_installed, Level::problem, "updates/trapline.ko.xz, which is gone",
                  install);
    uninstall();
    EXPECT_RESULT(check_installed, Level::problem,
                  "no trapline.ko for the running kernel 6.1.0-18-amd64", install);
    // What the commands suggest when they can't load it.
    EXPECT_EQ(
        look(check_installed).remedy,
        explain_modprobe({.words = "modprobe: FATAL: Module trapline not found in directory /lib",
                          .at = {.release = "6.1.0-18-amd64"},
                          .lockdown = {}})
            .hint());
}

TEST_F(Doctor, NotInstalledButLoaded) {
    uninstall();
    EXPECT_RESULT(check_installed, Level::note, "gone after a reboot", install);
}

TEST_F(Doctor, Vermagic) {
    unload();
    EXPECT_RESULT(check_vermagic, Level::ok, "6.1.0-18-amd64 SMP preempt", "");

    system.modinfos[ko] = our_modinfo("vermagic: 6.1.0-18-amd64 SMP mod_unload modversions \n");
    EXPECT_RESULT(check_vermagic, Level::problem,
                  "'6.1.0-18-amd64 SMP mod_unload modversions', the running kernel wants "
                  "'6.1.0-18-amd64 SMP preempt",
                  rebuild);

    system.modinfos[ko] =
        our_modinfo("vermagic: 6.1.0-17-amd64 SMP preempt mod_unload modversions \n");
    EXPECT_RESULT(check_vermagic, Level::note, "built for 6.1.0-17-amd64, and may not fit",
                  rebuild);

    const std::string plain = "SMP preempt mod_unload \n";
    system.modinfos[ko] = our_modinfo("vermagic: 6.1.0-17-amd64 " + plain);
    system.modinfos[std::string(modules) + "kernel/fs/ext4/ext4.ko"] =
        "vermagic: 6.1.0-18-amd64 " + plain;
    EXPECT_RESULT(check_vermagic, Level::problem, "built for 6.1.0-17-amd64, not for", rebuild);

    system.modinfos.erase(ko);
    EXPECT_EQ(look(check_vermagic).level, Level::problem);
    uninstall();
    EXPECT_RESULT(check_vermagic, Level::unknown, "there is no file of this kernel's", "");
}

// The log's clock and the file's have nothing to do with one another: a machine may have slept, or
// its date been changed. What counts is whether it is true of the file.
TEST_F(Doctor, WhatTheKernelSaidOfItCountsForMore) {
    unload();
    const auto log = [&](const char* words) {
        system.log = fmt::format("<6>[    1.000000] Linux\n<3>[    2.000000] {}\n<6>[ 3000.000000] "
                                 "other: version magic\n",
                                 words);
    };
    write(ko, debug_elf(".strtab", "", std::string("\0register_kprobe\0", 17)));
    log("trapline: version magic '6.1.0-18-amd64 SMP preempt mod_unload modversions ' should be "
        "'6.1.0-18-amd64 SMP mod_unload modversions '");
    EXPECT_RESULT(check_vermagic, Level::problem,
                  "the kernel refused it: trapline: version magic '6.1.0-18-amd64 SMP preempt",
                  rebuild);
    log("trapline: Unknown symbol register_kprobe (err -2)");
    EXPECT_EQ(look(check_vermagic).level, Level::ok); // it is there now
    write("/proc/kallsyms", "ffffffff81000000 T _text\n");
    EXPECT_RESULT(check_vermagic, Level::problem, "Unknown symbol register_kprobe",
                  "boot a kernel with CONFIG_KPROBES=y; sudo dmesg | grep trapline names the "
                  "function");
    // What is there, but not for modules.
    write("/proc/kallsyms", "ffffffff81000000 T register_kprobe\nffffffff81000000 r "
                            "__ksymtab_other\n");
    EXPECT_EQ(look(check_vermagic).level, Level::problem);
    log("trapline: loading out-of-tree module taints kernel.");
    EXPECT_EQ(look(check_vermagic).level, Level::ok);
}

TEST_F(Doctor, WhatTheKernelSaidOfAnotherFileDoesNot) {
    unload();
    write("/proc/kallsyms", "ffffffff81000000 T _text\n");
    write(ko, debug_elf(".strtab", "", std::string("\0printk\0", 8)));
    system.log = "<3>[ 2000.000000] trapline: version magic '6.1.0 SMP ' should be "
                 "'6.1.0-18-amd64 SMP preempt '\n";
    EXPECT_EQ(look(check_vermagic).level, Level::ok);
    system.log = "<3>[ 2000.000000] trapline: Unknown symbol register_kprobe (err -2)\n";
    EXPECT_EQ(look(check_vermagic).level, Level::ok);
}

// Which file it was, nothing tells.
TEST_F(Doctor, WhatTheKernelSaidOfItOrOfAnother) {
    unload();
    system.log = "<3>[ 2000.000000] trapline: disagrees about version of symbol module_layout\n";
    EXPECT_RESULT(check_vermagic, Level::unknown,
                  "the kernel refused this file, or one before it: trapline: disagrees about "
                  "version of symbol module_layout",
                  rebuild);
    write("/proc/kallsyms", "ffffffff81000000 T _text\n"); // and the file is compressed
    system.log = "<3>[ 2000.000000] trapline: Unknown symbol register_kprobe (err -2)\n";
    EXPECT_EQ(look(check_vermagic).level, Level::unknown);
}

TEST_F(Doctor, RefusedOnceAndLoadedSince) {
    system.log = "<3>[ 2000.000000] trapline: disagrees about version of symbol module_layout\n";
    EXPECT_EQ(look(check_vermagic).level, Level::ok);
}

// A static tool with the module beside it: there is no modprobe, or it knows of none.
TEST_F(Doctor, TheModuleBesideTheTool) {
    unload();
    uninstall();
    remove("/src");
    remove(std::string(modules) + "modules.dep");
    const std::string file = "/bin/trapline.ko";
    const std::string copy = "make kmod KDIR=/lib/modules/6.1.0-18-amd64/build && sudo install -m "
                             "644 build/kmod/6.1.0-18-amd64/trapline.ko /bin/trapline.ko";
    system.beside = file;
    system.modprobe = false;
    system.modinfos[file] = our_modinfo(vermagic);
    EXPECT_RESULT(check_built, Level::ok, "there is /bin/trapline.ko", "");
    EXPECT_RESULT(check_installed, Level::ok, "/bin/trapline.ko, which is loaded where", "");
    EXPECT_RESULT(check_vermagic, Level::ok, "6.1.0-18-amd64 SMP preempt", "");
    EXPECT_RESULT(check_loaded, Level::note, "first trace loads it",
                  "sudo insmod /bin/trapline.ko");
    EXPECT_RESULT(check_abi_match, Level::ok, "as /bin/trapline.ko", "");
    EXPECT_FALSE(prevents_tracing(examine(Machine(system))));

    remove(std::string(modules) + "build");
    EXPECT_EQ(look(check_headers).level, Level::note);
    system.modinfos[file] = our_modinfo("vermagic: 6.1.0-17-amd64 SMP preempt mod_unload \n");
    EXPECT_RESULT(check_vermagic, Level::problem, "built for 6.1.0-17-amd64",
                  "make clean && sudo apt install linux-headers-6.1.0-18-amd64 && " + copy);
    system.modinfos[file] = "trapline_abi: 77\n";
    EXPECT_RESULT(check_abi_match, Level::problem, "/bin/trapline.ko ABI 77",
                  "make clean && sudo apt install linux-headers-6.1.0-18-amd64 && " + copy);
    write("/sys/module/module/parameters/sig_enforce", "Y\n");
    system.modinfos[file] = our_modinfo(vermagic);
    EXPECT_RESULT(check_signature, Level::problem, "the module has none",
                  remedy::sign({.release = "6.1.0-18-amd64", .file = file, .by_file = true}));
    EXPECT_NE(look(check_signature).remedy.find("MOK.priv MOK.der /bin/trapline.ko\n"),
              std::string::npos);
    // We can read no more of a signature than that it is there.
    system.modinfos[file] = our_modinfo(std::string(vermagic) + "sig_id: PKCS#7\n");
    EXPECT_RESULT(check_signature, Level::unknown, "no modinfo to tell whose",
                  "sudo insmod /bin/trapline.ko");
}

// Where modprobe finds one, that is loaded, whatever lies beside the tool; without modprobe it
// isn't.
TEST_F(Doctor, ModprobesModuleComesFirst) {
    unload();
    system.beside = "/bin/trapline.ko";
    EXPECT_RESULT(check_installed, Level::ok, ko, "");
    EXPECT_RESULT(check_loaded, Level::note, "not yet", "sudo modprobe trapline");
    system.modprobe = false;
    EXPECT_RESULT(check_installed, Level::ok, "/bin/trapline.ko", "");
    system.beside.clear();
    EXPECT_RESULT(check_loaded, Level::problem, "none that could be", "");
}

// The commands load it all the same, without modprobe.
TEST_F(Doctor, InstalledWhereModprobeDoesNotKnowOfIt) {
    unload();
    write(std::string(modules) + "modules.dep", "kernel/fs/ext4/ext4.ko:\n");
    system.beside = ko;
    EXPECT_RESULT(check_installed, Level::note, "modprobe doesn't know of it",
                  "sudo depmod 6.1.0-18-amd64");
    EXPECT_RESULT(check_loaded, Level::note, "not yet", std::string("sudo insmod ") + ko);
    system.modinfos[ko] = "trapline_abi: 77\n";
    EXPECT_RESULT(check_abi_match, Level::problem, "ABI 77", rebuild);
}

TEST_F(Doctor, WhatModinfoWouldSay) {
    const std::string path = root + "/some.ko";
    const std::string texts("vermagic=6.1 SMP \0trapline_abi=3\0\0description=a=b\0", 49);
    write("/some.ko", debug_elf(".modinfo", "", texts));
    EXPECT_EQ(modinfo_of_file(path), "vermagic: 6.1 SMP \ntrapline_abi: 3\ndescription: a=b\n");
    write("/some.ko", debug_elf(".modinfo", "", texts) + "~Module signature appended~\n");
    EXPECT_EQ(Modinfo(modinfo_of_file(path)).value("sig_id"), "PKCS#7");
    write("/some.ko", "~Module signature appended~\n");
    EXPECT_EQ(modinfo_of_file(path), "");
    EXPECT_EQ(modinfo_of_file(root + "/none"), "");
}

TEST_F(Doctor, AFileThatIsNoModule) {
    unload();
    system.modinfos.erase(ko);
    EXPECT_RESULT(check_vermagic, Level::problem, "updates/trapline.ko is no module, or not all",
                  rebuild);
    EXPECT_RESULT(check_abi_match, Level::unknown, "updates/trapline.ko can't be read", "");
    EXPECT_RESULT(check_loaded, Level::note, "what is said above would prevent it", "");
    system.refused[ko] = EACCES;
    system.euid = 1000;
    EXPECT_RESULT(check_vermagic, Level::unknown, "only root may read", "sudo trapline doctor");
    system.euid = 0;
    system.refused.clear();
    remove(ko);
    write(std::string(ko) + ".xz", "");
    write(std::string(modules) + "modules.dep", "updates/trapline.ko.xz:\n");
    EXPECT_RESULT(check_vermagic, Level::unknown, "modinfo can't read",
                  std::string("modinfo ") + ko + ".xz");
}

TEST_F(Doctor, TheNodeIsAnothersDevice) {
    system.node = 62;
    EXPECT_RESULT(check_loaded, Level::problem, "/dev/trapline is not its device",
                  "sudo rm -r /dev/trapline && sudo mknod -m 600 /dev/trapline c 10 61");
}

TEST_F(Doctor, ModprobeIsToldToDoSomethingElse) {
    write("/etc/modprobe.d/local.conf", "# install trapline no\ninstall ext4 /bin/false\n");
    unload();
    EXPECT_RESULT(check_installed, Level::ok, ko, "");
    write("/etc/modprobe.d/site.conf", " install\ttrapline /bin/false\n");
    EXPECT_EQ(look(check_installed).level, Level::problem);
    EXPECT_NE(look(check_installed).found.find("/etc/modprobe.d/site.conf:  install\ttrapline"),
              std::string::npos);
}

TEST_F(Doctor, WithoutProc) {
    unload();
    remove("/proc");
    EXPECT_RESULT(check_loadable_modules, Level::problem, "/proc is not mounted",
                  "sudo mount -t proc proc /proc");
}

TEST(Remedy, PathsAreQuoted) {
    EXPECT_EQ(remedy::quoted("/a/b-1.2+3_x.ko"), "/a/b-1.2+3_x.ko");
    EXPECT_EQ(remedy::quoted("/a b/it's.ko"), "'/a b/it'\\''s.ko'");
    Installation at;
    at.release = "6.1";
    at.file = "/a b/trapline.ko";
    at.by_file = true;
    EXPECT_EQ(remedy::load(at), "sudo insmod '/a b/trapline.ko'");
    EXPECT_NE(remedy::install(at).find("build/kmod/6.1/trapline.ko '/a b/trapline.ko'"),
              std::string::npos);
}

// What `make install` puts there DKMS wouldn't know of.
TEST_F(Doctor, RemediesWhereDkmsManagesIt) {
    unload();
    uninstall();
    const std::string version = TRAPLINE_VERSION;
    const std::string dkms = "sudo dkms install --force trapline/" + version;
    const std::string again = "sudo dkms build --force trapline/" + version + " && " + dkms;
    write("/usr/src/trapline-" + version + "/dkms.conf", "");
    EXPECT_RESULT(check_installed, Level::problem, "no trapline.ko", dkms);
    EXPECT_EQ(explain_modprobe({.words = "Module trapline not found in directory /x",
                                .at = find_installation("6.1.0-18-amd64", root),
                                .lockdown = {}})
                  .hint(),
              dkms);
    const std::string file = std::string(modules) + "updates/dkms/trapline.ko.xz";
    write(file, "");
    write(std::string(modules) + "modules.dep", "updates/dkms/trapline.ko.xz:\n");
    system.modinfos[file] = our_modinfo("vermagic: 6.1.0-17-amd64 SMP preempt mod_unload \n");
    EXPECT_RESULT(check_vermagic, Level::problem, "built for 6.1.0-17-amd64", again);
    write("/sys/module/module/parameters/sig_enforce", "Y\n");
    const auto sign = [&] { return look(check_signature).remedy; };
    EXPECT_NE(sign().find("\nsudo mokutil --import /var/lib/dkms/mok.pub\n"), std::string::npos);
    EXPECT_NE(sign().find("\n" + again + "\n"), std::string::npos);
    EXPECT_EQ(sign().find("sign-file"), std::string::npos);
    write("/var/lib/shim-signed/mok/MOK.der", "");
    EXPECT_NE(sign().find("--import /var/lib/shim-signed/mok/MOK.der\n"), std::string::npos);
    write("/var/lib/dkms/mok.pub", "");
    EXPECT_NE(sign().find("--import /var/lib/dkms/mok.pub\n"), std::string::npos);
    // Of an older version that DKMS knows this tool can have no use.
    remove("/usr/src");
    write("/var/lib/dkms/trapline/0.0.9/source/dkms.conf", "");
    EXPECT_RESULT(check_vermagic, Level::problem, "built for",
                  "sudo make install-dkms && " + again);
    // A file beside the tool isn't DKMS's.
    system.modprobe = false;
    system.beside = "/bin/trapline.ko";
    system.modinfos["/bin/trapline.ko"] = "trapline_abi: 77\n";
    EXPECT_EQ(look(check_abi_match).remedy.find("dkms"), std::string::npos);
}

TEST(Remedy, ACompressedModuleIsUnpackedToBeSigned) {
    const auto sign = [](const char* suffix) {
        return remedy::sign({.release = "6.1", .file = std::string("/lib/m/trapline.ko") + suffix});
    };
    const std::string by = "sudo /lib/modules/6.1/build/scripts/sign-file sha256 MOK.priv MOK.der "
                           "/lib/m/trapline.ko\n";
    EXPECT_NE(sign(".xz").find("\nsudo unxz /lib/m/trapline.ko.xz\n" + by + "sudo depmod 6.1\n"),
              std::string::npos);
    EXPECT_NE(sign(".gz").find("\nsudo gunzip /lib/m/trapline.ko.gz\n" + by + "sudo depmod 6.1\n"),
              std::string::npos);
    EXPECT_NE(
        sign(".zst").find("\nsudo unzstd --rm /lib/m/trapline.ko.zst\n" + by + "sudo depmod 6.1\n"),
        std::string::npos);
    EXPECT_NE(sign("").find("MOK.der\n" + by + "or turn"), std::string::npos);
}

TEST_F(Doctor, Signature) {
    EXPECT_RESULT(check_signature, Level::ok, "demands none", "");
    write("/sys/module/module/parameters/sig_enforce", "Y\n");
    EXPECT_RESULT(check_signature, Level::ok, "module.sig_enforce demands one, and the module is",
                  "");
    unload();
    const std::string sign = remedy::sign({.release = "6.1.0-18-amd64", .file = ko});
    EXPECT_RESULT(check_signature, Level::problem,
                  "module.sig_enforce demands one, and the module has none", sign);
    // What the commands suggest when it is refused.
    EXPECT_EQ(sign, explain_modprobe({.words = "Required key not available",
                                      .at = {.release = "6.1.0-18-amd64", .file = ko},
                                      .lockdown = {}})
                        .hint());
    for (const char* part :
         {"\nopenssl req -new -x509 ", "\nsudo mokutil --import MOK.der\n", "(mokutil --sb-state",
          "\nsudo /lib/modules/6.1.0-18-amd64/build/scripts/sign-file sha256 MOK.priv MOK.der "
          "/lib/modules/6.1.0-18-amd64/updates/trapline.ko\n"})
        EXPECT_NE(sign.find(part), std::string::npos) << part;

    system.modinfos[ko] = our_modinfo(std::string(vermagic) + "signer:         Somebody\n");
    EXPECT_RESULT(check_signature, Level::unknown, "no keys to look for Somebody's in", "");
    system.euid = 1000;
    EXPECT_RESULT(check_signature, Level::unknown, "no keys", "sudo trapline doctor");
    system.euid = 0;
    const std::string key = "04ae5acb I------     1 perm 1f030000     0     0 asymmetri ";
    write("/proc/keys", key + "Debian: Debian Secure Boot CA: 6ccece: X509.rsa bb419ea1 []\n");
    EXPECT_RESULT(check_signature, Level::problem, "no key of Somebody, who signed", sign);
    write("/proc/keys", key + "Somebody: 6ccece: X509.rsa bb419ea1 []\n");
    EXPECT_RESULT(check_signature, Level::note, "loading it will show", "sudo modprobe trapline");
    system.modinfos.erase(ko);
    EXPECT_RESULT(check_signature, Level::unknown, "modinfo can't read",
                  std::string("modinfo ") + ko);
    uninstall();
    EXPECT_RESULT(check_signature, Level::note, "will demand one",
                  remedy::sign({.release = "6.1.0-18-amd64"}));
    EXPECT_NE(look(check_signature).remedy.find("MOK.der \"$(/sbin/modinfo -n trapline)\"\n"),
              std::string::npos);
}

TEST_F(Doctor, WhatDemandsASignatureCannotBeSeen) {
    write("/proc/mounts", "");
    remove("/sys/kernel/security");
    EXPECT_RESULT(check_signature, Level::ok, "demands none", ""); // it is loaded
    unload();
    EXPECT_RESULT(check_signature, Level::ok, "demands none", ""); // the kernel has no lockdown
    write("/boot/config-6.1.0-18-amd64", "CONFIG_SECURITY_LOCKDOWN_LSM=y\n");
    EXPECT_RESULT(check_signature, Level::unknown, "securityfs is not mounted",
                  "sudo mount -t securityfs securityfs /sys/kernel/security");
    remove("/sys/module");
    EXPECT_RESULT(check_signature, Level::unknown, "sysfs is not mounted",
                  "sudo mount -t sysfs sysfs /sys");
}

TEST_F(Doctor, SignatureUnderLockdown) {
    unload();
    write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_RESULT(check_signature, Level::problem, "lockdown (integrity) demands one",
                  remedy::sign({.release = "6.1.0-18-amd64", .file = ko}));
    write("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
          std::string("\6\0\0\0\1", 5));
    EXPECT_RESULT(check_signature, Level::problem, "for Secure Boot is on,",
                  remedy::sign({.release = "6.1.0-18-amd64", .file = ko}));
}

TEST_F(Doctor, Loaded) {
    EXPECT_RESULT(check_loaded, Level::ok, "version 0.1.0", "");
    remove("/dev/trapline");
    EXPECT_RESULT(check_loaded, Level::problem, "/dev/trapline is not there",
                  "sudo mknod -m 600 /dev/trapline c 10 61");
    unload();
    EXPECT_RESULT(check_loaded, Level::note, "first trace loads it", "sudo modprobe trapline");
    uninstall();
    EXPECT_RESULT(check_loaded, Level::problem, "none that could be", "");
}

TEST_F(Doctor, AbiOfTheLoadedModule) {
    EXPECT_RESULT(check_abi_match, Level::ok, std::to_string(TRAPLINE_ABI), "");
    system.device.abi = TRAPLINE_ABI + 1;
    const std::string both = fmt::format("this tool speaks ABI {}, the loaded module ABI {}",
                                         TRAPLINE_ABI, TRAPLINE_ABI + 1);
    EXPECT_RESULT(check_abi_match, Level::problem, both, reload);
    // The file on the disk is no better.
    system.modinfos[ko] = fmt::format("trapline_abi: {}\n", TRAPLINE_ABI + 1);
    EXPECT_RESULT(check_abi_match, Level::problem, both, rebuild + " && " + reload);
    system.device = {0, {}, "cannot find the netlink family"};
    EXPECT_RESULT(check_abi_match, Level::unknown, "cannot find the netlink family", "");
    system.device = {EACCES, {}, {}};
    system.euid = 1000;
    EXPECT_RESULT(check_abi_match, Level::unknown, "Permission denied", "sudo trapline doctor");
}

TEST_F(Doctor, AbiOfTheInstalledModule) {
    unload();
    EXPECT_RESULT(check_abi_match, Level::ok, "as the module that is installed", "");
    system.modinfos[ko] = "trapline_abi: 77\n";
    EXPECT_RESULT(check_abi_match, Level::problem, "installed ABI 77", rebuild);
    system.modinfos[ko] = vermagic;
    EXPECT_RESULT(check_abi_match, Level::problem, "older than this tool", rebuild);
    uninstall();
    EXPECT_RESULT(check_abi_match, Level::unknown, "no file of this kernel's", "");
}

TEST(DoctorModinfo, ValuesThatGoOnInTheNextLine) {
    const Modinfo info("signer:         A: B\nsignature:      58:ED:\n\t\t01:B2:\n"
                       "signer:         C\ndepends:        \n");
    EXPECT_EQ(info.value("signer"), "A: B");
    EXPECT_EQ(info.value("signature"), "58:ED:");
    EXPECT_EQ(info.value("depends"), "");
    EXPECT_EQ(info.value("01"), "");
    EXPECT_TRUE(info.known());
    EXPECT_FALSE(Modinfo("").known());
}

} // namespace
} // namespace trapline
