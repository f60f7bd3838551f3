// SPDX-License-Identifier: GPL-2.0
// Where events are missing in a recorded stream, in words.
#include "report/losses.h"

#include <fmt/format.h>

namespace trapline {

namespace {

struct Cause {
    std::string_view name;
    std::uint64_t Gap::*count;
};

constexpr Cause causes[] = {{"dropped", &Gap::dropped}, {"overwritten", &Gap::overwritten}};

std::string counted(std::uint64_t count, std::string_view cause) {
    return fmt::format("{} event{} {}", count, count == 1 ? "" : "s", cause);
}

// A gap before the first event has no beginning.
std::string place(const Gap& gap, const ShownTime& time) {
    return gap.from == 0 ? fmt::format("before {}", time(gap.to))
                         : fmt::format("between {} and {}", time(gap.from), time(gap.to));
}

} // namespace

std::string gaps_text(std::uint32_t cpu, std::span<const Gap> gaps, const ShownTime& time) {
    std::string out;
    for (const Gap& gap : gaps)
        for (const Cause& cause : causes)
            if (const std::uint64_t count = gap.*cause.count; count != 0)
                out += fmt::format("CPU {}: {} {}\n", cpu, counted(count, cause.name),
                                   place(gap, time));
    return out;
}

std::string losses_text(std::uint32_t cpu, std::span<const Gap> gaps, const ShownTime& time) {
    std::string out;
    for (const Cause& cause : causes) {
        const Gap* first = nullptr;
        std::uint64_t events = 0;
        std::size_t places = 0;
        for (const Gap& gap : gaps) {
            if (gap.*cause.count == 0)
                continue;
            if (first == nullptr)
                first = &gap;
            events += gap.*cause.count;
            places++;
        }
        if (places == 1)
            out += fmt::format("CPU {}: {} {}\n", cpu, counted(events, cause.name),
                               place(*first, time));
        else if (places > 1)
            out += fmt::format("CPU {}: {} in {} places, first {}; --summary lists all\n", cpu,
                               counted(events, cause.name), places, place(*first, time));
    }
    return out;
}

} // namespace trapline
