// SPDX-License-Identifier: GPL-2.0
// The file systems that a kernel has.
#include "util/filesystems.h"

#include <algorithm>

namespace trapline {

// "nodev\tdebugfs", "\text4"
bool lacks_filesystem(std::string_view filesystems, std::string_view type) {
    if (filesystems.empty())
        return false;
    while (!filesystems.empty()) {
        const std::string_view line = filesystems.substr(0, filesystems.find('\n'));
        if (line.substr(line.find('\t') + 1) == type)
            return false;
        filesystems.remove_prefix(std::min(line.size() + 1, filesystems.size()));
    }
    return true;
}

} // namespace trapline
