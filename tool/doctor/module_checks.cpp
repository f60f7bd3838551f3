// SPDX-License-Identifier: GPL-2.0
// The module: built, installed, accepted, loaded, and of our ABI.
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

#include "control/codec.h"
#include "control/module_loader.h"
#include "doctor/check.h"
#include "shared/trapline.h"
#include "util/elf_file.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

constexpr std::string_view ask_as_root = "sudo trapline doctor";

// What modprobe would have said, in `words`.
LoadError refused(const Machine& machine, std::string words) {
    ModprobeOutcome outcome;
    outcome.words = std::move(words);
    outcome.at = machine.installation;
    return explain_modprobe(outcome);
}

// What the kernel has said of why it refuses the module.
struct LoggedRefusal {
    std::string words;        // from "trapline: " on; empty: nothing, or nothing that is true now
    bool of_this_file = true; // else it isn't known whether it was another
};

// What is between `before` and `after`.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
    const std::size_t begin = text.find(before);
    if (begin == std::string_view::npos)
        return {};
    text.remove_prefix(begin + before.size());
    return text.substr(0, text.find(after));
}

std::string_view without_end_blanks(std::string_view text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
}

// Does the kernel give modules `symbol`?
bool exported(const Machine& machine, std::string_view symbol) {
    const std::string all = machine.system.read("/proc/kallsyms").text;
    // Where it lists what it exports, a function that is merely there isn't enough.
    const bool exports = all.find(" __ksymtab_") != std::string::npos;
    const std::string name = fmt::format(" {}{}\n", exports ? "__ksymtab_" : "", symbol);
    return all.find(name) != std::string::npos;
}

// Does the file name `symbol`? Nothing: it can't be read, for it is compressed.
std::optional<bool> names_symbol(const Machine& machine, std::string_view symbol) {
    const std::string names = ElfFile(machine.system.place(machine.file())).contents(".strtab");
    if (names.empty())
        return std::nullopt;
    return names.find('\0' + std::string(symbol) + '\0') != std::string::npos;
}

// The log has no times that could be compared with a file's: its clock stands still in suspend, and
// dates can be changed. So of the last refusal only that counts which is true of the file that is
// there now, and of this kernel.
LoggedRefusal refusal_in_log(const Machine& machine) {
    LoggedRefusal last;
    std::istringstream lines(machine.system.kernel_log());
    for (std::string line; std::getline(lines, line);) {
        const std::size_t text = line.find("] " TRAPLINE_DEVICE ": ");
        if (text == std::string::npos)
            continue;
        const std::string words = line.substr(text + 2);
        if (words.find("version magic") != std::string::npos) {
            const std::string_view magic = between(words, "version magic '", "'");
            last = {without_end_blanks(magic) == machine.info.value("vermagic") ? words : "", true};
        } else if (words.find("disagrees about version of symbol") != std::string::npos) {
            last = {words, false};
        } else if (words.find("Unknown symbol ") != std::string::npos) {
            const std::string_view symbol = between(words, "Unknown symbol ", " ");
            const std::optional<bool> needed = names_symbol(machine, symbol);
            last = {exported(machine, symbol) || !needed.value_or(true) ? "" : words,
                    needed.has_value()};
        }
    }
    return last;
}

// The vermagic of any other module of this kernel: what the kernel wants to see.
std::string kernel_vermagic(const Machine& machine) {
    const std::string folder = machine.modules_folder();
    std::istringstream lines(machine.system.read(folder + "modules.dep").text);
    for (std::string line; std::getline(lines, line);) {
        const std::string path = line.substr(0, line.find(':'));
        if (path.empty() || !path.starts_with("kernel/"))
            continue; // others may be built for anything
        return Modinfo(machine.system.modinfo(folder + path)).value("vermagic");
    }
    return {};
}

std::string_view flags_of(std::string_view vermagic) {
    return vermagic.substr(std::min(vermagic.find(' '), vermagic.size()));
}

bool secure_boot(const Machine& machine) {
    // Four bytes of attributes, then the value.
    const FileText variable = machine.system.read(
        "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c");
    return variable && variable.text.size() == 5 && variable.text[4] == 1;
}

