// SPDX-License-Identifier: GPL-2.0
// Loading the module where it is installed; saying what to do where it isn't.
#include "control/module_loader.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <initializer_list>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "control/installation.h"
#include "control/module_file.h"
#include "shared/trapline.h"
#include "util/kernel_name.h"
#include "util/remedy.h"
#include "util/run_program.h"
#include "util/text_file.h"

namespace trapline {

namespace {

constexpr const char* device_path = "/dev/" TRAPLINE_DEVICE;
constexpr int died_by_signal = 128; // as a shell tells it
constexpr std::string_view cannot_load = "cannot load the trapline module: ";

bool contains_any(std::string_view text, std::initializer_list<std::string_view> needles) {
    for (const std::string_view needle : needles) {
        if (text.find(needle) != std::string_view::npos)
            return true;
    }
    return false;
}

std::string_view trimmed(std::string_view text) {
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

LoadError failed(LoadFailure failure, std::string_view why, const std::string& hint) {
    return {failure, std::string(cannot_load) + std::string(why), hint};
}

LoadError explain_permission(const ModprobeOutcome& outcome) {
    if (outcome.disabled)
        return failed(LoadFailure::loading_disabled,
                      "loading modules was switched off (kernel.modules_disabled), until reboot",
                      "reboot, and load it before that switch is set: echo trapline | sudo tee "
                      "/etc/modules-load.d/trapline.conf");
    const std::string_view mode = lockdown_mode(outcome.lockdown);
    if (!mode.empty() && mode != "none")
        return failed(LoadFailure::locked_down,
                      fmt::format("the kernel is locked down (mode {}) and takes signed modules "
                                  "only",
                                  mode),
                      remedy::sign(outcome.at));
    return failed(LoadFailure::other,
                  fmt::format("root may not load modules here: {}", trimmed(outcome.words)),
                  fmt::format("{}in a container? load it on the host: {}",
                              outcome.lockdown.empty()
                                  ? fmt::format("is the kernel locked down? {} && cat "
                                                "/sys/kernel/security/lockdown tells; ",
                                                remedy::mount_securityfs)
                                  : "",
                              remedy::load(outcome.at)));
}

bool node_exists() {
    return access(device_path, F_OK) == 0;
}

// udev may want a moment to make the node.
bool wait_for_node() {
    using namespace std::chrono_literals;
    for (int i = 0; i < 20; i++) {
        if (node_exists())
            return true;
        std::this_thread::sleep_for(50ms);
    }
    return node_exists();
}

// modprobe's words for the kernel's answer, where they aren't the errno's own.
std::string words_of(int error) {
    return error == ENOENT ? "Unknown symbol" : errno_text(error);
}

// Without modprobe, or what it looks things up in: an initramfs has neither, maybe.
bool load_file(ModprobeOutcome& outcome, const std::function<void(std::string_view)>& say) {
    const LoadFailure failure = explain_modprobe(outcome).failure();
    if (failure != LoadFailure::no_modprobe && failure != LoadFailure::not_installed)
        return false;
    const std::optional<ModuleFile> module = find_module_file(outcome.at.release);
    if (!module)
        return false;
    const int error = insert_module_file(*module);
    if (error == 0 && say)
        say(fmt::format("trapline: loaded {}", module->path));
    if (error == 0 || error == EEXIST)
        return true;
    outcome.status = 1;
    outcome.at.file = module->path;
    outcome.at.by_file = true;
    outcome.words = fmt::format("{}: {}", module->path, words_of(error));
    outcome.loader = "the kernel";
    outcome.at.gone = false;
    return false;
}

void load(const std::function<void(std::string_view)>& say) {
    if (geteuid() != 0)
        throw LoadError(LoadFailure::not_root,
                        "the trapline module is not loaded, and only root may load it",
                        fmt::format("run as root: {}", remedy::as_root));
    // Its words are English, for explain_modprobe().
    auto [status, words] = run_program({"modprobe", TRAPLINE_DEVICE}, Heard::errors);
    if (status != 0) {
        ModprobeOutcome outcome;
        outcome.status = status;
        outcome.words = std::move(words);
        outcome.at = find_installation(kernel_release());
        outcome.lockdown = read_lockdown();
        outcome.disabled = read_text("/proc/sys/kernel/modules_disabled").starts_with('1');
        outcome.modules = access("/proc/modules", F_OK) == 0;
        if (load_file(outcome, say))
            return;
        throw explain_modprobe(outcome);
    }
    if (say)
        say("trapline: loaded the trapline module");
}

} // namespace

LoadError::LoadError(LoadFailure failure, const std::string& message, const std::string& hint)
    : Error(message, hint), failure_(failure) {}

LoadError explain_modprobe(const ModprobeOutcome& outcome) {
    const std::string_view words = outcome.words;
    const Installation& at = outcome.at;
    const std::string& release = at.release;
    if (!outcome.modules || contains_any(words, {"Function not implemented"}))
        return failed(LoadFailure::no_modules,
                      fmt::format("the running kernel {} has no loadable modules", release),
                      "boot a kernel with CONFIG_MODULES=y and CONFIG_KPROBES=y");
    if (outcome.status == 127)
        return failed(
            LoadFailure::no_modprobe, "there is no modprobe on this machine",
            "install kmod, or put trapline.ko beside the tool, where only root can write");
    // kmod's words, then busybox's.
    if (contains_any(words, {"Module trapline not found", "module trapline not found",
                             "can't change directory to"}))
        return failed(LoadFailure::not_installed,
                      fmt::format("it is not installed for the running kernel {}", release),
                      remedy::install(at));
    if (contains_any(words, {"Exec format error", "invalid module format", "version magic",
                             "wrong symbol version"}))
        return failed(LoadFailure::wrong_kernel,
                      fmt::format("it was built for another kernel than the running {}", release),
                      remedy::rebuild(at));
    if (contains_any(words, {"Key was rejected by service"}))
        return failed(LoadFailure::key_rejected,
                      "the kernel takes modules signed by a key it trusts only (Secure Boot?), "
                      "and does not trust this one's",
                      remedy::sign(at));
    if (contains_any(words, {"Required key not available"}))
        return failed(LoadFailure::key_rejected,
                      "the kernel takes modules signed by a key it trusts only (Secure Boot?), "
                      "and has no key for this one",
                      remedy::sign(at));
    if (contains_any(words, {"Operation not permitted", "Permission denied"}))
        return explain_permission(outcome);
    // kmod says so too when the file that it was told of is not there any more.
    if (contains_any(words, {"Unknown symbol", "unknown symbol"}) && at.gone)
        return failed(LoadFailure::not_installed,
                      fmt::format("its file for the running kernel {} is gone", release),
                      remedy::install(at));
    if (contains_any(words, {"Unknown symbol", "unknown symbol"}))
        return failed(LoadFailure::missing_symbols,
                      fmt::format("the running kernel {} lacks a function that it needs, most "
                                  "likely for want of kprobes",
                                  release),
                      "boot a kernel with CONFIG_KPROBES=y; sudo dmesg | grep trapline names the "
                      "function");
    return failed(LoadFailure::other,
                  words.empty()
                      ? fmt::format("modprobe failed with exit status {}{}", outcome.status,
                                    outcome.status < died_by_signal
                                        ? ", silently: is there an install line for it "
                                          "in /etc/modprobe.d?"
                                        : "")
                      : fmt::format("{} says: {}", outcome.loader, trimmed(words)),
                  "sudo dmesg | tail may tell why; if it was built for another kernel: " +
                      remedy::install(at));
}

std::optional<unsigned> misc_minor(std::string_view proc_misc, std::string_view name) {
    while (!proc_misc.empty()) {
        const std::size_t end = proc_misc.find('\n');
        std::string_view line = proc_misc.substr(0, end);
        proc_misc.remove_prefix(end == std::string_view::npos ? proc_misc.size() : end + 1);

        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        unsigned minor = 0;
        const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), minor);
        if (error != std::errc())
            continue;
        line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        if (line == name)
            return minor;
    }
    return std::nullopt;
}

