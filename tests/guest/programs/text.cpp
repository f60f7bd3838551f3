// SPDX-License-Identifier: GPL-2.0
// tl-text FILE
// Keeps the kernel's instructions in FILE; where that is there already, prints the addresses at
// which they are others by now, as the kernel's list of kprobes does.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>

#include "../kernel_text.h"

using namespace trapline::guest;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: tl-text FILE\n", stderr);
        return 2;
    }
    try {
        KernelText now = read_kernel_text();
        std::ifstream kept(argv[1], std::ios::binary);
        if (!kept) {
            std::ofstream(argv[1], std::ios::binary) << now.bytes;
            return 0;
        }
        const KernelText before{now.address, {std::istreambuf_iterator<char>(kept), {}}};
        for (const std::uint64_t place : changed_places(before, now))
            std::printf("%lx  k\n", static_cast<unsigned long>(place));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "tl-text: %s\n", error.what());
        return 1;
    }
}
