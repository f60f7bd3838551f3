// SPDX-License-Identifier: GPL-2.0
// A signal handler stands in for an interrupt: it comes in the middle of a record
// and wants to write one too. Every attempt is recorded whole, or counted.
#include "tests/model/test_ring.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <string>
#include <thread>

namespace {

constexpr __u32 handler_tid = 2;
constexpr __u32 main_tid = 1;
[[maybe_unused]] constexpr long long trap_flag = 0x100;

// What both contexts share. One numbers its attempts upwards from 0, the other
// has counters of its own, so none of this needs to be atomic.
struct Side {
    __u32 tried;
    __u32 recorded;
    __u32 nested;
    __u32 full;
};

struct Stage {
    tl_ring_writer* writer;
    __u64 now;
    Side main;
    Side handler;
    __u32 step; // signals since the record's begin
    __u32 nth;  // the one that counts,
    bool only;  // if so
};

Stage stage;

void attempt(Side* side, __u32 words, __u32 tid) {
    const Attempt a = {side->tried++, words, tid, stage.now++};
    const __u32 drop = write_record(stage.writer, a);

    side->recorded += drop == TL_DROP_NONE;
    side->nested += drop == TL_DROP_NESTED;
    side->full += drop == TL_DROP_FULL;
}

void interrupt(int, siginfo_t*, [[maybe_unused]] void* context) {
    if (stage.only && stage.step++ != stage.nth)
        return;
#ifdef __x86_64__
    if (stage.only) // no more steps
        static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~trap_flag;
#endif
    attempt(&stage.handler, 3, handler_tid);
}

class RingSignal : public testing::Test {
protected:
    void SetUp() override { stage = {}; }

    void install(int signal) {
        struct sigaction action = {};

        action.sa_sigaction = interrupt;
        action.sa_flags = SA_RESTART | SA_SIGINFO;
        ASSERT_EQ(sigaction(signal, &action, nullptr), 0);
    }

    void begin(TestRing& ring) {
        stage.writer = &ring.writer;
        stage.now = 1;
    }

    // Reads all there is: each context's records are whole and in its own order.
    void read(TestRing& ring) {
        const char* wrong = ring.drain(parser_, [&](const Seen& seen) -> const char* {
            const bool main = seen.tid == main_tid;
            __u32& next = main ? next_main_ : next_handler_;
            const __u16 skipped = static_cast<__u16>(seen.flags - static_cast<__u16>(next));

            next += skipped;
            const Attempt a = {next++, main ? main_words_ : 3, seen.tid, 0};
            (main ? read_main_ : read_handler_)++;
            return compare_fields(seen, a);
        });
        ASSERT_EQ(wrong, nullptr) << wrong;
    }

    // The exact equations, once nothing runs any more.
    void account(TestRing& ring) {
        read(ring);
        const Side& m = stage.main;
        const Side& h = stage.handler;
        EXPECT_EQ(m.tried, m.recorded + m.nested + m.full);
        EXPECT_EQ(h.tried, h.recorded + h.nested + h.full);
        EXPECT_EQ(m.nested, 0u); // the handler never stays inside
        EXPECT_EQ(ring.control.written, static_cast<__u64>(m.recorded) + h.recorded);
        EXPECT_EQ(ring.control.lost_nested, h.nested);
        EXPECT_EQ(ring.control.lost_full, static_cast<__u64>(m.full) + h.full);
        EXPECT_EQ(ring.control.lost_too_big, 0u);
        EXPECT_EQ(read_main_, m.recorded);
        EXPECT_EQ(read_handler_, h.recorded);
        EXPECT_EQ(ring.writer.writing, 0u);
        RecordProperty("attempts", std::to_string(m.tried + h.tried));
        RecordProperty("nested", std::to_string(h.nested));
    }

