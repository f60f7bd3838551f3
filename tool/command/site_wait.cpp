// SPDX-License-Identifier: GPL-2.0
// Waits for the kernel to change the bytes where a probe is or was.
#include "command/site_wait.h"

#include <thread>

namespace trapline {

SiteWait wait_for_site(Session& session, std::uint16_t event_id,
                       const std::function<bool(const SiteBytes&)>& wanted,
                       std::chrono::milliseconds limit) {
    using namespace std::chrono;
    const auto begun = steady_clock::now();
    for (;;) {
        SiteWait wait{.site = session.site(event_id), .took = std::nullopt};
        const auto passed = duration_cast<milliseconds>(steady_clock::now() - begun);
        if (wanted(wait.site))
            wait.took = passed;
        if (wait.took || passed >= limit)
            return wait;
        std::this_thread::sleep_for(milliseconds(1));
    }
}

} // namespace trapline
