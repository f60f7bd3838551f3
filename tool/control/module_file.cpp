// SPDX-License-Identifier: GPL-2.0
// The module's file where there is no modprobe to find and load it: an initramfs.
#include "control/module_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace trapline {

namespace {

std::string own_folder() {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    const std::string text(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    return text.substr(0, text.rfind('/') + 1);
}

bool only_root_writes(const struct stat& about) {
    return about.st_uid == 0 && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

} // namespace

std::optional<ModuleFile> find_module_file(const std::string& release) {
    const std::string modules = "/lib/modules/" + release;
    const std::string beside = own_folder();
    for (const std::string& folder :
         {beside, modules + "/updates/", modules + "/extra/", modules + "/"}) {
        if (folder.empty())
            continue; // no /proc
        ModuleFile module{folder + "trapline.ko", {}};
        struct stat about {};
        if (stat(folder.c_str(), &about) != 0 || !only_root_writes(about))
            continue;
        // O_NONBLOCK: it may be a FIFO.
        module.file.reset(
            open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (module.file && fstat(module.file.get(), &about) == 0 && S_ISREG(about.st_mode) &&
            only_root_writes(about))
            return module;
    }
    return std::nullopt;
}

int insert_module_file(const ModuleFile& module) {
    return syscall(SYS_finit_module, module.file.get(), "", 0) == 0 ? 0 : errno;
}

} // namespace trapline
