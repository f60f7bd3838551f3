// SPDX-License-Identifier: GPL-2.0
// What `trapline record` itself costs, in a guest whose nanoseconds are instructions.
#pragma once

namespace trapline::bench {

struct RecorderCost {
    double per_event = 0; // CPU time of the tool, ns, without what it takes to start and to end
    double by_write = 0;  // of that, what write() of as many bytes takes anybody
    long events = 0;      // recorded, and on disk
};

// Records reads of /dev/zero to a tmpfs. Exits with 1 if an event is missing.
RecorderCost recorder_cost();

} // namespace trapline::bench