bool is_node_of(const std::string& path, unsigned minor_number) {
    constexpr unsigned misc_major = 10;
    struct stat node {};
    return stat(path.c_str(), &node) == 0 && S_ISCHR(node.st_mode) &&
           node.st_rdev == makedev(misc_major, minor_number);
}

std::string_view lockdown_mode(std::string_view text) {
    const std::size_t begin = text.find('[');
    if (begin == std::string_view::npos)
        return {};
    const std::size_t end = text.find(']', begin);
    if (end == std::string_view::npos)
        return {};
    return text.substr(begin + 1, end - begin - 1);
}

std::string read_lockdown() {
    return read_text("/sys/kernel/security/lockdown");
}

void expect_own_node() {
    if (!node_exists())
        return;
    const std::optional<unsigned> minor = misc_minor(read_text("/proc/misc"), TRAPLINE_DEVICE);
    if (minor && !is_node_of(device_path, *minor))
        throw LoadError(LoadFailure::no_node,
                        fmt::format("{} is not the trapline module's device", device_path),
                        remedy::replace_node(*minor));
}

void ensure_loaded(const std::function<void(std::string_view)>& say) {
    std::string misc = read_text("/proc/misc");
    if (misc.empty() && node_exists())
        return; // no /proc to ask; open() will tell
    if (misc.empty() && access("/proc/misc", F_OK) != 0)
        throw LoadError(LoadFailure::other,
                        "whether the trapline module is loaded can't be told: /proc is not mounted",
                        std::string(remedy::mount_proc));
    if (!misc_minor(misc, TRAPLINE_DEVICE)) {
        load(say);
        misc = read_text("/proc/misc");
    }
    if (wait_for_node()) {
        expect_own_node();
        return;
    }
    const std::optional<unsigned> minor = misc_minor(misc, TRAPLINE_DEVICE);
    if (!minor)
        throw LoadError(
            LoadFailure::other,
            fmt::format("the trapline module is loaded, but {} is not there", device_path),
            "sudo dmesg | grep trapline may tell why");
    throw LoadError(LoadFailure::no_node,
                    fmt::format("the trapline module is loaded, but {} is not there: neither "
                                "devtmpfs nor udev made it",
                                device_path),
                    remedy::make_node(*minor));
}

} // namespace trapline
