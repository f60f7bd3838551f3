// SPDX-License-Identifier: GPL-2.0
// The rings in the kernel: full, badly read, mapped.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <random>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "entry.h"
#include "guest.h"
#include "machine.h"
#include "shared/order.h"
#include "workload.h"

using namespace trapline;
using namespace trapline::guest;

namespace {

const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));

SessionConfig small_rings() {
    SessionConfig config;
    config.ring_size = TRAPLINE_RING_MIN;
    return config;
}

// 100,000 calls, from a thread on each CPU; `meanwhile` runs until they are made.
std::vector<Worker> burst(const std::function<void()>& meanwhile) {
    std::vector<Worker> workers(online_cpus());
    std::vector<std::thread> threads;
    std::atomic<unsigned> running{online_cpus()};
    for (unsigned cpu = 0; cpu < workers.size(); cpu++) {
        threads.emplace_back([&, cpu] {
            pin(cpu);
            NullWriter writer;
            writer.write(100'000 / static_cast<unsigned>(workers.size()));
            workers[cpu].tid = gettid();
            workers[cpu].calls = writer.calls();
            running--;
        });
    }
    while (running != 0)
        meanwhile();
    for (std::thread& thread : threads)
        thread.join();
    return workers;
}

// What is missing of the one thread that wrote into `ring` is missing between packets, as
// many calls as the packets' headers say.
void expect_gaps_as_counted(const Traced& traced, const Traced::Ring& ring, std::uint64_t calls) {
    SCOPED_TRACE("CPU " + std::to_string(ring.reader.cpu()));
    std::size_t at = 0;
    std::uint64_t number = 0;
    std::uint64_t discarded = 0;
    for (const Packet& packet : ring.packets) {
        number += packet.header.events_discarded - discarded;
        discarded = packet.header.events_discarded;
        for (std::uint64_t n = 0; n < packet.records; n++, at++) {
            number++;
            ASSERT_EQ(traced.fields(ring.batch.events.at(at)).entry.at(0).number, number);
        }
    }
    EXPECT_EQ(number + ring.reader.lost() - discarded, calls);
}

TEST(FullRing, WithoutAReaderKeepsTheBeginningAndCountsTheRest) {
    Traced traced(small_rings());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    const std::vector<Worker> workers = burst([] { usleep(10'000); });
    traced.stop();
    for (const Traced::Ring& ring : traced.rings())
        EXPECT_LE(ring.reader.unread(), TRAPLINE_RING_MIN);
    traced.drain();
    traced.expect_exact();
    const trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.hits, 100'000U);
    EXPECT_GT(counts.lost_full, 0U);
    EXPECT_EQ(counts.recorded + counts.lost_full, 100'000U);
    for (std::size_t cpu = 0; cpu < workers.size(); cpu++) {
        const Traced::Ring& ring = traced.rings()[cpu];
        EXPECT_EQ(ring.packets.size(), 4U);
        EXPECT_GT(ring.reader.written(), 1000U);
        EXPECT_EQ(ring.reader.written() + ring.reader.lost_full(), workers[cpu].calls);
        expect_gaps_as_counted(traced, ring, workers[cpu].calls);
    }
}

TEST(FullRing, WithASlowReaderSaysWhereHowManyAreMissing) {
    Traced traced(small_rings());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    // However fast the rings fill, it comes too late: once something is lost again.
    std::uint64_t lost = 0;
    const std::vector<Worker> workers = burst([&] {
        std::uint64_t now = 0;
        for (const Traced::Ring& ring : traced.rings())
            now += ring.reader.lost_full();
        if (now > lost)
            traced.drain(1);
        else
            usleep(500);
        lost = now;
    });
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const trapline_counters counts = traced.counters();
    EXPECT_EQ(counts.hits, 100'000U);
    EXPECT_GT(counts.lost_full, 0U);
    for (std::size_t cpu = 0; cpu < workers.size(); cpu++) {
        EXPECT_GT(traced.rings()[cpu].packets.size(), 4U);
        expect_gaps_as_counted(traced, traced.rings()[cpu], workers[cpu].calls);
    }
}

TEST(FullRing, CallsAreRecordedOrLostNeverBoth) {
    Traced traced(small_rings());
    traced.add(call_of(1, "write_null", store_args({0, 1, 2})));
    traced.add(return_of(2, "write_null"));
    traced.start();
    const std::vector<Worker> workers = write_everywhere(2500);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    for (std::uint16_t id = 1; id <= 2; id++) {
        const trapline_counters counts = traced.counters(id);
        EXPECT_EQ(counts.hits, 2500U * workers.size());
        EXPECT_GT(counts.lost_full, 0U);
        EXPECT_EQ(counts.recorded + counts.lost_full, counts.hits);
    }
    // Once there is room again, it is used.
    traced.start();
    NullWriter writer;
    writer.write(10);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters(2).hits, 2500U * workers.size() + 10);
}

SessionConfig overwriting() {
    SessionConfig config = small_rings();
    config.overwrite = true;
    return config;
}

TEST(Overwrite, KeepsTheEndAndCountsTheRest) {
    Traced traced(overwriting());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.add(return_of(2, "write_null"));
    traced.start();
    short reported = 0;
    const std::vector<Worker> workers = burst([&] {
        reported |= polled(traced.session(), POLLIN | POLLPRI, 20);
        traced.session().sync();
    });
    EXPECT_EQ(reported, 0) << "nobody is to read here";
    EXPECT_TRUE(traced.session().sessions().back().overwrite);
    traced.stop();
    EXPECT_EQ(polled(traced.session(), POLLIN, 0), 0);
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.lost(), 0U);
    for (std::uint16_t id = 1; id <= 2; id++) {
        EXPECT_EQ(traced.counters(id).hits, 100'000U);
        EXPECT_EQ(traced.counters(id).recorded, 100'000U);
    }
    for (std::size_t cpu = 0; cpu < workers.size(); cpu++) {
        const Traced::Ring& ring = traced.rings()[cpu];
        SCOPED_TRACE(cpu);
        const tl_ring_control& control = *ring.mapping.memory().control;
        EXPECT_LE(control.head - control.floor, TRAPLINE_RING_MIN);
        EXPECT_GE(ring.packets.size(), 3U);
        EXPECT_EQ(ring.packets.front().header.first_event + ring.batch.events.size(),
                  2 * workers[cpu].calls);
        // The last calls, both records of each, one after the other.
        ASSERT_GT(ring.batch.events.size(), 1000U);
        std::uint64_t records = 2 * workers[cpu].calls;
        for (auto at = ring.batch.events.rbegin(); at != ring.batch.events.rend(); ++at) {
            ASSERT_EQ(at->id, records % 2 == 0 ? 2 : 1);
            const FieldValues values = traced.fields(*at);
            ASSERT_EQ((at->id == 1 ? values.entry : values.ret).at(0).number, (records + 1) / 2);
            records--;
        }
    }
    // A later run goes on behind it.
    traced.start();
    NullWriter writer;
    writer.write(10);
    traced.stop();
    traced.drain();
    traced.expect_exact();
    const std::vector<Event> events = traced.events(1);
    ASSERT_GT(events.size(), 10U);
    for (std::uint64_t n = 1; n <= 10; n++)
        EXPECT_EQ(traced.fields(events[events.size() - 11 + n]).entry.at(0).number, n);
}

TEST(Overwrite, TheTailIsNotLookedAt) {
    Traced traced(overwriting());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    for (Traced::Ring& ring : traced.rings())
        tl_store(&ring.mapping.memory().consumer->tail, ~std::uint64_t{0});
    NullWriter writer;
    writer.write(100);
    EXPECT_EQ(refusal([&] { traced.session().sync(); }).code, 0);
    writer.write(20'000);
    EXPECT_EQ(refusal([&] { traced.session().stop(); }).code, 0);
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, writer.calls());
    EXPECT_EQ(traced.lost(), 0U);
}

TEST(WakeChunks, OnlyAFinishedChunkWakes) {
    const Pinned here(0);
    SessionConfig config = small_rings();
    config.wake_chunks = true;
    Traced traced(config);
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    NullWriter writer;
    const Traced::Ring& ring = traced.rings()[0];
    const auto head = [&] { return tl_load(&ring.mapping.memory().control->head); };
    for (std::uint64_t chunk = 1; chunk <= 6; chunk++) {
        SCOPED_TRACE(chunk);
        writer.write(1);
        ASSERT_LT(head(), chunk * traced.geometry().chunk_size);
        EXPECT_EQ(polled(traced.session(), POLLIN, 60), 0);
        // While somebody waits: a little less than a chunk, and then the rest.
        std::atomic<short> reported{0};
        std::thread waiter([&] { reported = polled(traced.session(), POLLIN, 10'000); });
        while (head() + 200 < chunk * traced.geometry().chunk_size)
            writer.write(1);
        usleep(60'000);
        EXPECT_EQ(reported, 0);
        while (head() < chunk * traced.geometry().chunk_size)
            writer.write(1);
        waiter.join();
        EXPECT_EQ(reported, POLLIN);
        traced.drain();
        EXPECT_EQ(polled(traced.session(), POLLIN, 0), 0);
    }
    // STOP finishes every chunk.
    traced.stop();
    EXPECT_EQ(polled(traced.session(), POLLIN, 0), POLLIN);
    traced.drain();
    EXPECT_EQ(polled(traced.session(), POLLIN, 0), 0);
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, writer.calls());
    // One that isn't told so wakes for a single record.
    Traced eager(small_rings());
    eager.add(entry_of(1, "write_null"));
    eager.start();
    writer.write(1);
    EXPECT_EQ(polled(eager.session(), POLLIN, 10'000), POLLIN);
}

// Whatever a reader writes there, it loses its own records and nothing else.
TEST(Consumer, PageFullOfGarbageLosesOnlyThatSessionsRecords) {
    Traced good;
    good.add(entry_of(1, "write_null", store_args({2})));
    good.start();
    std::uint64_t calls = 0;
    {
        Traced bad(small_rings());
        bad.add(entry_of(1, "write_null", store_args({2})));
        bad.add(call_of(2, "write_null", store_args({0, 1, 2})));
        bad.start();
        std::atomic<bool> end{false};
        std::vector<tl_ring_consumer*> pages;
        std::vector<const tl_ring_control*> controls;
        for (const Traced::Ring& ring : bad.rings()) {
            pages.push_back(ring.mapping.memory().consumer);
            controls.push_back(ring.mapping.memory().control);
        }
        std::thread vandal([&] {
            std::mt19937_64 random(1);
            while (!end) {
                for (std::size_t cpu = 0; cpu < pages.size(); cpu++) {
                    const std::uint64_t head = tl_load(&controls[cpu]->head);
                    const std::uint64_t tails[] = {random(),
                                                   ~std::uint64_t{0},
                                                   0,
                                                   head + 1,
                                                   head + TRAPLINE_RING_MIN,
                                                   head - 2 * TRAPLINE_RING_MIN,
                                                   head - random() % TRAPLINE_RING_MIN};
                    tl_store(&pages[cpu]->tail, tails[random() % std::size(tails)]);
                    // The rest of the page is nobody's.
                    std::fill(reinterpret_cast<char*>(pages[cpu]) + sizeof(std::uint64_t),
                              reinterpret_cast<char*>(pages[cpu]) + page, char(random()));
                }
            }
        });
        for (const Worker& worker : write_everywhere(1500))
            calls += worker.calls;
        end = true;
        vandal.join();

        for (tl_ring_consumer* consumer : pages)
            tl_store(&consumer->tail, ~std::uint64_t{0});
        NullWriter writer;
        writer.write(1000);
        calls += 1000;
        Refusal refused = refusal([&] { bad.session().sync(); });
        EXPECT_EQ(refused.code, EBADMSG);
        EXPECT_NE(refused.text.find("consumer page"), std::string::npos);
        refused = refusal([&] { bad.session().stop(); });
        EXPECT_EQ(refused.code, EBADMSG);
        EXPECT_FALSE(refused.text.empty());
        writer.write(5); // it was stopped all the same
        EXPECT_EQ(refusal([&] { bad.session().stop(); }).code, EALREADY);
        for (std::uint16_t id = 1; id <= 2; id++) {
            const trapline_counters counts = bad.counters(id);
            EXPECT_EQ(counts.hits, calls);
            EXPECT_EQ(counts.recorded + counts.lost_full, calls);
            EXPECT_EQ(counts.lost_nested, 0U);
        }
        EXPECT_EQ(bad.written() + bad.lost(), 2 * calls);
        calls += 5;

        // With the tail where it belongs, the ring works again.
        for (std::size_t cpu = 0; cpu < pages.size(); cpu++)
            tl_store(&pages[cpu]->tail, tl_load(&controls[cpu]->head));
        const std::uint64_t before = bad.counters().recorded;
        bad.session().start();
        writer.write(10);
        calls += 10;
        bad.session().stop();
        EXPECT_EQ(bad.counters().recorded, before + 10);
    }
    good.stop();
    good.drain();
    good.expect_exact();
    EXPECT_EQ(good.counters().recorded, calls);
}

TEST(Consumer, EveryPositionOutsideOfTheRingIsToldOf) {
    Traced traced(small_rings());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.start();
    std::uint64_t calls = 0;
    for (const Worker& worker : write_everywhere(10))
        calls += worker.calls;
    const RingMemory memory = traced.rings().back().mapping.memory();
    const std::uint64_t head = tl_load(&memory.control->head);
    ASSERT_LT(head, TRAPLINE_RING_MIN);
    for (const std::uint64_t tail :
         {~std::uint64_t{0}, ~std::uint64_t{0} - 4096, std::uint64_t{1} << 63, head + 1,
          head + 4096, head + TRAPLINE_RING_MIN, head - TRAPLINE_RING_MIN - 1}) {
        SCOPED_TRACE(tail);
        tl_store(&memory.consumer->tail, tail);
        const Refusal refused = refusal([&] { traced.session().sync(); });
        EXPECT_EQ(refused.code, EBADMSG);
        EXPECT_NE(refused.text.find("consumer page"), std::string::npos);
    }
    for (const std::uint64_t tail : {head, std::uint64_t{0}}) {
        tl_store(&memory.consumer->tail, tail);
        EXPECT_EQ(refusal([&] { traced.session().sync(); }).code, 0);
    }
    traced.stop();
    traced.drain();
    traced.expect_exact();
    EXPECT_EQ(traced.counters().recorded, calls);
}

class MappingTest : public testing::Test {
protected:
    // Some pages, however large these are.
    static inline const std::uint64_t size = std::max<std::uint64_t>(TRAPLINE_RING_MIN, 4 * page);

    // 0, or why not.
    int map(std::size_t length, int protection, int flags, std::uint64_t offset) {
        void* at =
            mmap(nullptr, length, protection, flags, session_.fd(), static_cast<off_t>(offset));
        if (at == MAP_FAILED)
            return errno;
        munmap(at, length);
        return 0;
    }

    void configure() {
        SessionConfig config;
        config.ring_size = size;
        session_.configure(config);
    }

    Session session_;
};

constexpr int rw = PROT_READ | PROT_WRITE;

TEST_F(MappingTest, IsRefusedBeforeTheSessionIsConfigured) {
    EXPECT_EQ(map(page, rw, MAP_SHARED, 0), EINVAL);
    EXPECT_EQ(map(page + size, PROT_READ, MAP_SHARED, page), EINVAL);
}

TEST_F(MappingTest, IsWholeOrRefused) {
    configure();
    EXPECT_EQ(map(page, rw, MAP_SHARED, 0), 0);
    EXPECT_EQ(map(page + size, PROT_READ, MAP_SHARED, page), 0);
    EXPECT_EQ(map(page + size, PROT_NONE, MAP_SHARED, page), EACCES);
    for (const std::size_t length : {page, size, page + size / 2, 2 * page + size, 2 * size})
        EXPECT_EQ(map(length, PROT_READ, MAP_SHARED, page), EINVAL) << length;
    EXPECT_EQ(map(2 * page, rw, MAP_SHARED, 0), EINVAL);
    EXPECT_EQ(map(2 * page + size, rw, MAP_SHARED, 0), EINVAL);
    for (const std::uint64_t offset : {std::uint64_t{2 * page}, std::uint64_t{page + size},
                                       std::uint64_t{TRAPLINE_MMAP_STRIDE - page}})
        for (const std::size_t length : {page, size, page + size})
            EXPECT_EQ(map(length, PROT_READ, MAP_SHARED, offset), EINVAL) << offset;
}

TEST_F(MappingTest, HasTheProtectionItMustOrIsRefused) {
    configure();
    EXPECT_EQ(map(page, PROT_READ, MAP_SHARED, 0), EACCES);
    EXPECT_EQ(map(page, PROT_WRITE, MAP_SHARED, 0), EACCES);
    EXPECT_EQ(map(page, rw | PROT_EXEC, MAP_SHARED, 0), EACCES);
    EXPECT_EQ(map(page, rw, MAP_PRIVATE, 0), EACCES);
    EXPECT_EQ(map(page + size, rw, MAP_SHARED, page), EACCES);
    EXPECT_EQ(map(page + size, PROT_WRITE, MAP_SHARED, page), EACCES);
    EXPECT_EQ(map(page + size, PROT_READ | PROT_EXEC, MAP_SHARED, page), EACCES);
    EXPECT_EQ(map(page + size, PROT_READ, MAP_PRIVATE, page), EACCES);
}

TEST_F(MappingTest, IsOfACpuThatIsThere) {
    configure();
    const std::uint32_t cpus = session_.info().cpus;
    EXPECT_EQ(map(page, rw, MAP_SHARED, (cpus - 1) * TRAPLINE_MMAP_STRIDE), 0);
    for (const std::uint64_t cpu :
         {std::uint64_t{cpus}, std::uint64_t{1000}, std::uint64_t{0x7fffffff}})
        EXPECT_EQ(map(page, rw, MAP_SHARED, cpu * TRAPLINE_MMAP_STRIDE), ENXIO) << cpu;
}

TEST_F(MappingTest, StaysReadOnlyAndInItsSize) {
    configure();
    void* ring =
        mmap(nullptr, page + size, PROT_READ, MAP_SHARED, session_.fd(), static_cast<off_t>(page));
    ASSERT_NE(ring, MAP_FAILED);
    EXPECT_EQ(mprotect(ring, page + size, rw), -1);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(mprotect(ring, page, PROT_READ | PROT_EXEC), -1);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(mremap(ring, page + size, 2 * (page + size), MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(errno, EFAULT);
    void* consumer = mmap(nullptr, page, rw, MAP_SHARED, session_.fd(), 0);
    ASSERT_NE(consumer, MAP_FAILED);
    EXPECT_EQ(mprotect(consumer, page, rw | PROT_EXEC), -1);
    EXPECT_EQ(errno, EACCES);
    EXPECT_EQ(mremap(consumer, page, 2 * page, MREMAP_MAYMOVE), MAP_FAILED);
    EXPECT_EQ(errno, EFAULT);

    // Nor does the kernel on our behalf.
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], "x", 1), 1);
    EXPECT_EQ(read(ends[0], ring, 1), -1);
    EXPECT_EQ(errno, EFAULT);
    close(ends[0]);
    close(ends[1]);
    munmap(ring, page + size);
    munmap(consumer, page);
}

TEST_F(MappingTest, IsNotInherited) {
    configure();
    void* ring =
        mmap(nullptr, page + size, PROT_READ, MAP_SHARED, session_.fd(), static_cast<off_t>(page));
    void* consumer = mmap(nullptr, page, rw, MAP_SHARED, session_.fd(), 0);
    ASSERT_NE(ring, MAP_FAILED);
    ASSERT_NE(consumer, MAP_FAILED);
    for (void* at : {ring, consumer}) {
        Child child([&] {
            std::signal(SIGSEGV, SIG_DFL);
            return *static_cast<volatile char*>(at) != 0 ? 1 : 2;
        });
        EXPECT_EQ(child.wait(), 128 + SIGSEGV);
    }
    munmap(ring, page + size);
    munmap(consumer, page);
}

TEST(MemoryImage, ControlPagesNameTheirOwnFrames) {
    Traced traced(small_rings());
    traced.add(entry_of(1, "write_null", store_args({2})));
    traced.session().metadata(std::string(40'000, 'x'));
    traced.start();
    NullWriter writer;
    writer.write(3);
    traced.stop();
    const UniqueFd pagemap(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(pagemap);
    std::uint64_t session = 0;
    std::vector<std::uint64_t> tops;
    for (const Traced::Ring& ring : traced.rings()) {
        const tl_ring_control& control = *ring.mapping.memory().control;
        std::uint64_t entry = 0;
        const auto at = reinterpret_cast<std::uint64_t>(&control) / page * sizeof(entry);
        ASSERT_EQ(pread(pagemap.get(), &entry, sizeof(entry), static_cast<off_t>(at)),
                  static_cast<ssize_t>(sizeof(entry)));
        ASSERT_NE(entry >> 63, 0U) << "not present";
        EXPECT_EQ(control.page.frame, entry & ((std::uint64_t{1} << 55) - 1));
        EXPECT_EQ(control.page.magic, TL_RING_MAGIC);
        EXPECT_EQ(control.page.version, std::uint32_t{TL_LAYOUT_VERSION});
        EXPECT_EQ(control.page.kind, std::uint32_t{TL_PAGE_RING});
        EXPECT_NE(control.page.session, 0U);
        EXPECT_TRUE(session == 0 || control.page.session == session);
        session = control.page.session;
        EXPECT_EQ(control.cpu, ring.reader.cpu());
        EXPECT_EQ(control.cpus, traced.geometry().cpus);
        EXPECT_EQ(control.size, TRAPLINE_RING_MIN);
        EXPECT_EQ(control.chunk_size, traced.geometry().chunk_size);
        EXPECT_EQ(control.page_size, page);
        EXPECT_EQ(control.frame_levels, 1U);
        EXPECT_EQ(control.clock_hz, traced.session().info().clock_hz);
        EXPECT_NE(control.metadata, 0U);
        tops.push_back(control.frames);
    }
    std::sort(tops.begin(), tops.end());
    EXPECT_EQ(std::unique(tops.begin(), tops.end()), tops.end());
}

} // namespace
