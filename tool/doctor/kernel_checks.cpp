// SPDX-License-Identifier: GPL-2.0
// The kernel, what it lets be seen, and by whom; and this tool itself.
#include <cerrno>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sstream>

#include "control/module_loader.h"
#include "control/session.h"
#include "doctor/build_features.h"
#include "doctor/check.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"
#include "util/elf_file.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

constexpr std::string_view ask_as_root = "sudo trapline doctor";
constexpr std::string_view debugfs = "/sys/kernel/debug";
constexpr const char* kprobes_enabled = "/sys/kernel/debug/kprobes/enabled";

// A file in debugfs that could not be read.
Result unreadable(const Machine& machine, const std::string& path, int error,
                  std::string_view cost) {
    const std::string found = fmt::format("{}: {}; {}", path, errno_text(error), cost);
    if (!machine.root())
        return {Level::unknown, found, std::string(ask_as_root)};
    if (error == EPERM && !machine.lockdown().empty())
        return {Level::unknown,
                fmt::format("lockdown ({}) hides {}; {}", machine.lockdown(), path, cost),
                {}};
    if (!machine.mounted("debugfs", debugfs))
        return {Level::unknown, fmt::format("debugfs is not mounted; {}", cost),
                fmt::format("sudo mount -t debugfs debugfs {}", debugfs)};
    return {Level::unknown, found, {}};
}

std::string boot_with_kprobes() {
    return "boot a kernel with CONFIG_KPROBES=y; in its tree:\n"
           "scripts/config -e MODULES -e KPROBES && make olddefconfig && make";
}

bool zero(const FileText& file) {
    return file && file.text.starts_with('0');
}

} // namespace

Result check_kprobes(const Machine& machine) {
    const KernelConfig& config = machine.config;
    // What runs counts for more than what a file says of it.
    try {
        const Kallsyms kallsyms(machine.system.place("/proc/kallsyms"));
        const bool there = !kallsyms.find("register_kprobe", "kernel").empty();
        if (there && config.value("KPROBES") == "y")
            return {Level::ok, config.words("KPROBES"), {}};
        if (there)
            return {Level::ok, "CONFIG_KPROBES=y (/proc/kallsyms has register_kprobe)", {}};
        return {Level::problem,
                config.known() && config.value("KPROBES").empty()
                    ? config.words("KPROBES")
                    : "CONFIG_KPROBES is not set (/proc/kallsyms has no register_kprobe)",
                boot_with_kprobes()};
    } catch (const Error&) {
        // check_kallsyms() tells.
    }
    if (!config.known())
        return {Level::unknown,
                "no /proc/config.gz, no /boot/config-*, and no kallsyms tells of CONFIG_KPROBES",
                "sudo modprobe configs && zgrep CONFIG_KPROBES= /proc/config.gz"};
    if (config.value("KPROBES") == "y")
        return {Level::ok, config.words("KPROBES"), {}};
    return {Level::problem, config.words("KPROBES"), boot_with_kprobes()};
}

Result check_kprobes_enabled(const Machine& machine) {
    if (zero(machine.system.read("/proc/sys/kernel/ftrace_enabled")))
        return {Level::problem,
                "ftrace is switched off, and with it the kprobes at functions' entries",
                std::string(remedy::enable_ftrace)};
    const FileText enabled = machine.system.read(kprobes_enabled);
    if (!enabled && machine.lacks("debugfs"))
        return {
            Level::ok, "kprobes are switched on: without debugfs nobody can switch them off", {}};
    if (!enabled)
        return unreadable(machine, kprobes_enabled, enabled.error,
                          "it tells whether kprobes are switched on");
    if (zero(enabled))
        return {Level::problem, fmt::format("kprobes are switched off ({})", kprobes_enabled),
                std::string(remedy::enable_kprobes)};
    return {Level::ok, "kprobes and ftrace are switched on", {}};
}

Result check_lockdown(const Machine& machine) {
    if (machine.lockdown() == "confidentiality") {
        const OpenError error = explain_open(EPERM, 0, machine.lockdown_text);
        return {Level::problem, "mode confidentiality forbids kprobes", error.hint()};
    }
    if (!machine.lockdown().empty())
        return {Level::ok,
                fmt::format("mode {} allows kprobes, of a signed module", machine.lockdown()),
                {}};
    if (!machine.lockdown_text.empty())
        return {Level::ok, "none", {}};
    if (!machine.lockdown_unseen())
        return {Level::ok, "none: this kernel has no lockdown", {}};
    if (machine.lacks("securityfs"))
        return {Level::unknown, "this kernel has no securityfs, which tells of lockdown", {}};
    return {Level::unknown, "securityfs is not mounted; it tells of lockdown",
            std::string(remedy::mount_securityfs)};
}

