// SPDX-License-Identifier: GPL-2.0
// Opens a session, loading the module first if it is only installed.
#include "command/open_session.h"

#include <fstream>

#include "control/module_loader.h"
#include "util/error.h"
#include "util/remedy.h"

namespace trapline {

namespace {

// The kernel plants an entry by ftrace also while that is switched off: nothing is hit then, and
// once it is on again, newer kernels (7.2) find it inconsistent and give it up for good.
void expect_ftrace() {
    std::ifstream file("/proc/sys/kernel/ftrace_enabled");
    int value = 1;
    if (file >> value && value == 0)
        throw Error("ftrace is switched off, by which functions' entries are trapped",
                    std::string(remedy::enable_ftrace));
}

Session open_or_load(const std::function<void(std::string_view)>& say) {
    expect_own_node();
    try {
        return Session();
    } catch (const OpenError& error) {
        if (error.failure() != OpenFailure::not_loaded)
            throw;
    }
    ensure_loaded(say);
    return Session();
}

} // namespace

Session open_session(const std::function<void(std::string_view)>& say) {
    Session session = open_or_load(say);
    expect_ftrace();
    return session;
}

} // namespace trapline
