// SPDX-License-Identifier: GPL-2.0
// Types as C writes them.
#pragma once

#include <string>

#include "types/type.h"

namespace trapline {

// Of a function, a variable or, without a name, a type: "int (*fn)(void *)". Of qualifiers const
// alone is shown.
std::string declaration(const Types& types, TypeId id, const std::string& name);

} // namespace trapline
