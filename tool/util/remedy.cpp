// SPDX-License-Identifier: GPL-2.0
// The commands that put things right.
#include "util/remedy.h"

#include <fmt/format.h>

#include "shared/trapline.h"

namespace trapline::remedy {

std::string install(std::string_view release) {
    return fmt::format("make KDIR=/lib/modules/{}/build && sudo make install", release);
}

std::string rebuild(std::string_view release) {
    return "make clean && " + install(release);
}

std::string sign(std::string_view release) {
    return fmt::format(
        "sign it with a key that this machine trusts; one of your own, enrolled at the next boot:\n"
        "openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=trapline/ "
        "-keyout MOK.priv -outform DER -out MOK.der\n"
        "sudo mokutil --import MOK.der\n"
        "sudo /lib/modules/{}/build/scripts/sign-file sha256 MOK.priv MOK.der "
        "\"$(/sbin/modinfo -n trapline)\"\n"
        "or turn Secure Boot off in the firmware's settings (mokutil --sb-state tells whether it "
        "is on), and take module.sig_enforce and lockdown= off the kernel command line",
        release);
}

std::string make_node(unsigned minor) {
    constexpr unsigned misc_major = 10;
    return fmt::format("sudo mknod -m 600 /dev/" TRAPLINE_DEVICE " c {} {}", misc_major, minor);
}

} // namespace trapline::remedy
