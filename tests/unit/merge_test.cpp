// SPDX-License-Identifier: GPL-2.0
// Merging rings against std::stable_sort.
#include "trace/merge.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

#include "util/error.h"

namespace trapline {
namespace {

// An event as the tests tell it apart: tid numbers them in order of arrival.
struct Seen {
    std::uint64_t ticks;
    std::uint32_t cpu;
    std::uint32_t number;
    bool straggler = false;

    bool operator==(const Seen&) const = default;
};

Seen seen(const Event& event) {
    return {event.ticks, event.cpu, event.tid, event.straggler};
}

class Source {
public:
    Batch batch(std::uint32_t cpu, const std::vector<std::uint64_t>& times) {
        Batch out;
        for (const std::uint64_t time : times) {
            Event event;
            event.ticks = time;
            event.cpu = cpu;
            event.tid = next_++;
            out.events.push_back(event);
        }
        return out;
    }

private:
    std::uint32_t next_ = 0;
};

std::vector<Seen> pop(Merger& merger, std::uint64_t ticks) {
    std::vector<Seen> out;
    merger.pop_until(ticks, [&](const Event& event) { out.push_back(seen(event)); });
    return out;
}

std::vector<Seen> flush(Merger& merger) {
    std::vector<Seen> out;
    merger.flush([&](const Event& event) { out.push_back(seen(event)); });
    return out;
}

TEST(Merger, NothingInNothingOut) {
    Merger merger(4);
    EXPECT_TRUE(pop(merger, ~0ULL).empty());
    EXPECT_TRUE(flush(merger).empty());
    merger.push(0, Batch());
    EXPECT_TRUE(flush(merger).empty());
    EXPECT_EQ(merger.queued_bytes(), 0U);
    Merger none(0);
    EXPECT_TRUE(flush(none).empty());
}

TEST(Merger, OnlyWhatIsOlderThanTheLimit) {
    Merger merger(2);
    Source source;
    merger.push(0, source.batch(0, {10, 20, 30}));
    merger.push(1, source.batch(1, {15, 20, 25}));
    EXPECT_TRUE(pop(merger, 10).empty());
    EXPECT_EQ(pop(merger, 20), (std::vector<Seen>{{10, 0, 0}, {15, 1, 3}}));
    EXPECT_EQ(pop(merger, 21), (std::vector<Seen>{{20, 0, 1}, {20, 1, 4}}));
    EXPECT_EQ(merger.queued_events(), 2U);
    EXPECT_EQ(flush(merger), (std::vector<Seen>{{25, 1, 5}, {30, 0, 2}}));
    EXPECT_EQ(merger.queued_events(), 0U);
    EXPECT_EQ(merger.stragglers(), 0U);
}

TEST(Merger, FlushHandsOutTheLatestTimeThereIs) {
    Merger merger(1);
    Source source;
    merger.push(0, source.batch(0, {~0ULL}));
    EXPECT_TRUE(pop(merger, ~0ULL).empty());
    EXPECT_EQ(flush(merger).size(), 1U);
}

TEST(Merger, TiesGoByCpuThenByArrival) {
    Merger merger(3);
    Source source;
    merger.push(2, source.batch(2, {5, 5}));
    merger.push(0, source.batch(0, {5}));
    merger.push(1, source.batch(1, {5, 5}));
    merger.push(0, source.batch(0, {5}));
    EXPECT_EQ(
        flush(merger),
        (std::vector<Seen>{{5, 0, 2}, {5, 0, 5}, {5, 1, 3}, {5, 1, 4}, {5, 2, 0}, {5, 2, 1}}));
}

TEST(Merger, StragglersComeAtOnceMarkedAndCounted) {
    Merger merger(2);
    Source source;
    merger.push(0, source.batch(0, {10, 50}));
    EXPECT_EQ(pop(merger, 60).size(), 2U);
    merger.push(1, source.batch(1, {40, 45, 50, 55}));
    // Even with a limit below: their place has gone by. The one at 50 is in time still.
    EXPECT_EQ(pop(merger, 20), (std::vector<Seen>{{40, 1, 2, true}, {45, 1, 3, true}}));
    EXPECT_EQ(pop(merger, 60), (std::vector<Seen>{{50, 1, 4}, {55, 1, 5}}));
    EXPECT_EQ(merger.stragglers(), 2U);
    merger.push(0, source.batch(0, {54, 56}));
    EXPECT_EQ(flush(merger), (std::vector<Seen>{{54, 0, 6, true}, {56, 0, 7}}));
    EXPECT_EQ(merger.stragglers(), 3U);
}

TEST(Merger, ARingWhoseTimeGoesBackIsAnError) {
    Merger merger(2);
    Source source;
    EXPECT_THROW(merger.push(0, source.batch(0, {5, 4})), Error);
    merger.push(0, source.batch(0, {5, 9}));
    EXPECT_EQ(flush(merger).size(), 2U);
    try {
        merger.push(0, source.batch(0, {8}));
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "the ring of CPU 0 contradicts itself: time 8 comes after 9");
    }
    EXPECT_NO_THROW(merger.push(0, source.batch(0, {9})));
    EXPECT_THROW(merger.push(2, source.batch(2, {1})), Error);
}

TEST(Merger, AccountsForTheMemoryItHolds) {
    Merger merger(2);
    Source source;
    const std::vector<std::byte> bytes(10000);
    for (std::uint32_t cpu = 0; cpu < 2; cpu++) {
        Batch batch = source.batch(cpu, {1, 2, 3});
        batch.append(bytes);
        merger.push(cpu, std::move(batch));
    }
    EXPECT_GE(merger.queued_bytes(), 20000 + 6 * sizeof(Event));
    const std::size_t both = merger.queued_bytes();
    pop(merger, 3);
    EXPECT_EQ(merger.queued_bytes(), both) << "a batch goes as a whole";
    merger.pop_until(4, [&](const Event& event) {
        EXPECT_EQ(merger.queued_bytes(), event.cpu == 0 ? both : both / 2);
    });
    EXPECT_EQ(merger.queued_bytes(), 0U);
}

TEST(Merger, SparesAreEmptyAndKeepTheirMemory) {
    Merger merger(1);
    Source source;
    EXPECT_EQ(merger.spare().footprint(), 0U);
    Batch batch = source.batch(0, {1, 2});
    batch.append(std::vector<std::byte>(1000));
    const std::size_t held = batch.footprint();
    merger.push(0, std::move(batch));
    flush(merger);
    const Batch spare = merger.spare();
    EXPECT_TRUE(spare.empty());
    EXPECT_TRUE(spare.bytes.empty());
    EXPECT_EQ(spare.footprint(), held);
    EXPECT_EQ(merger.spare().footprint(), 0U);
}

TEST(Merger, KeepsSparesWithinLimits) {
    Merger merger(1);
    Source source;
    for (std::uint64_t i = 0; i < 100; i++) {
        Batch batch = source.batch(0, {i});
        batch.append(std::vector<std::byte>(1 << 20));
        merger.push(0, std::move(batch));
    }
    flush(merger);
    std::size_t kept = 0;
    for (int i = 0; i < 100; i++)
        kept += merger.spare().footprint();
    EXPECT_GT(kept, 8U << 20);
    EXPECT_LE(kept, 16U << 20);
}

TEST(Merger, EventsAreIntactWhileTheyAreVisited) {
    Merger merger(1);
    Source source;
    Batch batch = source.batch(0, {1});
    const std::vector<std::byte> bytes(64, std::byte{7});
    batch.events[0].fields = batch.append(bytes);
    merger.push(0, std::move(batch));
    int visits = 0;
    merger.flush([&](const Event& event) {
        visits++;
        EXPECT_TRUE(std::equal(event.fields.begin(), event.fields.end(), bytes.begin()));
        EXPECT_EQ(event.fields.size(), bytes.size());
    });
    EXPECT_EQ(visits, 1);
}

TEST(Merger, SurvivesAVisitorThatThrowsOrPushes) {
    Merger merger(2);
    Source source;
    merger.push(0, source.batch(0, {1, 2, 3}));
    EXPECT_THROW(merger.flush([](const Event&) { throw Error("enough"); }), Error);
    EXPECT_EQ(flush(merger), (std::vector<Seen>{{2, 0, 1}, {3, 0, 2}}));

    merger.push(0, source.batch(0, {10, 11}));
    std::vector<Seen> order;
    bool pushed = false;
    merger.flush([&](const Event& event) {
        order.push_back(seen(event));
        if (!pushed) {
            pushed = true;
            merger.push(1, source.batch(1, {10}));
        }
    });
    EXPECT_EQ(order, (std::vector<Seen>{{10, 0, 3}, {10, 1, 5}, {11, 0, 4}}));
}

// What is pushed then may be older than what is being visited, which must not be mixed up.
TEST(Merger, SurvivesAVisitorThatPushesAStraggler) {
    Merger merger(2);
    Source source;
    merger.push(0, source.batch(0, {10, 11}));
    std::vector<Seen> order;
    merger.flush([&](const Event& event) {
        order.push_back(seen(event));
        if (order.size() == 1)
            merger.push(1, source.batch(1, {9}));
    });
    EXPECT_EQ(order, (std::vector<Seen>{{10, 0, 0}, {9, 1, 2, true}, {11, 0, 1}}));
}

// Rings are drained at random after syncs that prove everything older than T visible: what
// comes out is what a stable sort of everything says, without a straggler.
TEST(Merger, RandomStreamsAgainstStableSort) {
    for (const std::size_t rings : {1U, 2U, 3U, 8U, 64U}) {
        std::mt19937_64 random(rings);
        Merger merger(rings);
        Source source;
        std::vector<Seen> all;
        std::vector<Seen> out;
        std::uint64_t time = 0;
        for (int round = 0; round < 200; round++) {
            const std::uint64_t until = time + 1 + random() % 50;
            std::vector<std::vector<std::uint64_t>> times(rings);
            for (std::size_t i = random() % 100; i-- > 0;)
                times[random() % rings].push_back(time + random() % (until - time));
            for (std::size_t cpu = 0; cpu < rings; cpu++) {
                std::vector<std::uint64_t>& one = times[cpu];
                std::sort(one.begin(), one.end());
                // In one batch or in two.
                const std::size_t cut = one.empty() ? 0 : random() % one.size();
                const auto middle = one.begin() + static_cast<std::ptrdiff_t>(cut);
                for (const auto& part :
                     {std::vector(one.begin(), middle), std::vector(middle, one.end())}) {
                    Batch batch = source.batch(static_cast<std::uint32_t>(cpu), part);
                    for (const Event& event : batch.events)
                        all.push_back(seen(event));
                    merger.push(static_cast<std::uint32_t>(cpu), std::move(batch));
                }
            }
            time = until;
            // At times a sync is left out.
            if (random() % 3 != 0) {
                for (const Seen& one : pop(merger, time)) {
                    EXPECT_LT(one.ticks, time);
                    out.push_back(one);
                }
            }
        }
        for (const Seen& one : flush(merger))
            out.push_back(one);
        std::stable_sort(all.begin(), all.end(), [](const Seen& a, const Seen& b) {
            return std::tie(a.ticks, a.cpu) < std::tie(b.ticks, b.cpu);
        });
        EXPECT_EQ(out, all);
        EXPECT_EQ(merger.stragglers(), 0U);
        EXPECT_EQ(merger.queued_bytes(), 0U);
        EXPECT_EQ(merger.queued_events(), 0U);
    }
}

// With limits that prove nothing, everything still comes out once, and a straggler is marked
// exactly if something later went before it.
TEST(Merger, RandomLateStreams) {
    std::mt19937_64 random(7);
    Merger merger(4);
    Source source;
    std::vector<std::uint64_t> clocks(4);
    std::vector<Seen> out;
    std::size_t pushed = 0;
    for (int round = 0; round < 3000; round++) {
        const std::size_t cpu = random() % clocks.size();
        std::vector<std::uint64_t> times(random() % 5);
        for (std::uint64_t& time : times)
            time = clocks[cpu] += random() % 20;
        pushed += times.size();
        merger.push(static_cast<std::uint32_t>(cpu),
                    source.batch(static_cast<std::uint32_t>(cpu), times));
        if (random() % 2 == 0) {
            for (const Seen& one : pop(merger, clocks[random() % clocks.size()]))
                out.push_back(one);
        }
    }
    for (const Seen& one : flush(merger))
        out.push_back(one);
    ASSERT_EQ(out.size(), pushed);
    std::uint64_t newest = 0;
    std::uint64_t stragglers = 0;
    for (const Seen& one : out) {
        EXPECT_EQ(one.straggler, one.ticks < newest);
        stragglers += one.straggler ? 1 : 0;
        newest = std::max(newest, one.ticks);
    }
    EXPECT_EQ(merger.stragglers(), stragglers);
    EXPECT_GT(stragglers, 0U);
}

} // namespace
} // namespace trapline
