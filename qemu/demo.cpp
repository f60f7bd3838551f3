// SPDX-License-Identifier: GPL-2.0
// The lesson that `make demo` tells, inside a guest: a function's bytes, a trap set, calls
// traced, the trap lifted, the bytes as before. It shows what it read and nothing else, and
// fails if the bytes don't come back or nothing was traced.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <thread>

#include "control/session.h"
#include "shared/program.h"

using namespace trapline;

namespace {

constexpr const char* function = "vfs_read";

std::string hex(const std::vector<std::byte>& bytes, std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size() && i < count; i++)
        text += fmt::format("{}{:02x}", i ? " " : "", static_cast<unsigned>(bytes[i]));
    return text;
}

void show(const char* what, std::uint64_t address, const std::vector<std::byte>& bytes) {
    fmt::print("    {:<26} {:#x}: {}\n", what, address, hex(bytes, 8));
    std::fflush(stdout);
}

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

// The first instruction behind the function's entry that may be trapped: its event id.
std::uint16_t plant_inside(Session& session) {
    for (std::uint16_t offset = 6; offset < 64; offset++)
        if (plant(session, offset, offset) == 0)
            return offset;
    throw Error("no instruction of vfs_read could be trapped");
}

// Waits for the site's bytes to satisfy `wanted`; how long that took, if it came to pass.
template <class Wanted>
std::optional<long> wait_for(Session& session, std::uint16_t id, Wanted&& wanted) {
    using namespace std::chrono;
    const auto begun = steady_clock::now();
    while (steady_clock::now() - begun < seconds(1)) {
        if (wanted(session.site(id)))
            return duration_cast<milliseconds>(steady_clock::now() - begun).count();
        std::this_thread::sleep_for(milliseconds(1));
    }
    return std::nullopt;
}

void lift(Session& session, std::uint16_t id) {
    session.delete_probe(id);
    const auto took = wait_for(session, id, [](const SiteBytes& site) { return site.restored(); });
    const SiteBytes site = session.site(id);
    if (!took)
        throw Error("the bytes did not come back within a second");
    show(fmt::format("lifted, after {} ms:", *took).c_str(), site.address, site.now);
}

void tell(const char* text) {
    std::puts(text);
    std::fflush(stdout);
}

void breakpoint(Session& session) {
    tell("\n1. A breakpoint: kprobe:vfs_read+N, some instruction inside the function\n");
    const std::uint16_t id = plant_inside(session);
    const SiteBytes site = session.site(id);
    show("before:", site.address, site.before);
    show("trap set:", site.address, site.now);
    if (!site.now.empty() && site.now[0] == std::byte{0xcc})
        tell("    cc is INT3: who gets there is diverted to our handler, all registers in hand.");
    const auto took = wait_for(
        session, id, [](const SiteBytes& now) { return now.now.at(0) == std::byte{0xe9}; });
    if (took) {
        show(fmt::format("{} ms later:", *took).c_str(), site.address, session.site(id).now);
        tell("    e9 is a jump: the kernel made it cheaper, for no branch leads into these bytes.");
    }
    lift(session, id);
}

void entry(Session& session) {
    tell("\n2. The function's entry: where ftrace left room, the trap is a call\n");
    constexpr std::uint16_t id = 1;
    if (plant(session, id, 0) != 0)
        throw Error("vfs_read's entry could not be trapped");
    const SiteBytes site = session.site(id);
    show("before:", site.address, site.before);
    show("trap set:", site.address, site.now);
    if (site.restored())
        throw Error("the trap is not to be seen in the kernel's text");
    lift(session, id);
}

int trace() {
    const char* command =
        "trapline trace vfs_read -- dd if=/proc/version of=/dev/null bs=64 count=3";
    tell("\n3. The same by the tool, at both ends of the call: a kretprobe swaps the return\n"
         "   address for a trampoline, so what came back and how long it took is known too\n");
    fmt::print("    # {}\n", command);
    std::fflush(stdout);
    const int status = std::system(
        (std::string(command) + " 2>&1").c_str()); // NOLINT(cert-env33-c,concurrency-mt-unsafe)
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int lesson() {
    utsname kernel{};
    uname(&kernel);
    fmt::print("A stock kernel: {}. Nothing was recompiled, nothing rebooted for this.\n",
               kernel.release);
    Session session;
    session.configure({});
    breakpoint(session);
    entry(session);
    const int status = trace();
    tell("\n   A line: who (task-tid), where ([cpu] and its context), when (seconds since boot),\n"
         "   what was asked (arguments), what came back, and how long it took.");
    tell("\n4. Afterwards: the function as it was");
    constexpr std::uint16_t id = 100;
    if (plant(session, id, 0) != 0)
        throw Error("vfs_read's entry could not be trapped again");
    show("as found once more:", session.site(id).address, session.site(id).before);
    lift(session, id);
    return status;
}

} // namespace

int main() {
    try {
        return lesson();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "demo: %s\n", error.what());
        return 1;
    }
}
