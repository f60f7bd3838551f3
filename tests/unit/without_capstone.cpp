// SPDX-License-Identifier: GPL-2.0
// Built without libcapstone, whatever this machine has: there is no disassembler, and nothing
// else is missing.
#include <cstdio>

#include "disassembly/disassembler.h"

int main() {
    if (!trapline::make_disassembler())
        return 0;
    std::fputs("there is a disassembler\n", stderr);
    return 1;
}
