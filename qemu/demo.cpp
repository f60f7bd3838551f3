// SPDX-License-Identifier: GPL-2.0
// The lesson that `make demo` tells, inside a guest: a trap inside a function and at its entry
// explained, calls traced, and the function's bytes as before. It fails if they don't come back
// or nothing was traced.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <vector>

#include "command/site_wait.h"
#include "control/session.h"
#include "shared/program.h"

using namespace trapline;

namespace {

constexpr const char* function = "vfs_read";

// An entry probe that stores nothing. 0, or the errno that refused it.
int plant(Session& session, std::uint16_t id, std::uint64_t offset) {
    ProbeRequest request;
    request.event_id = id;
    request.kind = TRAPLINE_ENTRY;
    request.symbol = function;
    request.offset = offset;
    request.entry_program = {tl_insn{}}; // accept, nothing stored
    return session.add_probes({&request, 1}).front().error;
}

// The first instruction behind the function's entry that may be trapped: its offset.
unsigned find_inside() {
    Session session;
    session.configure({});
    for (std::uint16_t offset = 6; offset < 64; offset++)
        if (plant(session, offset, offset) == 0)
            return offset;
    throw Error("no instruction of vfs_read could be trapped");
}

// The bytes at the function's entry, as they are found and as they are left.
std::vector<std::byte> entry_bytes() {
    constexpr std::uint16_t id = 1;
    Session session;
    session.configure({});
    if (plant(session, id, 0) != 0)
        throw Error("vfs_read's entry could not be trapped");
    session.delete_probe(id);
    const SiteWait wait = wait_for_site(
        session, id, [](const SiteBytes& site) { return site.restored(); },
        std::chrono::seconds(1));
    if (!wait.took)
        throw Error("the bytes did not come back within a second");
    return wait.site.now;
}

void tell(const char* text) {
    std::puts(text);
    std::fflush(stdout);
}

void run(const std::string& command) {
    fmt::print("    # {}\n", command);
    std::fflush(stdout);
    const int status =
        std::system((command + " 2>&1").c_str()); // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw Error("that failed: " + command);
}

void lesson() {
    utsname kernel{};
    uname(&kernel);
    fmt::print("A stock kernel: {}. Nothing was recompiled, nothing rebooted for this.\n",
               kernel.release);
    const std::vector<std::byte> before = entry_bytes();
    tell("\n1. Some instruction inside the function\n");
    run(fmt::format("trapline explain kprobe:vfs_read+{}", find_inside()));
    tell("\n2. Both ends of a call\n");
    run("trapline explain vfs_read");
    tell("\n3. Calls traced so\n");
    run("trapline trace vfs_read -- dd if=/proc/version of=/dev/null bs=64 count=3");
    tell("\n   A line: who (task-tid), where ([cpu] and its context), when (seconds since boot),\n"
         "   what was asked (arguments), what came back, and how long it took.");
    if (entry_bytes() != before)
        throw Error("vfs_read is not as it was");
    tell("\n4. Afterwards vfs_read begins with the bytes that it began with before all this.");
}

} // namespace

int main() {
    try {
        lesson();
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 1;
    }
}
