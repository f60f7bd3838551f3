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

std::string dkms_install(const Installation& at) {
    return "sudo dkms install --force trapline/" + at.dkms;
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
            return {fmt::format("sudo {} {}\n", command, at.file),
                    at.file.substr(0, at.file.size() - suffix.size()),
                    fmt::format("sudo depmod {}\n", at.release)};
    }
    return {{}, at.file.empty() ? "\"$(/sbin/modinfo -n trapline)\"" : at.file, {}};
}

constexpr std::string_view switch_off =
    "or turn Secure Boot off in the firmware's settings (mokutil --sb-state tells whether it is "
    "on), and take module.sig_enforce and lockdown= off the kernel command line";

} // namespace

std::string load(const Installation& at) {
    return at.by_file ? "sudo insmod " + at.file : std::string(load_installed);
}

std::string reload(const Installation& at) {
    return at.by_file ? "sudo rmmod trapline && " + load(at) : std::string(reload_installed);
}

std::string install(const Installation& at) {
    if (beside_the_tool(at))
        return fmt::format("make kmod KDIR=/lib/modules/{0}/build && sudo install -m 644 "
                           "build/kmod/{0}/trapline.ko {1}",
                           at.release, at.file);
    if (!at.dkms.empty())
        return (at.dkms_source ? "" : "sudo make install-dkms && ") + dkms_install(at);
    return fmt::format("make KDIR=/lib/modules/{}/build && sudo make install", at.release);
}

std::string rebuild(const Installation& at) {
    if (at.dkms.empty() || beside_the_tool(at))
        return "make clean && " + install(at);
    // Else DKMS would install what it has built.
    return fmt::format("{}sudo dkms build --force trapline/{} && {}",
                       at.dkms_source ? "" : "sudo make install-dkms && ", at.dkms,
                       dkms_install(at));
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
        "{}sudo /lib/modules/{}/build/scripts/sign-file sha256 MOK.priv MOK.der {}\n"
        "{}{}",
        module.before, at.release, module.file, module.behind, switch_off);
}

std::string make_node(unsigned minor) {
    constexpr unsigned misc_major = 10;
    return fmt::format("sudo mknod -m 600 /dev/" TRAPLINE_DEVICE " c {} {}", misc_major, minor);
}

} // namespace trapline::remedy