// What makes the kernel demand signatures; empty: nothing does.
std::string signature_demand(const Machine& machine) {
    if (!machine.lockdown().empty())
        return fmt::format("lockdown ({}){}", machine.lockdown(),
                           secure_boot(machine) ? ", for Secure Boot is on," : "");
    if (machine.system.read("/sys/module/module/parameters/sig_enforce").text.starts_with('Y'))
        return "module.sig_enforce";
    return {};
}

// Why that can't be told; empty: it can.
Result signature_demand_unknown(const Machine& machine) {
    if (!machine.system.exists("/sys/module"))
        return {Level::unknown, "sysfs is not mounted; it tells whether one is demanded",
                std::string(remedy::mount_sysfs)};
    if (machine.lockdown_unseen())
        return {
            Level::unknown, "securityfs is not mounted; it tells of lockdown, which demands one",
            machine.lacks("securityfs") ? std::string() : std::string(remedy::mount_securityfs)};
    return {Level::ok, {}, {}};
}

// Whether a key of the signer's is among the kernel's; nothing: it shows none at all.
std::optional<bool> has_key_of(const Machine& machine, const std::string& signer) {
    std::optional<bool> found;
    std::istringstream lines(machine.system.read("/proc/keys").text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find(" asymmetri") == std::string::npos)
            continue;
        found = found.value_or(false) || line.find(signer + ": ") != std::string::npos;
    }
    return found;
}

Result nothing_to_look_at(const Machine& machine) {
    return {Level::unknown,
            machine.minor ? "the file that it was loaded from is not there"
                          : "there is no file of this kernel's to look at",
            {}};
}

} // namespace

Result check_loadable_modules(const Machine& machine) {
    if (!machine.system.exists("/proc/misc"))
        return {Level::problem, "/proc is not mounted: nothing can be told without it",
                std::string(remedy::mount_proc)};
    ModprobeOutcome outcome;
    outcome.at = machine.installation;
    if (!machine.system.exists("/proc/modules")) {
        outcome.modules = false;
        return {Level::problem,
                machine.config.known() ? machine.config.words("MODULES")
                                       : "no /proc/modules: CONFIG_MODULES is not set",
                explain_modprobe(outcome).hint()};
    }
    if (machine.system.read("/proc/sys/kernel/modules_disabled").text.starts_with('1')) {
        outcome.words = "Operation not permitted";
        outcome.disabled = true;
        return {machine.minor ? Level::note : Level::problem,
                "loading modules was switched off until reboot (kernel.modules_disabled)",
                explain_modprobe(outcome).hint()};
    }
    return {Level::ok, "CONFIG_MODULES=y", {}};
}

Result check_headers(const Machine& machine) {
    const std::string link = headers_folder(machine.release);
    if (machine.installation.headers)
        return {Level::ok, link, {}};
    std::error_code error;
    const std::filesystem::path target =
        std::filesystem::read_symlink(machine.system.place(link), error);
    Result result;
    result.level = machine.minor || machine.loadable() ? Level::note : Level::problem;
    if (error)
        result.found = fmt::format("there is no {}", link);
    else
        result.found = fmt::format("{} is {}, where there are no headers", link, target.string());
    if (result.level == Level::note)
        result.found += "; needed to build the module again only";
    result.remedy = remedy::headers(machine.installation);
    return result;
}

Result check_built(const Machine& machine) {
    const std::string folder = machine.system.build_folder();
    const std::string file = fmt::format("{}/{}/trapline.ko", folder, machine.release);
    if (!folder.empty() && machine.system.exists(file))
        return {Level::ok, file, {}};
    if (machine.minor || machine.loadable())
        return {Level::ok,
                machine.minor ? "not here, and not needed: one is loaded"
                : machine.installation.by_file
                    ? "not here, and not needed: there is " + machine.installation.file
                    : "not here, and not needed: one is installed",
                {}};
    return {Level::problem,
            folder.empty() ? "this program isn't where it was built, and no module is beside it"
                           : fmt::format("there is no {}", file),
            remedy::install(machine.installation)};
}