    __u32 main_words_ = 40;

private:
    Parser parser_;
    __u32 next_main_ = 0;
    __u32 next_handler_ = 0;
    __u64 read_main_ = 0;
    __u64 read_handler_ = 0;
};

double seconds() {
    timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST_F(RingSignal, TimerComesAnywhere) {
    TestRing ring(1 << 16, 1 << 14);
    const double begun = seconds();
    itimerval often = {{0, 20}, {0, 20}};
    const itimerval never = {};

    install(SIGALRM);
    begin(ring);
    ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
    for (__u32 i = 0; seconds() - begun < 3 && stage.handler.nested < 300; i++) {
        for (int k = 0; k < 50; k++)
            attempt(&stage.main, main_words_, main_tid);
        if (i % 4) // and sometimes it gets full
            read(ring);
    }
    ASSERT_EQ(setitimer(ITIMER_REAL, &never, nullptr), 0);
    signal(SIGALRM, SIG_DFL);
    account(ring);
    EXPECT_GT(stage.handler.nested, 0u) << "no signal came in the middle of a record";
    EXPECT_GT(stage.handler.recorded, 0u);
}

TEST_F(RingSignal, StormFromAnotherThread) {
    TestRing ring(1 << 16, 1 << 14);
    const pthread_t target = pthread_self();
    std::atomic<bool> stop = false;
    const double begun = seconds();

    install(SIGUSR1);
    begin(ring);
    std::thread storm([&] {
        sigset_t all;

        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        while (!stop) {
            pthread_kill(target, SIGUSR1);
            for (int i = 0; i < 200; i++)
                __asm__ volatile("" ::: "memory");
        }
    });
    while (seconds() - begun < 1 && stage.handler.tried < 20000) {
        for (int k = 0; k < 50; k++)
            attempt(&stage.main, main_words_, main_tid);
        read(ring);
    }
    stop = true;
    storm.join();
    signal(SIGUSR1, SIG_DFL);
    account(ring);
    EXPECT_GT(stage.handler.tried, 0u);
}

#ifdef __x86_64__

// Single steps: a signal after every instruction of the writer, so this tries each
// place that the compiled code has, on the fast path, the slow one and into new
// chunks. The intrinsics mind the red zone.
void attempt_in_steps() {
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | trap_flag);
    attempt(&stage.main, 5, main_tid);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~trap_flag);
}

TEST_F(RingSignal, ComesAfterEveryInstruction) {
    TestRing ring(1 << 16, 1 << 14);

    main_words_ = 5;
    install(SIGTRAP);
    begin(ring);
    for (int i = 0; i < 100; i++) {
        attempt_in_steps();
        if (i % 64 == 0)
            read(ring);
    }
    signal(SIGTRAP, SIG_DFL);
    account(ring);
    EXPECT_GT(stage.handler.nested, 1000u);
    EXPECT_GT(stage.handler.recorded, 1000u);
}

TEST_F(RingSignal, ComesOnceAfterTheNthInstruction) {
    TestRing ring(1 << 14, 1 << 12);

    main_words_ = 5;
    install(SIGTRAP);
    begin(ring);
    const auto prepare = {
        // The task is named: the fast path, while there is room.
        +[](TestRing&) { attempt(&stage.main, 5, main_tid); },
        // Another was named.
        +[](TestRing&) { attempt(&stage.handler, 3, handler_tid); },
        // A new chunk.
        +[](TestRing& r) { tl_ring_finish(&r.writer, stage.now); },
    };
    for (auto before : prepare) {
        __u32 steps = 0;

        stage.nth = 0;
        do {
            stage.only = false;
            before(ring);
            stage.only = true;
            stage.step = 0;
            attempt_in_steps();
            steps = stage.step;
            read(ring);
            ASSERT_LT(steps, 5000u);
        } while (steps == ++stage.nth); // it got that far
        EXPECT_GT(steps, 30u);
    }
    signal(SIGTRAP, SIG_DFL);
    account(ring);
    EXPECT_GT(stage.handler.nested, 50u);
    EXPECT_GT(stage.handler.recorded, 50u);
}

#endif

} // namespace
