// SPDX-License-Identifier: GPL-2.0
// What is found out about a machine once, for all of the checks.
#include "doctor/machine.h"

#include <charconv>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "control/installation.h"
#include "control/module_loader.h"
#include "shared/trapline.h"
#include "symbols/kallsyms.h"
#include "util/error.h"
#include "util/filesystems.h"

namespace trapline {

namespace {

// Where depmod would have found it.
std::string search(const System& system, const std::string& folder) {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::recursive_directory_iterator at(system.place(folder),
                                        fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
        if (at->path().filename().string().starts_with(TRAPLINE_DEVICE ".ko"))
            return at->path().string().substr(system.place("").size());
    }
    return {};
}

InstalledModule find_installed(const System& system, const std::string& folder) {
    InstalledModule module;
    module.path = listed_module(system.read(folder + "modules.dep").text, folder);
    module.listed = !module.path.empty();
    if (module.listed)
        module.gone = !system.exists(module.path);
    else
        module.path = search(system, folder);
    return module;
}

// What modprobe would do instead of loading it.
std::string find_install_line(const System& system) {
    namespace fs = std::filesystem;
    for (const std::string folder : {"/etc/modprobe.d", "/run/modprobe.d", "/lib/modprobe.d"}) {
        std::error_code error;
        fs::directory_iterator at(system.place(folder), error);
        for (; !error && at != fs::directory_iterator(); at.increment(error)) {
            const std::string file = folder + "/" + at->path().filename().string();
            std::istringstream lines(system.read(file).text);
            for (std::string line; std::getline(lines, line);) {
                std::istringstream words(line);
                std::string command;
                std::string module;
                if (words >> command >> module && command == "install" && module == TRAPLINE_DEVICE)
                    return file + ": " + line;
            }
        }
    }
    return {};
}

// As the commands do it.
Installation find_what_is_loaded(const System& system, const std::string& release) {
    Installation at = find_installation(release, system.place(""));
    if (!at.file.empty() && system.has_modprobe())
        return at;
    at.file = system.module_file(release);
    at.by_file = !at.file.empty();
    return at;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

} // namespace

Modinfo::Modinfo(std::string_view modinfo) {
    std::istringstream lines{std::string(modinfo)};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(':');
        // A long value goes on in lines that begin with a tab.
        if (colon == std::string::npos || line.find_first_of(" \t") < colon)
            continue;
        values_.try_emplace(line.substr(0, colon),
                            trimmed(std::string_view(line).substr(colon + 1)));
    }
}

std::string Modinfo::value(std::string_view name) const {
    const auto at = values_.find(name);
    return at == values_.end() ? std::string() : at->second;
}

Machine::Machine(const System& seen)
    : system(seen), release(seen.release()), euid(seen.effective_user()),
      distribution(seen.read("/etc/os-release").text, seen.read("/proc/version").text),
      config(seen, release), lockdown_text(seen.read("/sys/kernel/security/lockdown").text),
      minor(misc_minor(seen.read("/proc/misc").text, TRAPLINE_DEVICE)),
      installed(find_installed(seen, modules_folder())), install_line(find_install_line(seen)),
      installation(find_what_is_loaded(seen, release)) {
    if (!installation.file.empty() || !installed.path.empty())
        info = Modinfo(system.modinfo(file()));
    if (minor)
        device = system.ask_device();
}

std::string Machine::file() const {
    return installation.file.empty() && !installed.gone ? installed.path : installation.file;
}

bool Machine::mounted(std::string_view type, std::string_view at) const {
    std::istringstream mounts(system.read("/proc/mounts").text);
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string device_name;
        std::string place;
        std::string kind;
        if (words >> device_name >> place >> kind && place == at && kind == type)
            return true;
    }
    return false;
}

bool Machine::lacks(std::string_view type) const {
    return lacks_filesystem(system.read(filesystems_path).text, type);
}

bool Machine::lockdown_unseen() const {
    if (!lockdown_text.empty() || mounted("securityfs", "/sys/kernel/security"))
        return false;
    if (config.known())
        return config.value("SECURITY_LOCKDOWN_LSM") == "y";
    try {
        const Kallsyms kallsyms(system.place("/proc/kallsyms"));
        return !kallsyms.find("lockdown_is_locked_down", "kernel").empty();
    } catch (const Error&) {
        return true;
    }
}

std::string_view Machine::lockdown() const {
    const std::string_view mode = lockdown_mode(lockdown_text);
    return mode == "none" ? std::string_view() : mode;
}

std::optional<bool> Machine::capable(unsigned capability) const {
    const std::string status = system.read("/proc/self/status").text;
    constexpr std::string_view name = "\nCapEff:\t";
    const std::size_t at = status.find(name);
    if (at == std::string::npos)
        return std::nullopt;
    std::uint64_t set = 0;
    const char* begin = status.data() + at + name.size();
    const auto [end, error] = std::from_chars(begin, status.data() + status.size(), set, 16);
    if (error != std::errc())
        return std::nullopt;
    return (set >> capability & 1U) != 0;
}

} // namespace trapline