Result check_installed(const Machine& machine) {
    const InstalledModule& module = machine.installed;
    const Installation& at = machine.installation;
    const std::string& instead = machine.install_line;
    if (!instead.empty() && !machine.minor)
        return {Level::problem, fmt::format("modprobe is told to do something else: {}", instead),
                "take that line away, or load it without modprobe's rules: sudo modprobe "
                "--ignore-install trapline"};
    if (!at.by_file && machine.loadable())
        return {Level::ok, at.file, {}};
    if (at.by_file && at.file != module.path)
        return {
            Level::ok, fmt::format("{}, which is loaded where modprobe finds none", at.file), {}};
    const Level level = machine.minor || machine.loadable() ? Level::note : Level::problem;
    if (module.gone)
        return {level, fmt::format("modules.dep names {}, which is gone", module.path),
                remedy::install(machine.installation)};
    if (!module.path.empty())
        return {level, fmt::format("{} is there, but modprobe doesn't know of it", module.path),
                "sudo depmod " + machine.release};
    return {level,
            fmt::format("there is no trapline.ko for the running kernel {}{}", machine.release,
                        machine.minor ? "; the one that is loaded is gone after a reboot" : ""),
            remedy::install(machine.installation)};
}

namespace {

// Of a file that there is.
Result without_vermagic(const Machine& machine) {
    const std::string file = machine.file();
    const FileText text = machine.system.read(file);
    if (text.error == EACCES && !machine.root())
        return {Level::unknown, fmt::format("only root may read {}", file),
                std::string(ask_as_root)};
    // What reads compressed ones may be missing here, and not in the kernel.
    if (!file.ends_with(".ko"))
        return {Level::unknown, fmt::format("modinfo can't read {}", file),
                "modinfo " + remedy::quoted(file)};
    return {Level::problem, fmt::format("{} is no module, or not all of one", file),
            remedy::rebuild(machine.installation)};
}

} // namespace

Result check_vermagic(const Machine& machine) {
    if (machine.file().empty())
        return nothing_to_look_at(machine);
    const std::string vermagic = machine.info.value("vermagic");
    if (vermagic.empty())
        return without_vermagic(machine);
    const LoggedRefusal refusal = machine.minor ? LoggedRefusal() : refusal_in_log(machine);
    if (!refusal.words.empty())
        // Of versions of symbols, too, modprobe hears an Exec format error.
        return {refusal.of_this_file ? Level::problem : Level::unknown,
                refusal.of_this_file
                    ? "the kernel refused it: " + refusal.words
                    : "the kernel refused this file, or one before it: " + refusal.words,
                refused(machine, refusal.words.find("Unknown symbol") != std::string::npos
                                     ? refusal.words
                                     : "Exec format error")
                    .hint()};
    const std::string wanted = kernel_vermagic(machine);
    if (!wanted.empty() && flags_of(vermagic) != flags_of(wanted))
        return {Level::problem,
                fmt::format("it is for '{}', the running kernel wants '{}'", vermagic, wanted),
                remedy::rebuild(machine.installation)};
    const std::string built_for = vermagic.substr(0, vermagic.find(' '));
    if (built_for == machine.release)
        return {Level::ok, vermagic, {}};
    // With versions of symbols the kernel compares those, and not the release.
    if (vermagic.find("modversions") != std::string::npos)
        return {Level::note,
                fmt::format("it was built for {}, and may not fit {}", built_for, machine.release),
                remedy::rebuild(machine.installation)};
    return {Level::problem,
            fmt::format("it was built for {}, not for {}", built_for, machine.release),
            remedy::rebuild(machine.installation)};
}

