// SPDX-License-Identifier: GPL-2.0
// A stream's bytes, whatever they are: the reader gives events that are what their layouts say,
// in order, and nothing else. The input's first byte chooses the layouts.
#include <array>
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "recording/stream_reader.h"
#include "stream_layouts.h"
#include "touch.h"
#include "trace/fields.h"

using namespace trapline;

namespace {

// One for all inputs: making one takes longer than most of them.
UniqueFd stream_of(const std::uint8_t* data, std::size_t size) {
    static const UniqueFd file(memfd_create("stream", MFD_CLOEXEC));
    MUST(ftruncate(file.get(), 0) == 0);
    MUST(pwrite(file.get(), data, size, 0) == static_cast<ssize_t>(size));
    return UniqueFd(dup(file.get()));
}

const EventLayout& layout_of(const std::vector<EventLayout>& layouts, std::uint16_t id) {
    if (id == TL_ID_MARK)
        return mark_layout();
    for (const EventLayout& layout : layouts) {
        if (layout.id == id)
            return layout;
    }
    MUST(!"a layout for each event");
    return mark_layout();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto all_layouts = fuzz::stream_layouts();
    if (size == 0)
        return 0;
    const std::vector<EventLayout>& layouts = all_layouts[data[0] % all_layouts.size()];
    std::size_t damage = 0;
    StreamReader reader(stream_of(data + 1, size - 1), "stream", layouts,
                        [&](const std::string& text) { damage += text.empty() ? 0 : 1; });
    FieldValues values;
    volatile unsigned touched = 0;
    std::uint64_t newest = 0;
    std::size_t events = 0;
    while (const Event* event = reader.next()) {
        MUST(event->cpu == reader.cpu());
        MUST(event->straggler == (event->ticks < newest));
        newest = std::max(newest, event->ticks);
        MUST(decode_fields(layout_of(layouts, event->id), event->fields, values));
        for (const auto* side : {&values.entry, &values.ret}) {
            for (const FieldValue& value : *side)
                touched = touched + touch(value);
        }
        events++;
    }
    MUST(reader.next() == nullptr);
    MUST(reader.any() || (events == 0 && (damage != 0 || size == 1)));
    MUST(events * TL_COMPACT_SIZE < size);
    for (const Gap& gap : reader.gaps())
        MUST(gap.dropped != 0 || gap.overwritten != 0);
    return 0;
}