Result check_kallsyms(const Machine& machine) {
    try {
        const Kallsyms kallsyms(machine.system.place("/proc/kallsyms"));
        if (!kallsyms.addresses_hidden())
            return {Level::ok, fmt::format("{} symbols, with addresses", kallsyms.size()), {}};
    } catch (const Error& error) {
        return {Level::problem, error.what(), error.hint()};
    }
    const std::string cost = "functions of the same name can't be told apart, nor offsets checked";
    if (machine.system.read("/proc/sys/kernel/kptr_restrict").text.starts_with('2'))
        return {Level::note, fmt::format("kernel.kptr_restrict=2 hides addresses: {}", cost),
                std::string(remedy::show_addresses)};
    if (!machine.root())
        return {Level::unknown, "addresses are shown to root only", std::string(ask_as_root)};
    return {Level::note, fmt::format("addresses are hidden even from this root: {}", cost),
            "it lacks CAP_SYSLOG: in a container? run trapline on the host, or give the container "
            "--privileged"};
}

Result check_blacklist(const Machine& machine) {
    const FileText file = machine.system.read(Blacklist::default_path);
    const std::string cost =
        "that a function is blacklisted is told by the kernel, when it refuses the probe";
    if (!file && machine.lacks("debugfs"))
        return {Level::note, fmt::format("this kernel has no debugfs; {}", cost), {}};
    if (!file) {
        Result result = unreadable(machine, Blacklist::default_path, file.error, cost);
        if (machine.root())
            result.level = Level::note;
        return result;
    }
    std::istringstream text(file.text);
    if (!Blacklist(text).known())
        return {Level::note, fmt::format("{} is empty: {}", Blacklist::default_path, cost), {}};
    return {Level::ok, Blacklist::default_path, {}};
}

Result check_btf(const Machine& machine) {
    const std::string path = "/sys/kernel/btf/vmlinux";
    if (machine.system.exists(path))
        return {Level::ok, path, {}};
    return {
        Level::note,
        fmt::format("there is no {}: arguments have no names and types, and are raw numbers", path),
        "boot a kernel with CONFIG_DEBUG_INFO_BTF=y"};
}

Result check_debug_information(const Machine& machine) {
    const std::string& release = machine.release;
    const std::string running = build_id(machine.system.read("/sys/kernel/notes").text);
    std::string other;
    for (const std::string& path :
         {"/usr/lib/debug/boot/vmlinux-" + release,
          "/usr/lib/debug/lib/modules/" + release + "/vmlinux",
          "/usr/lib/debug/usr/lib/modules/" + release + "/vmlinux",
          machine.modules_folder() + "build/vmlinux", "/boot/vmlinux-" + release}) {
        ElfFile file(machine.system.place(path));
        if (!file.has(".debug_info"))
            continue;
        if (running.empty() || build_id(file.contents(".notes")) == running)
            return {Level::ok, path, {}};
        other = path;
    }
    const std::string cost = "addresses have no source lines";
    return {Level::note,
            other.empty() ? fmt::format("there is none of this kernel: {}", cost)
                          : fmt::format("{} is of another build: {}", other, cost),
            machine.distribution.debug_information(release)};
}

Result check_permissions(const Machine& machine) {
    if (machine.device.abi)
        return {Level::ok, "/dev/trapline can be opened", {}};
    if (!machine.root())
        return {Level::problem, "only root may trace the kernel", std::string(ask_as_root)};
    const bool traces = machine.capable(CAP_PERFMON).value_or(true) ||
                        machine.capable(CAP_SYS_ADMIN).value_or(true);
    if (!traces)
        return {Level::problem, "root, but without CAP_PERFMON", explain_open(EPERM, 0, {}).hint()};
    if (!machine.minor && !machine.capable(CAP_SYS_MODULE).value_or(true)) {
        ModprobeOutcome outcome;
        outcome.words = "Operation not permitted";
        outcome.lockdown = machine.lockdown_text;
        return {Level::problem, "root, but without CAP_SYS_MODULE, which loads the module",
                explain_modprobe(outcome).hint()};
    }
    return {Level::ok, "root", {}};
}

Result check_build(const Machine& machine) {
    Result result{Level::ok, "lacks nothing", {}};
    for (const BuildFeature& feature : build_features()) {
        if (feature.compiled_in)
            continue;
        result.found =
            fmt::format("{}{}: {}", result.level == Level::ok ? "lacks " : result.found + "; ",
                        feature.library, feature.use);
        result.level = Level::note;
        if (!result.remedy.empty())
            result.remedy += " && ";
        result.remedy += machine.distribution.package(feature.debian, feature.fedora, feature.arch);
    }
    if (!result.remedy.empty())
        result.remedy += " && make tool";
    return result;
}

} // namespace trapline