Result check_signature(const Machine& machine) {
    const std::string demand = signature_demand(machine);
    if (demand.empty() && !machine.minor) {
        const Result unknown = signature_demand_unknown(machine);
        if (unknown.level != Level::ok)
            return unknown;
    }
    if (demand.empty())
        return {Level::ok, "the kernel demands none", {}};
    if (machine.minor)
        return {Level::ok, fmt::format("{} demands one, and the module is loaded", demand), {}};
    if (machine.file().empty())
        return {Level::note, fmt::format("{} will demand one of the module", demand),
                remedy::sign(machine.installation)};
    if (!machine.info.known())
        return {Level::unknown, fmt::format("modinfo can't read {}", machine.file()),
                "modinfo " + machine.file()};
    const std::string signer = machine.info.value("signer");
    if (signer.empty() && !machine.info.value("sig_id").empty())
        return {Level::unknown,
                fmt::format("{} demands one; the module has one, but there is no modinfo to tell "
                            "whose",
                            demand),
                remedy::load(machine.installation)};
    if (signer.empty())
        return {Level::problem, fmt::format("{} demands one, and the module has none", demand),
                remedy::sign(machine.installation)};
    const std::optional<bool> key = has_key_of(machine, signer);
    if (!key)
        return {Level::unknown,
                fmt::format("{} demands one; the kernel shows no keys to look for {}'s in", demand,
                            signer),
                machine.root() ? std::string() : std::string(ask_as_root)};
    if (!*key)
        return {Level::problem,
                fmt::format("{} demands one, and the kernel has no key of {}, who signed the "
                            "module",
                            demand, signer),
                remedy::sign(machine.installation)};
    return {Level::note,
            fmt::format("{} demands one; it is signed by {}, of whom the kernel has a key, and "
                        "loading it will show whether it fits",
                        demand, signer),
            remedy::load(machine.installation)};
}

Result check_loaded(const Machine& machine) {
    if (!machine.minor && machine.loadable() &&
        (check_vermagic(machine).level == Level::problem ||
         check_signature(machine).level == Level::problem))
        return {Level::note, "not yet, and what is said above would prevent it", {}};
    if (!machine.minor)
        return {machine.loadable() ? Level::note : Level::problem,
                machine.loadable() ? "not yet; root's first trace loads it"
                                   : "not yet, and there is none that could be",
                machine.loadable() ? remedy::load(machine.installation) : std::string()};
    if (!machine.system.exists("/dev/" TRAPLINE_DEVICE))
        return {Level::problem, "it is loaded, but /dev/trapline is not there",
                remedy::make_node(*machine.minor)};
    if (!machine.system.is_node("/dev/" TRAPLINE_DEVICE, *machine.minor))
        return {Level::problem, "it is loaded, but /dev/trapline is not its device",
                remedy::replace_node(*machine.minor)};
    const FileText version = machine.system.read("/sys/module/trapline/version");
    return {Level::ok, "version " + version.text.substr(0, version.text.find('\n')), {}};
}

Result check_abi_match(const Machine& machine) {
    const std::string written = machine.info.value("trapline_abi");
    const std::string ours = std::to_string(TRAPLINE_ABI);
    const std::string what =
        machine.installation.by_file ? machine.installation.file : "the module that is installed";
    if (!machine.minor) {
        if (!machine.info.known() && !machine.file().empty())
            return {Level::unknown, fmt::format("{} can't be read", machine.file()), {}};
        if (!machine.info.known())
            return nothing_to_look_at(machine);
        if (written.empty())
            return {Level::problem, fmt::format("{} is older than this tool", what),
                    remedy::rebuild(machine.installation)};
        if (written != ours)
            return {Level::problem,
                    fmt::format("this tool speaks ABI {}, {} ABI {}", ours, what, written),
                    remedy::rebuild(machine.installation)};
        return {Level::ok, fmt::format("{}, as {}", ours, what), {}};
    }
    const DeviceAnswer& device = machine.device;
    if (!device.abi)
        return {Level::unknown,
                fmt::format("the module can't be asked: {}",
                            device.error != 0 ? errno_text(device.error) : device.complaint),
                machine.root() ? std::string() : std::string(ask_as_root)};
    if (*device.abi == TRAPLINE_ABI)
        return {Level::ok, ours, {}};
    // Loading it again is no use where the file speaks the other one as well.
    return {Level::problem, AbiError(*device.abi).what(),
            written == ours ? remedy::reload(machine.installation)
                            : fmt::format("{} && {}", remedy::rebuild(machine.installation),
                                          remedy::reload(machine.installation))};
}

} // namespace trapline
