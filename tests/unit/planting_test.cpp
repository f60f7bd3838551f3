// SPDX-License-Identifier: GPL-2.0
// Planting in batches, against modules that answer as they like.
#include "control/planting.h"

#include <gtest/gtest.h>

#include "util/error.h"

namespace trapline {
namespace {

std::vector<ProbeRequest> requests(std::size_t count) {
    std::vector<ProbeRequest> out(count);
    for (std::size_t i = 0; i < count; i++)
        out[i].event_id = static_cast<std::uint16_t>(i + 1);
    return out;
}

Verdict verdict(std::uint16_t id, int error = 0) {
    Verdict out;
    out.event_id = id;
    out.error = error;
    return out;
}

using Offered = std::span<const ProbeRequest* const>;

TEST(Planting, NoProbesNoMessage) {
    EXPECT_TRUE(
        plant({}, [](Offered) -> std::vector<Verdict> { throw Error("sent"); }, {}).empty());
}

TEST(Planting, InBatchesAndInOrder) {
    const auto probes = requests(1000);
    std::vector<std::size_t> sizes;
    std::vector<std::size_t> progress;
    const auto verdicts = plant(
        probes,
        [&](Offered offered) {
            sizes.push_back(offered.size());
            std::vector<Verdict> out;
            for (const ProbeRequest* probe : offered)
                out.push_back(verdict(probe->event_id, probe->event_id % 7 == 0 ? 2 : 0));
            return out;
        },
        [&](std::size_t done, std::size_t total) {
            EXPECT_EQ(total, 1000U);
            progress.push_back(done);
            return true;
        });
    EXPECT_EQ(sizes, (std::vector<std::size_t>{256, 256, 256, 232}));
    EXPECT_EQ(progress, (std::vector<std::size_t>{256, 512, 768, 1000}));
    ASSERT_EQ(verdicts.size(), 1000U);
    for (std::size_t i = 0; i < verdicts.size(); i++) {
        EXPECT_EQ(verdicts[i].event_id, i + 1);
        EXPECT_EQ(verdicts[i].error, (i + 1) % 7 == 0 ? 2 : 0);
    }
}

// The module stops after its 50 ms, wherever that is; what it did not look at comes again.
TEST(Planting, WhatHasNoVerdictIsSentAgain) {
    const auto probes = requests(600);
    std::vector<int> planted(601);
    std::size_t messages = 0;
    const auto verdicts = plant(probes,
                                [&](Offered offered) {
                                    std::vector<Verdict> out;
                                    // Every other one, backwards: nothing says that it is the first
                                    // ones.
                                    for (std::size_t i = offered.size(); i-- > 0;) {
                                        if (i % 2 == messages % 2 || offered.size() == 1) {
                                            planted[offered[i]->event_id]++;
                                            out.push_back(verdict(offered[i]->event_id));
                                        }
                                    }
                                    messages++;
                                    return out;
                                },
                                {});
    ASSERT_EQ(verdicts.size(), 600U);
    for (std::size_t id = 1; id <= 600; id++) {
        EXPECT_EQ(planted[id], 1);
        EXPECT_EQ(verdicts[id - 1].event_id, id);
    }
    EXPECT_GT(messages, 3U);
}

TEST(Planting, AReplyWithoutVerdictsIsAnErrorNotALoop) {
    const auto probes = requests(3);
    int messages = 0;
    EXPECT_THROW(plant(probes,
                       [&](Offered) {
                           messages++;
                           return messages == 1 ? std::vector<Verdict>{verdict(1)}
                                                : std::vector<Verdict>{};
                       },
                       {}),
                 Error);
    EXPECT_EQ(messages, 2);
}

TEST(Planting, AVerdictOnWhatWasNotAskedIsAnError) {
    const auto probes = requests(3);
    EXPECT_THROW(plant(probes, [](Offered) { return std::vector{verdict(4)}; }, {}), Error);
    EXPECT_THROW(plant(probes,
                       [](Offered) {
                           return std::vector{verdict(1), verdict(1)};
                       },
                       {}),
                 Error);
}

TEST(Planting, StopsWhenToldTo) {
    const auto probes = requests(1000);
    const auto verdicts = plant(
        probes,
        [](Offered offered) {
            std::vector<Verdict> out;
            for (const ProbeRequest* probe : offered.first(10))
                out.push_back(verdict(probe->event_id));
            return out;
        },
        [](std::size_t done, std::size_t) { return done < 20; });
    EXPECT_EQ(verdicts.size(), 20U);
}

// The user's mistake: the module refuses the second, and each verdict finds its probe.
TEST(Planting, TheSameIdTwice) {
    auto probes = requests(2);
    probes[1].event_id = 1;
    const auto verdicts = plant(probes,
                                [](Offered) {
                                    return std::vector{verdict(1), verdict(1, 17)};
                                },
                                {});
    ASSERT_EQ(verdicts.size(), 2U);
    EXPECT_EQ(verdicts[0].error, 0);
    EXPECT_EQ(verdicts[1].error, 17);
}

} // namespace
} // namespace trapline
