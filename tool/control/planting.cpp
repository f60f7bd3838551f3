// SPDX-License-Identifier: GPL-2.0
// Planting many probes with few messages.
#include "control/planting.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "util/error.h"

namespace trapline {

namespace {

// Notes a verdict with the first of the waiting probes that it can be meant for.
void settle(std::vector<std::size_t>& waiting, std::size_t offered,
            std::span<const ProbeRequest> probes, Verdict&& verdict,
            std::vector<std::optional<Verdict>>& settled) {
    const auto end = waiting.begin() + static_cast<std::ptrdiff_t>(offered);
    const auto found = std::find_if(waiting.begin(), end, [&](std::size_t index) {
        return probes[index].event_id == verdict.event_id && !settled[index];
    });
    if (found == end)
        throw Error(fmt::format("the module's answer has a verdict on event id {}, which was not "
                                "asked for",
                                verdict.event_id));
    settled[*found] = std::move(verdict);
}

} // namespace

std::vector<Verdict> plant(std::span<const ProbeRequest> probes, const PlantMessage& message,
                           const PlantProgress& progress) {
    std::vector<std::optional<Verdict>> settled(probes.size());
    std::vector<std::size_t> waiting(probes.size());
    for (std::size_t i = 0; i < waiting.size(); i++)
        waiting[i] = i;

    while (!waiting.empty()) {
        const std::size_t offered = std::min<std::size_t>(waiting.size(), TRAPLINE_BATCH_MAX);
        std::vector<const ProbeRequest*> batch(offered);
        for (std::size_t i = 0; i < offered; i++)
            batch[i] = &probes[waiting[i]];

        std::vector<Verdict> verdicts = message(batch);
        if (verdicts.empty())
            throw Error(fmt::format("cannot plant probes: the module answered without a verdict "
                                    "on any of {}",
                                    offered),
                        "the module and this tool don't fit together: reload the module: sudo "
                        "rmmod trapline && sudo modprobe trapline");
        for (Verdict& verdict : verdicts)
            settle(waiting, offered, probes, std::move(verdict), settled);
        std::erase_if(waiting, [&](std::size_t index) { return settled[index].has_value(); });

        if (progress && !progress(probes.size() - waiting.size(), probes.size()))
            break;
    }

    std::vector<Verdict> out;
    out.reserve(probes.size());
    for (std::optional<Verdict>& verdict : settled) {
        if (verdict)
            out.push_back(std::move(*verdict));
    }
    return out;
}

} // namespace trapline
