// SPDX-License-Identifier: GPL-2.0
// Types from files that were named, instead of the running kernel's own.
#include "types/type_files.h"

#include "types/btf_files.h"
#include "types/dwarf_files.h"
#include "util/error.h"

namespace trapline {

#ifndef TRAPLINE_LIBDW
std::unique_ptr<FileTypes> open_dwarf(const std::vector<std::string>& /*paths*/,
                                      const std::string& /*sys*/) {
    throw Error(
        "--vmlinux: this build of trapline reads no DWARF: it was made without libdw",
        "build it where libdw-dev is installed (elfutils-devel, libelf): make tool; or take "
        "BTF: --btf");
}
#endif

std::unique_ptr<FileTypes> open_types(const TypeFiles& files, const std::string& sys) {
    if (!files.vmlinux.empty())
        return open_dwarf(files.vmlinux, sys);
    return std::make_unique<BtfFiles>(files.btf, sys);
}

std::unique_ptr<TypeSource> types_of_files(const TypeFiles& files) {
    if (files.empty())
        return std::make_unique<KernelBtf>();
    return open_types(files);
}

} // namespace trapline
