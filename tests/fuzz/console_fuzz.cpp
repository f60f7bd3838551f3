// SPDX-License-Identifier: GPL-2.0
// A kernel's log, whatever it is: what is found in it is used as `trapline report` does, and
// gives events that are what their layouts say. See console_input.h for the input.
#include <string>
#include <string_view>

#include "console_input.h"
#include "fuzz.h"
#include "recording/console_reader.h"
#include "touch.h"
#include "trace/fields.h"

using namespace trapline;
using namespace trapline::fuzz;

namespace {

ConsoleLog parse(const std::string& log) {
    ConsoleLogParser parser;
    const std::size_t half = log.size() / 2;
    parser.add(std::string_view(log).substr(0, half));
    parser.add(std::string_view(log).substr(half));
    return parser.finish();
}

void read(ConsoleDump dump) {
    const std::size_t items = dump.items.size();
    std::size_t damage = 0;
    ConsoleReader reader("log", std::move(dump),
                         [&](const std::string& text) { damage += text.starts_with("log: "); });
    FieldValues values;
    volatile unsigned touched = 0;
    std::uint64_t newest = 0;
    std::size_t events = 0;
    while (const Event* event = reader.next()) {
        MUST(event->ticks >= newest);
        newest = event->ticks;
        MUST(event->cpu < trace_cpus_max);
        MUST(reader.layout(event->id) != nullptr);
        MUST(decode_fields(*reader.layout(event->id), event->fields, values));
        for (const auto* side : {&values.entry, &values.ret}) {
            for (const FieldValue& value : *side)
                touched = touched + touch(value);
        }
        touched = touched + static_cast<unsigned>(reader.clock().to_realtime_ns(event->ticks));
        events++;
    }
    MUST(reader.next() == nullptr);
    MUST(events <= items);
    MUST(reader.damaged() == (damage != 0));
    MUST(reader.notes().empty() || reader.notes().ends_with('\n'));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
    if (data[0] == as_items) {
        read(items_in(input));
        return 0;
    }
    const ConsoleLog log = parse(with_sums(input));
    for (const ConsoleDump& dump : log.dumps) {
        MUST(dump.lost < dump.lines);
        MUST(dump.items.size() <= dump.lines - dump.lost);
        read(dump);
    }
    return 0;
}
