// SPDX-License-Identifier: GPL-2.0
// The commands that put things right, in one place: what a command that failed suggests is what
// `trapline doctor` suggests.
#pragma once

#include <string>
#include <string_view>

namespace trapline {

// How the module gets into the running kernel, as far as commands depend on it.
struct Installation {
    std::string release{};    // the kernel's
    std::string file{};       // that would be loaded; empty: none, or it isn't known
    bool gone = false;        // modprobe would load one that isn't there
    bool by_file = false;     // without modprobe
    std::string dkms{};       // the version that DKMS has or is to have; empty: it isn't DKMS's
    bool dkms_source = false; // DKMS has the source of that
    std::string dkms_key = "/var/lib/dkms/mok.pub";
    bool packaged = false;         // the tool is from a Debian package
    bool headers = true;           // modules can be built against the release's folder
    std::string headers_package{}; // what installs those; empty: no package has them
};

} // namespace trapline

namespace trapline::remedy {

inline constexpr std::string_view as_root = "sudo trapline ...";
inline constexpr std::string_view load_installed = "sudo modprobe trapline";
inline constexpr std::string_view reload_installed =
    "sudo rmmod trapline && sudo modprobe trapline";
inline constexpr std::string_view enable_ftrace = "sudo sysctl kernel.ftrace_enabled=1";
inline constexpr std::string_view enable_kprobes =
    "echo 1 | sudo tee /sys/kernel/debug/kprobes/enabled";
inline constexpr std::string_view mount_proc = "sudo mount -t proc proc /proc";
inline constexpr std::string_view mount_sysfs = "sudo mount -t sysfs sysfs /sys";
inline constexpr std::string_view mount_securityfs =
    "sudo mount -t securityfs securityfs /sys/kernel/security";
inline constexpr std::string_view show_addresses = "sudo sysctl kernel.kptr_restrict=1";

// A path as a shell takes it.
std::string quoted(const std::string& path);

// Loads the module; where one is loaded already, in its place.
std::string load(const Installation& at);
std::string reload(const Installation& at);

// What gives modules the headers to be built against, where they are missing.
std::string headers(const Installation& at);

// Builds and installs the module for the running kernel.
std::string install(const Installation& at);

// The same where one is there that doesn't fit.
std::string rebuild(const Installation& at);

// What to do where the kernel demands signatures: several lines.
std::string sign(const Installation& at);

// Makes the device's node; where something else is, in its place.
std::string make_node(unsigned minor);
std::string replace_node(unsigned minor);

} // namespace trapline::remedy
