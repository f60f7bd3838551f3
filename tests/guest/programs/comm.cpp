// SPDX-License-Identifier: GPL-2.0
// tl-comm: gives itself names that break output which trusts them, one after the other, and
// reads /dev/zero once under each. Prints how many they are.
#include <cstdio>
#include <fcntl.h>
#include <iterator>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

constexpr const char* names[] = {
    R"(q"quote\slash)",
    "esc\033[31mred",
    "new\nline",
    "cr\rreturn\ttab",
    "bad\xff\xfe\xc3(utf8",
    "c1\xc2\x9b"
    "31mcsi", // one control character of UTF-8 that terminals obey
    "\x01\x7f\b\a",
    "{\"a\":[1,2]}",
    "] d..1 9.9: f()",
    "",
};

} // namespace

int main() {
    const int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    char byte = 0;
    std::size_t done = 0;
    for (const char* name : names) {
        if (prctl(PR_SET_NAME, name) == 0 && read(zero, &byte, 1) == 1)
            done++;
    }
    std::printf("%zu\n", done);
    return done == std::size(names) ? 0 : 1;
}
