// SPDX-License-Identifier: GPL-2.0
// Loading the module where it is installed; saying what to do where it isn't.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

enum class LoadFailure {
    not_root,
    no_modprobe,
    not_installed, // not built or not installed for this kernel
    wrong_kernel,  // built for another
    key_rejected,  // a signature is demanded, and ours is missing or not trusted
    locked_down,
    loading_disabled, // kernel.modules_disabled
    no_modules,       // a kernel without loadable modules
    missing_symbols,  // most often a kernel without kprobes
    no_node,          // loaded, but /dev/trapline is not there, or another device's
    other,
};

class LoadError : public Error {
public:
    LoadError(LoadFailure failure, const std::string& message, const std::string& hint);

    LoadFailure failure() const { return failure_; }

private:
    LoadFailure failure_;
};

// What is known of a modprobe that failed.
struct ModprobeOutcome {
    int status = 1;                  // exit status; 127: it could not be run
    std::string words;               // its stderr, in English
    Installation at;                 // as it was when modprobe failed
    std::string lockdown;            // text of /sys/kernel/security/lockdown; empty: unknown
    bool disabled = false;           // kernel.modules_disabled is set
    bool modules = true;             // /proc/modules is there
    std::string loader = "modprobe"; // whose words they are
};

LoadError explain_modprobe(const ModprobeOutcome& outcome);

// The minor number of the device `name` in the text of /proc/misc.
std::optional<unsigned> misc_minor(std::string_view proc_misc, std::string_view name);

// Whether `path` is the node of the misc device `minor`.
bool is_node_of(const std::string& path, unsigned minor);

// The lockdown mode in force: "integrity" of "none [integrity] confidentiality"; "none" or
// empty: none, or unknown.
std::string_view lockdown_mode(std::string_view text);

// The text of /sys/kernel/security/lockdown, empty where there is none.
std::string read_lockdown();

// LoadError where the module is loaded, and something else is at /dev/trapline.
void expect_own_node();

// Sees to it that /dev/trapline can be opened, as far as loading the module helps; `say`
// is told of it. LoadError if it can't.
void ensure_loaded(const std::function<void(std::string_view)>& say);

} // namespace trapline
