// SPDX-License-Identifier: GPL-2.0
// Small files of text, such as /proc has.
#include "util/text_file.h"

#include <fstream>
#include <iterator>

namespace trapline {

std::string read_text(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

} // namespace trapline
