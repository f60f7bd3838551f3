// SPDX-License-Identifier: GPL-2.0
// Built without libdw, whatever this machine has: --vmlinux is refused with the way out, and
// nothing else is missing.
#include <cstdio>
#include <string_view>

#include "types/type_files.h"
#include "util/error.h"

int main() {
    try {
        trapline::open_types({.btf = {}, .vmlinux = {"vmlinux"}});
    } catch (const trapline::Error& error) {
        if (std::string_view(error.what()).find("made without libdw") != std::string_view::npos &&
            !error.hint().empty())
            return 0;
        std::fputs(error.what(), stderr);
    }
    std::fputs("DWARF is read, or something else was said\n", stderr);
    return 1;
}
