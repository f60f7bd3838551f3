// SPDX-License-Identifier: GPL-2.0
// The module's file where there is no modprobe to find and load it: an initramfs.
#include "control/module_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/fd.h"

namespace trapline {

namespace {

std::string own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    const std::string text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return text.substr(0, text.rfind('/') + 1);
}

} // namespace

std::optional<std::string> find_module_file(const std::string& release) {
    const std::string modules = "/lib/modules/" + release;
    const std::string beside = own_folder();
    for (const std::string& folder :
         {beside, modules + "/updates/", modules + "/extra/", modules + "/"}) {
        if (folder.empty())
            continue; // no /proc
        std::string path = folder + "trapline.ko";
        if (access(path.c_str(), R_OK) == 0)
            return path;
    }
    return std::nullopt;
}

int insert_module_file(const std::string& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return errno;
    return syscall(SYS_finit_module, file.get(), "", 0) == 0 ? 0 : errno;
}

} // namespace trapline
