// SPDX-License-Identifier: GPL-2.0
// The doctor about the kernel and itself: every state of every check.
#include <algorithm>

#include "control/session.h"
#include "doctor/build_features.h"
#include "doctor_fixture.h"
#include "util/elf_file.h"
#include "util/run_program.h"

namespace trapline {
namespace {

const std::string ask_as_root = "sudo trapline doctor";
const std::string with_kprobes =
    "boot a kernel with CONFIG_KPROBES=y; in its tree:\n"
    "scripts/config -e MODULES -e KPROBES && make olddefconfig && make";
const std::string mount_debugfs = "sudo mount -t debugfs debugfs /sys/kernel/debug";

TEST_F(Doctor, Kprobes) {
    EXPECT_RESULT(check_kprobes, Level::ok, "CONFIG_KPROBES=y (/boot/config-6.1.0-18-amd64)", "");
    remove("/boot");
    EXPECT_RESULT(check_kprobes, Level::ok, "CONFIG_KPROBES=y (/proc/kallsyms has register_kprobe)",
                  "");
    write("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T my_register_kprobe\n");
    EXPECT_RESULT(check_kprobes, Level::problem, "CONFIG_KPROBES is not set (/proc/kallsyms",
                  with_kprobes);
    write("/boot/config-6.1.0-18-amd64", "CONFIG_MODULES=y\n# CONFIG_KPROBES is not set\n");
    EXPECT_RESULT(check_kprobes, Level::problem, "CONFIG_KPROBES is not set (/boot/config",
                  with_kprobes);
    remove("/proc/kallsyms");
    EXPECT_RESULT(check_kprobes, Level::problem, "CONFIG_KPROBES is not set (/boot/config",
                  with_kprobes);
    write("/boot/config-6.1.0-18-amd64", "CONFIG_KPROBES=y\n");
    EXPECT_RESULT(check_kprobes, Level::ok, "CONFIG_KPROBES=y", "");
    remove("/boot");
    EXPECT_RESULT(check_kprobes, Level::unknown, "CONFIG_KPROBES",
                  "sudo modprobe configs && zgrep CONFIG_KPROBES= /proc/config.gz");
}

TEST_F(Doctor, ConfigurationFromWhereverItIs) {
    const auto config = [&] { return KernelConfig(system, system.running); };
    remove("/boot");
    EXPECT_FALSE(config().known());
    EXPECT_EQ(config().value("KPROBES"), "");
    write(std::string(modules) + "build/include/config/auto.conf", "CONFIG_A=y\n");
    EXPECT_EQ(config().words("A"),
              "CONFIG_A=y (" + std::string(modules) + "build/include/config/auto.conf)");
    write(std::string(modules) + "build/.config", "CONFIG_A=m\n");
    EXPECT_EQ(config().value("A"), "m");
    write(std::string(modules) + "config", "#\nCONFIG_AB=y\nCONFIG_A=1");
    EXPECT_EQ(config().value("A"), "1");
    EXPECT_EQ(config().value("AB"), "y");
    EXPECT_EQ(config().value("B"), "");
    write("/boot/config-" + system.running, "CONFIG_A=2\nXCONFIG_B=y\n");
    EXPECT_EQ(config().value("A"), "2");
    EXPECT_EQ(config().words("B"), "CONFIG_B is not set (/boot/config-6.1.0-18-amd64)");
    write("/proc/config", "CONFIG_A=3\n");
    write("/proc/config.gz",
          run_program({"gzip", "-c", root + "/proc/config"}, Heard::output).text);
    EXPECT_EQ(config().words("A"), "CONFIG_A=3 (/proc/config.gz)");
    write("/proc/config.gz", "no gzip");
    EXPECT_EQ(config().value("A"), "2");
}

TEST_F(Doctor, KprobesEnabled) {
    EXPECT_RESULT(check_kprobes_enabled, Level::ok, "switched on", "");
    write("/sys/kernel/debug/kprobes/enabled", "0\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::problem, "kprobes are switched off",
                  "echo 1 | sudo tee /sys/kernel/debug/kprobes/enabled");
    write("/proc/sys/kernel/ftrace_enabled", "0\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::problem, "ftrace is switched off",
                  "sudo sysctl kernel.ftrace_enabled=1");
    remove("/proc/sys/kernel/ftrace_enabled"); // a kernel without ftrace
    remove("/sys/kernel/debug/kprobes");
    EXPECT_RESULT(check_kprobes_enabled, Level::unknown, "No such file", "");
    write("/proc/filesystems", "nodev\tsysfs\nnodev\tdebugfs\n\text4\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::unknown, "No such file", "");
    write("/proc/filesystems", "nodev\tsysfs\n\text4\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::ok, "nobody can switch them off", "");
    remove("/proc/filesystems");
    write("/proc/mounts", "debugfs /debug debugfs rw 0 0\ntmpfs /sys/kernel/debug tmpfs rw 0 0\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::unknown, "debugfs is not mounted", mount_debugfs);
    system.refused["/sys/kernel/debug/kprobes/enabled"] = EPERM;
    write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_RESULT(check_kprobes_enabled, Level::unknown, "lockdown (integrity) hides", "");
    system.refused["/sys/kernel/debug/kprobes/enabled"] = EACCES;
    system.euid = 1000;
    EXPECT_RESULT(check_kprobes_enabled, Level::unknown, "Permission denied", ask_as_root);
}

TEST_F(Doctor, Lockdown) {
    EXPECT_RESULT(check_lockdown, Level::ok, "none", "");
    write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_RESULT(check_lockdown, Level::ok, "mode integrity allows kprobes", "");
    const std::string confidential = "none integrity [confidentiality]\n";
    write("/sys/kernel/security/lockdown", confidential);
    EXPECT_RESULT(check_lockdown, Level::problem, "confidentiality forbids kprobes",
                  explain_open(EPERM, 0, confidential).hint());
    remove("/sys/kernel/security/lockdown");
    EXPECT_RESULT(check_lockdown, Level::ok, "has no lockdown", "");
    write("/proc/mounts", "");
    EXPECT_RESULT(check_lockdown, Level::ok, "has no lockdown", ""); // by its configuration
    const std::string config = "/boot/config-6.1.0-18-amd64";
    const std::string mount = "sudo mount -t securityfs securityfs /sys/kernel/security";
    write(config, "CONFIG_MODULES=y\nCONFIG_SECURITY_LOCKDOWN_LSM=y\n");
    EXPECT_RESULT(check_lockdown, Level::unknown, "securityfs is not mounted", mount);
    remove(config);
    EXPECT_RESULT(check_lockdown, Level::ok, "has no lockdown", ""); // by its symbols
    write("/proc/kallsyms", "ffffffff81000000 T _text\n"
                            "ffffffff81100000 t lockdown_is_locked_down\n");
    EXPECT_RESULT(check_lockdown, Level::unknown, "securityfs is not mounted", mount);
    write("/proc/filesystems", "nodev\tsysfs\n");
    EXPECT_RESULT(check_lockdown, Level::unknown, "this kernel has no securityfs", "");
}

TEST_F(Doctor, Kallsyms) {
    EXPECT_RESULT(check_kallsyms, Level::ok, "2 symbols, with addresses", "");
    write("/proc/kallsyms", "0000000000000000 T _text\n");
    EXPECT_RESULT(check_kallsyms, Level::note, "hidden even from this root",
                  "it lacks CAP_SYSLOG: in a container? run trapline on the host, or give the "
                  "container --privileged");
    system.euid = 1000;
    EXPECT_RESULT(check_kallsyms, Level::unknown, "to root only", ask_as_root);
    write("/proc/sys/kernel/kptr_restrict", "2\n");
    EXPECT_RESULT(check_kallsyms, Level::note, "kernel.kptr_restrict=2 hides addresses",
                  "sudo sysctl kernel.kptr_restrict=1");
    remove("/proc/kallsyms");
    EXPECT_EQ(look(check_kallsyms).level, Level::problem);
    write("/proc/kallsyms", "");
    EXPECT_RESULT(check_kallsyms, Level::problem, "holds no symbols",
                  "give the kernel CONFIG_KALLSYMS=y; a System.map of this kernel does as well");
}

TEST_F(Doctor, Blacklist) {
    const std::string path = "/sys/kernel/debug/kprobes/blacklist";
    EXPECT_RESULT(check_blacklist, Level::ok, path, "");
    write(path, "");
    EXPECT_RESULT(check_blacklist, Level::note, "is empty", "");
    remove(path);
    EXPECT_RESULT(check_blacklist, Level::note, "No such file", "");
    write("/proc/filesystems", "nodev\tsysfs\n");
    EXPECT_RESULT(check_blacklist, Level::note, "this kernel has no debugfs", "");
    remove("/proc/filesystems");
    write("/proc/mounts", "");
    EXPECT_RESULT(check_blacklist, Level::note, "debugfs is not mounted", mount_debugfs);
    system.refused[path] = EACCES;
    system.euid = 1000;
    EXPECT_RESULT(check_blacklist, Level::unknown, "Permission denied", ask_as_root);
}

TEST_F(Doctor, Btf) {
    EXPECT_RESULT(check_btf, Level::ok, "/sys/kernel/btf/vmlinux", "");
    remove("/sys/kernel/btf");
    EXPECT_RESULT(check_btf, Level::note, "raw numbers",
                  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

TEST_F(Doctor, DebugInformation) {
    const std::string debian = "/usr/lib/debug/boot/vmlinux-6.1.0-18-amd64";
    const std::string package = "sudo apt install linux-image-6.1.0-18-amd64-dbg";
    EXPECT_RESULT(check_debug_information, Level::ok, debian, "");
    write("/sys/kernel/notes", build_id_note("that"));
    EXPECT_RESULT(check_debug_information, Level::note, debian + " is of another build", package);
    remove("/sys/kernel/notes"); // a kernel that doesn't tell
    EXPECT_EQ(look(check_debug_information).level, Level::ok);
    remove("/usr");
    EXPECT_RESULT(check_debug_information, Level::note, "there is none of this kernel", package);
    const std::string own = std::string(modules) + "build/vmlinux";
    write(own, debug_elf(".text", build_id_note("this")));
    EXPECT_EQ(look(check_debug_information).level, Level::note);
    write(own, debug_elf(".debug_info", build_id_note("this")));
    EXPECT_RESULT(check_debug_information, Level::ok, own, "");
}

TEST_F(Doctor, ElfFilesThatAreNone) {
    const std::string whole = debug_elf(".debug_info", build_id_note("this"));
    for (std::size_t size = 0; size < whole.size(); size++) {
        write("/vmlinux", whole.substr(0, size));
        EXPECT_FALSE(ElfFile(root + "/vmlinux").has(".debug_info")) << size;
    }
    write("/vmlinux", whole);
    EXPECT_TRUE(ElfFile(root + "/vmlinux").has(".debug_info"));
    EXPECT_FALSE(ElfFile(root + "/vmlinux").has(".debug"));
    EXPECT_FALSE(ElfFile(root + "/nowhere").has(".notes"));
}

TEST(DoctorNotes, BuildIdAmongOthers) {
    const Elf64_Nhdr header{6, 5, 1}; // padded to 8 each
    const std::string other = std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
                              std::string("Linux\0\0\0", 8) + std::string("12345\0\0\0", 8);
    EXPECT_EQ(build_id(other + build_id_note("0123")), "0123");
    EXPECT_EQ(build_id(other), "");
    EXPECT_EQ(build_id(""), "");
    EXPECT_EQ(build_id(build_id_note("0123").substr(0, 19)), "");
}

TEST_F(Doctor, Permissions) {
    EXPECT_RESULT(check_permissions, Level::ok, "can be opened", "");
    system.device = {EACCES, {}, {}};
    EXPECT_RESULT(check_permissions, Level::ok, "root", "");
    write("/proc/self/status", "CapInh:\t0\nCapEff:\t00000000a80425fb\n"); // a container's
    EXPECT_RESULT(check_permissions, Level::problem, "without CAP_PERFMON",
                  explain_open(EPERM, 0, "").hint());
    write("/proc/self/status", "Name:\tx\nCapEff:\t0000004000000000\n"); // CAP_PERFMON alone
    EXPECT_RESULT(check_permissions, Level::ok, "root", "");
    unload();
    EXPECT_RESULT(check_permissions, Level::problem, "without CAP_SYS_MODULE",
                  "in a container? load it on the host: sudo modprobe trapline");
    write("/proc/self/status", "Name:\tx\nCapEff:\t0000000000210000\n"); // ADMIN and MODULE
    EXPECT_RESULT(check_permissions, Level::ok, "root", "");
    system.euid = 1000;
    EXPECT_RESULT(check_permissions, Level::problem, "only root", ask_as_root);
    system.device = {0, TRAPLINE_ABI, {}}; // the node's mode was changed
    write("/proc/misc", " 61 trapline\n");
    EXPECT_RESULT(check_permissions, Level::ok, "can be opened", "");
}

TEST_F(Doctor, ThisBuild) {
    const Result result = look(check_build);
    bool lacks = false;
    for (const BuildFeature& feature : build_features()) {
        EXPECT_EQ(result.found.find(feature.library) == std::string::npos, feature.compiled_in);
        EXPECT_EQ(result.remedy.find(feature.debian) == std::string::npos, feature.compiled_in);
        lacks = lacks || !feature.compiled_in;
    }
    EXPECT_EQ(result.level, lacks ? Level::note : Level::ok);
    EXPECT_EQ(result.remedy.empty(), !lacks);
    EXPECT_FALSE(build_features().empty());
}

} // namespace
} // namespace trapline
