// SPDX-License-Identifier: GPL-2.0
// Linked with what `trapline report` needs and nothing else: fails if that brings along the
// library that talks to the kernel, or the one that knows its types.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <link.h>

#include "report/report.h"
#include "util/error.h"

namespace {

int refuse(dl_phdr_info* info, std::size_t, void*) {
    if (std::strstr(info->dlpi_name, "libnl") == nullptr &&
        std::strstr(info->dlpi_name, "libbpf") == nullptr)
        return 0;
    std::printf("report_alone: it is linked with %s\n", info->dlpi_name);
    return 1;
}

} // namespace

int main() {
    if (dl_iterate_phdr(refuse, nullptr) != 0)
        return 1;
    try {
        trapline::report_command({"/nonexistent"});
    } catch (const trapline::Error& error) {
        return error.exit_code() == trapline::Error::failed ? 0 : 1;
    }
    return 1;
}
