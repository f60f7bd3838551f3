// SPDX-License-Identifier: GPL-2.0
// Where the source's lines are in a kernel's or a module's code.
#include "types/source_lines.h"

namespace trapline {

bool is_file(std::string_view path, std::string_view file) {
    if (file.starts_with("./"))
        file.remove_prefix(2);
    if (file.empty() || !path.ends_with(file))
        return false;
    return path.size() == file.size() || file.front() == '/' ||
           path[path.size() - file.size() - 1] == '/';
}

} // namespace trapline
