// SPDX-License-Identifier: GPL-2.0
// Opens a session, loading the module first if it is only installed.
#include "command/open_session.h"

#include "control/module_loader.h"

namespace trapline {

Session open_session(const std::function<void(std::string_view)>& say) {
    try {
        return Session();
    } catch (const OpenError& error) {
        if (error.failure() != OpenFailure::not_loaded)
            throw;
    }
    ensure_loaded(say);
    return Session();
}

} // namespace trapline
