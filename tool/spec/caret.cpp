// SPDX-License-Identifier: GPL-2.0
// Shows where in a PROBE something is wrong.
#include "spec/caret.h"

#include <fmt/format.h>

#include "util/escape.h"

namespace trapline {

UsageError bad_probe(std::string_view text, std::size_t position, std::string_view why,
                     std::string hint) {
    const std::size_t column = escaped(text.substr(0, position)).size();
    return UsageError(
        fmt::format("bad probe: {}\n    {}\n    {:>{}}", why, escaped(text), '^', column + 1),
        std::move(hint));
}

} // namespace trapline
