// SPDX-License-Identifier: GPL-2.0
// Waits for the kernel to change the bytes where a probe is or was.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "control/session.h"

namespace trapline {

struct SiteWait {
    SiteBytes site;                                // as last read
    std::optional<std::chrono::milliseconds> took; // none: it didn't come within the limit
};

// Reads the site of `event_id` every millisecond until `wanted` says yes.
SiteWait wait_for_site(Session& session, std::uint16_t event_id,
                       const std::function<bool(const SiteBytes&)>& wanted,
                       std::chrono::milliseconds limit);

} // namespace trapline
