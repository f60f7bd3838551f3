// SPDX-License-Identifier: GPL-2.0
// What a build of this tool can have or lack.
#include "doctor/build_features.h"

namespace trapline {

namespace {

#ifdef TRAPLINE_CAPSTONE
constexpr bool capstone = true;
#else
constexpr bool capstone = false;
#endif

#ifdef TRAPLINE_LIBDW
constexpr bool libdw = true;
#else
constexpr bool libdw = false;
#endif

constexpr BuildFeature features[] = {
    {"capstone", "bytes aren't shown as instructions", capstone, "libcapstone-dev",
     "capstone-devel", "capstone"},
    {"libdw", "DWARF can't be read, so there is no --vmlinux", libdw, "libdw-dev", "elfutils-devel",
     "libelf"},
};

} // namespace

std::span<const BuildFeature> build_features() {
    return features;
}

} // namespace trapline
