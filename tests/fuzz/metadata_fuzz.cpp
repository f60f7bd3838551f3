// SPDX-License-Identifier: GPL-2.0
// A metadata file's text, whatever it is: what is taken for a description is safe to use, and
// comes back the same from a description of it.
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "ring/decoder.h"
#include "trace/clock.h"
#include "trace/ctf_metadata.h"
#include "util/error.h"

using namespace trapline;

namespace {

// What those do who have a description: none of it may throw.
void use(const TraceDescription& description) {
    const ClockDescription& clock = description.clock;
    std::optional<ClockAnchor> stop;
    if (description.totals)
        stop = description.totals->stop;
    const ClockConversion conversion(clock.hz, clock.anchor.value_or(ClockAnchor{}), stop);
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}})
        MUST(conversion.to_monotonic_ns(ticks) <= conversion.to_monotonic_ns(~std::uint64_t{0}));
    const RecordDecoder decoder(0, description.layouts);

    std::vector<bool> planted(TL_ID_MAX + 1);
    for (const EventLayout& layout : description.layouts)
        planted.at(layout.id) = true;
#ifdef TL_PLANTED_BUG
    const std::vector<char> table(8); // enough for the ids of all seeds
    for (const EventLayout& layout : description.layouts)
        MUST(table.data()[layout.id] == 0);
#endif
    for (const ProbeDescription& probe : description.probes)
        MUST(planted.at(probe.id));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    TraceDescription description;
    try {
        description = description_in_metadata(text);
    } catch (const Error& error) {
        MUST(*error.what() != '\0');
        return 0;
    }
    use(description);
    const std::string again = ctf_metadata(description);
    MUST(is_our_metadata(again));
    MUST(description_json(description_in_metadata(again)) == description_json(description));
    return 0;
}
