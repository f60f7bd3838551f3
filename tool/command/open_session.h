// SPDX-License-Identifier: GPL-2.0
// Opens a session, loading the module first if it is only installed.
#pragma once

#include <functional>
#include <string_view>

#include "control/session.h"

namespace trapline {

// `say` is told what was done on the way. Error with the command that mends it.
Session open_session(const std::function<void(std::string_view)>& say);

} // namespace trapline
