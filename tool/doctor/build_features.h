// SPDX-License-Identifier: GPL-2.0
// What a build of this tool can have or lack, for what was installed where it was made.
#pragma once

#include <span>
#include <string_view>

namespace trapline {

struct BuildFeature {
    std::string_view library;
    std::string_view use; // what is missing without it
    bool compiled_in;
    std::string_view debian; // the packages to build with
    std::string_view fedora;
    std::string_view arch;
};

// A feature that CMakeLists.txt makes optional has a row here.
std::span<const BuildFeature> build_features();

} // namespace trapline
