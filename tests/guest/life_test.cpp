// SPDX-License-Identifier: GPL-2.0
// Sessions and the module coming and going; the kernel's text before and after.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "machine.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

// 0 or an errno.
int unload() {
    return syscall(SYS_delete_module, "trapline", O_NONBLOCK) == 0 ? 0 : errno;
}

bool load() {
    return std::system("modprobe trapline") == 0; // NOLINT(cert-env33-c,concurrency-mt-unsafe)
}

TEST(Life, KilledAtAnyMomentASessionLeavesNothingBehind) {
    ASSERT_TRUE(none_planted());
    const std::vector<ProbeRequest> requests = many_probes(300);
    ASSERT_EQ(requests.size(), 300U);
    std::mt19937 random(static_cast<unsigned>(getpid()) ^ static_cast<unsigned>(time(nullptr)));
    for (int turn = 0; turn < 24; turn++) {
        Gate begun;
        // Killed while it sets up, while it plants many, or while it traces.
        Child child([&] {
            if (turn % 3 == 0)
                begun.give();
            Traced traced;
            const Program program = store_args({0, 1, 2});
            traced.add(call_or_entry_of(1, "vfs_write", program));
            traced.add(entry_of(2, "write_null"));
            if (turn % 3 == 2) {
                traced.start();
                begun.give();
                NullWriter writer;
                for (;;) {
                    writer.write(10);
                    traced.drain(4096);
                    traced.session().sync();
                }
            }
            if (turn % 3 == 1)
                begun.give();
            traced.session().add_probes(requests);
            pause();
            return 0;
        });
        begun.take();
        const unsigned delay = random() % 30'000;
        usleep(delay);
        EXPECT_EQ(child.kill(SIGKILL), 128 + SIGKILL);
        EXPECT_TRUE(none_planted()) << "killed after " << delay << " us of phase " << turn % 3;
    }
    ASSERT_EQ(unload(), 0);
    EXPECT_NE(access("/dev/trapline", F_OK), 0);
    ASSERT_TRUE(load());
}

TEST(Life, TheModuleStaysWhileASessionIsOpen) {
    {
        Session session;
        EXPECT_EQ(unload(), EWOULDBLOCK);
        SessionConfig config;
        config.ring_size = TRAPLINE_RING_MIN;
        session.configure(config);
        EXPECT_EQ(unload(), EWOULDBLOCK);
    }
    ASSERT_EQ(unload(), 0);
    ASSERT_TRUE(load());
}

TEST(Life, TheModuleAndTheProbesStayWhileAMappingIsLeft) {
    void* page = nullptr;
    {
        SessionConfig config;
        config.ring_size = TRAPLINE_RING_MIN;
        Session session;
        session.configure(config);
        const ProbeRequest request = entry_of(1, "write_null");
        ASSERT_EQ(session.add_probes({&request, 1}).front().error, 0);
        page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, session.fd(), 0);
        ASSERT_NE(page, MAP_FAILED);
        session.start();
    }
    EXPECT_EQ(unload(), EWOULDBLOCK);
    EXPECT_EQ(planted().size(), 1U);
    NullWriter writer;
    writer.write(10);
    munmap(page, 4096);
    EXPECT_TRUE(none_planted());
    ASSERT_EQ(unload(), 0);
    ASSERT_TRUE(load());
}

TEST(Life, ADescriptorPassedOnKeepsTheSession) {
    Gate go;
    auto* session = new Session; // NOLINT(cppcoreguidelines-owning-memory)
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    session->configure(config);
    const ProbeRequest request = entry_of(1, "write_null");
    ASSERT_EQ(session->add_probes({&request, 1}).front().error, 0);
    Child child([&] {
        go.take();
        return 0;
    });
    delete session; // NOLINT(cppcoreguidelines-owning-memory)
    EXPECT_EQ(planted().size(), 1U);
    go.give();
    child.wait();
    EXPECT_TRUE(none_planted());
}

const char* technique(const SiteBytes& site) {
    switch (technique_of(site.now)) {
    case Technique::breakpoint:
        return "breakpoint";
    case Technique::call:
        return "ftrace call";
    case Technique::jump:
        return "jump";
    case Technique::none:
        break;
    }
    return "unknown";
}

TEST(Site, BytesChangeWhilePlantedAndAreBackWithinASecond) {
    Traced traced;
    traced.add(entry_of(1, "write_null"));
    traced.add(call_or_entry_of(2, "eventfd_read"));
    ProbeRequest inside = entry_of(3, "vfs_write");
    const unsigned behind = behind_entry("vfs_write");
    inside.offset = behind;
    traced.add(inside);
    for (std::uint16_t id = 1; id <= 3; id++) {
        SCOPED_TRACE(id);
        const SiteBytes site = traced.session().site(id);
        const std::string names[] = {"", "write_null", "eventfd_read", "vfs_write"};
        EXPECT_EQ(traced.session().probes().at(id - 1).address,
                  address_of(names[id]) + (id == 3 ? behind : 0));
        EXPECT_EQ(site.address, address_of(names[id]) + (id == 3 ? behind : entry_offset()));
        ASSERT_EQ(site.before.size(), std::size_t{TRAPLINE_SITE_BYTES});
        ASSERT_EQ(site.now.size(), std::size_t{TRAPLINE_SITE_BYTES});
        EXPECT_FALSE(site.restored());
        const Technique found = technique_of(site.now);
        if (id == 3 || !entries_by_ftrace()) { // a breakpoint, a jump in a while
            EXPECT_TRUE(found == Technique::breakpoint ||
                        (makes_jumps && found == Technique::jump));
        } else { // the call to ftrace
            EXPECT_EQ(found, Technique::call);
            const auto before = static_cast<unsigned>(site.before[0]); // a nop of 5 bytes
            EXPECT_TRUE(before == 0x0f || before == 0x66) << before;
        }
    }
    EXPECT_TRUE(
        !makes_jumps ||
        wait_for([&] { return technique_of(traced.session().site(3).now) == Technique::jump; },
                 3000))
        << "the kernel makes a jump of it";
    // For the table of kernels.
    std::printf("technique: entry %s at +%u, inside %s, return %s\n",
                technique(traced.session().site(1)), entry_offset(),
                technique(traced.session().site(3)),
                !traps_returns()                        ? "none"
                : kernel_has("arch_rethook_trampoline") ? "rethook"
                                                        : "kretprobe trampoline");
    for (std::uint16_t id = 1; id <= 3; id++) {
        traced.session().delete_probe(id);
        EXPECT_TRUE(wait_for([&] { return traced.session().site(id).restored(); }, 1000)) << id;
        EXPECT_EQ(planted().size(), 3U - id);
    }
    for (const ProbeReport& report : traced.session().probes())
        EXPECT_TRUE(report.lifted);
}

TEST(Site, OfAProbeIsBackThoughItsSessionIsOpenAndStarted) {
    Traced traced;
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    NullWriter writer;
    writer.write(10);
    traced.session().delete_probe();
    writer.write(10);
    EXPECT_TRUE(wait_for([&] { return traced.session().site(1).restored(); }, 1000));
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, 10U);
    // The id is used up.
    const ProbeRequest again = entry_of(1, "write_null");
    EXPECT_EQ(traced.session().add_probes({&again, 1}).front().error, EEXIST);
}

} // namespace
