// SPDX-License-Identifier: GPL-2.0
// The commands that put things right.
#include "util/remedy.h"

#include <array>
#include <fmt/format.h>

#include "shared/trapline.h"

namespace trapline::remedy {

namespace {

// A file that no `make install` puts there.
bool beside_the_tool(const Installation& at) {
    return at.by_file && !at.file.starts_with("/lib/modules/");
}

// Nothing but the tree that this kernel was built in can tell how its modules are built.
bool needs_tree(const Installation& at) {
    return !at.headers && at.headers_package.empty();
}

constexpr std::string_view tree = "$HOME/linux";
constexpr std::string_view which_tree = "    ($HOME/linux: the tree that this kernel was built in)";

// `commands` that build, behind what they miss.
std::string with_headers(const Installation& at, const std::string& commands) {
    if (needs_tree(at))
        return commands + std::string(which_tree);
    return at.headers ? commands : at.headers_package + " && " + commands;
}

std::string build_folder(const Installation& at) {
    return needs_tree(at) ? std::string(tree) : fmt::format("/lib/modules/{}/build", at.release);
}

std::string make_and_install(const Installation& at) {
    if (needs_tree(at))
        return fmt::format("make KDIR={0} && sudo make KDIR={0} install", tree);
    return fmt::format("make KDIR={} && sudo make install", build_folder(at));
}

// Where the package's source isn't installed, it is in a package beside the tool's.
std::string dkms_source(const Installation& at) {
    if (at.dkms_source)
        return {};
    return at.packaged ? "sudo apt install ./trapline-dkms_" TRAPLINE_VERSION "_all.deb && "
                       : "sudo make install-dkms && ";
}

std::string dkms_command(const Installation& at, std::string_view command) {
    return fmt::format("sudo dkms {} --force trapline/{}{}", command, at.dkms,
                       needs_tree(at) ? fmt::format(" --kernelsourcedir {}", tree) : "");
}

// Turns a compressed file into what can be signed, and tells modprobe; `file` becomes its name.
struct Unpacked {
    std::string before;
    std::string file;
    std::string behind;
};

Unpacked unpacked(const Installation& at) {
    struct Compression {
        std::string_view suffix;
        std::string_view command;
    };
    constexpr std::array compressions = {Compression{".xz", "unxz"}, Compression{".gz", "gunzip"},
                                         Compression{".zst", "unzstd --rm"}};
    for (const auto& [suffix, command] : compressions) {
        if (at.file.ends_with(suffix))
            return {fmt::format("sudo {} {}\n", command, quoted(at.file)),
                    quoted(at.file.substr(0, at.file.size() - suffix.size())),
                    fmt::format("sudo depmod {}\n", at.release)};
    }
    return {{}, at.file.empty() ? "\"$(/sbin/modinfo -n trapline)\"" : quoted(at.file), {}};
}

constexpr std::string_view switch_off =
    "or turn Secure Boot off in the firmware's settings (mokutil --sb-state tells whether it is "
    "on), and take module.sig_enforce and lockdown= off the kernel command line";

} // namespace

std::string quoted(const std::string& path) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_/.,:@%+=-";
    if (path.find_first_not_of(plain) == std::string::npos)
        return path;
    std::string text = "'";
    for (const char c : path)
        text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

std::string load(const Installation& at) {
    return at.by_file ? "sudo insmod " + quoted(at.file) : std::string(load_installed);
}

std::string reload(const Installation& at) {
    return at.by_file ? "sudo rmmod trapline && " + load(at) : std::string(reload_installed);
}

std::string headers(const Installation& at) {
    return needs_tree(at) ? install(at) : at.headers_package;
}

std::string install(const Installation& at) {
    if (beside_the_tool(at))
        return with_headers(at, fmt::format("make kmod KDIR={} && sudo install -m 644 "
                                            "build/kmod/{}/trapline.ko {}",
                                            build_folder(at), at.release, quoted(at.file)));
    if (!at.dkms.empty())
        return with_headers(at, dkms_source(at) + dkms_command(at, "install"));
    return with_headers(at, make_and_install(at));
}

std::string rebuild(const Installation& at) {
    if (at.dkms.empty() || beside_the_tool(at))
        return "make clean && " + install(at);
    // Else DKMS would install what it has built.
    return with_headers(at, fmt::format("{}{} && {}", dkms_source(at), dkms_command(at, "build"),
                                        dkms_command(at, "install")));
}

std::string sign(const Installation& at) {
    if (!at.dkms.empty() && !beside_the_tool(at))
        return fmt::format("DKMS signs what it builds with a key of its own, which has to be "
                           "enrolled at the next boot:\n"
                           "sudo mokutil --import {}\n"
                           "and if what it has built isn't signed (modinfo -F signer trapline says "
                           "nothing):\n"
                           "{}\n"
                           "{}",
                           at.dkms_key, rebuild(at), switch_off);
    const Unpacked module = unpacked(at);
    return fmt::format(
        "sign it with a key that this machine trusts; one of your own, enrolled at the next boot:\n"
        "openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=trapline/ "
        "-keyout MOK.priv -outform DER -out MOK.der\n"
        "sudo mokutil --import MOK.der\n"
        "{}sudo {}/scripts/sign-file sha256 MOK.priv MOK.der {}{}\n"
        "{}{}",
        module.before, build_folder(at), module.file, needs_tree(at) ? which_tree : "",
        module.behind, switch_off);
}

std::string replace_node(unsigned minor) {
    return "sudo rm -r /dev/" TRAPLINE_DEVICE " && " + make_node(minor);
}

std::string make_node(unsigned minor) {
    constexpr unsigned misc_major = 10;
    return fmt::format("sudo mknod -m 600 /dev/" TRAPLINE_DEVICE " c {} {}", misc_major, minor);
}

} // namespace trapline::remedy
