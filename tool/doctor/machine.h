// SPDX-License-Identifier: GPL-2.0
// What is found out about a machine once, for all of the checks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "control/installation.h"
#include "doctor/kernel_config.h"
#include "doctor/system.h"
#include "util/distribution.h"

namespace trapline {

// The module's file among those of the running kernel.
struct InstalledModule {
    std::string path;    // empty: none
    bool listed = false; // modprobe finds it
    bool gone = false;   // modules.dep names `path`, and it isn't there

    bool usable() const { return listed && !gone; }
};

// "name: value" as modinfo prints them, the first of each name.
class Modinfo {
public:
    Modinfo() = default;
    explicit Modinfo(std::string_view modinfo);

    bool known() const { return !values_.empty(); }
    // Empty: it has none.
    std::string value(std::string_view name) const;

private:
    std::map<std::string, std::string, std::less<>> values_;
};

struct Machine {
    explicit Machine(const System& system);

    bool root() const { return euid == 0; }
    std::string modules_folder() const { return "/lib/modules/" + release + "/"; }
    // Is a file system of that type mounted there?
    bool mounted(std::string_view type, std::string_view at) const;
    // The kernel has no file system of that type, as far as is known.
    bool lacks(std::string_view type) const;
    // Lockdown may be in force, and nothing that is mounted tells.
    bool lockdown_unseen() const;
    // The lockdown mode in force; empty: none is known of.
    std::string_view lockdown() const;
    // Root's first trace loads it.
    bool loadable() const { return !installation.file.empty(); }
    // The file that the module would be loaded from, or one that modprobe doesn't find.
    std::string file() const;
    // Of the effective capabilities, as the kernel numbers them; nothing: unknown.
    std::optional<bool> capable(unsigned capability) const;

    const System& system;
    std::string release;
    unsigned euid;
    Distribution distribution;
    KernelConfig config;
    std::string lockdown_text;
    std::optional<unsigned> minor; // of the device, hence: the module is loaded
    InstalledModule installed;
    std::string install_line;  // "FILE: install trapline ...", of modprobe.d; empty: none
    Installation installation; // of what would be loaded
    Modinfo info;              // of file()
    DeviceAnswer device;       // of a module that is loaded
};

} // namespace trapline
