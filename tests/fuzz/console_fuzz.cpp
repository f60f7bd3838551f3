// SPDX-License-Identifier: GPL-2.0
// A kernel's log, whatever it is: what is found in it is used as `trapline report` does, and
// gives events that are what their layouts say. The input's first byte chooses: a log, in which
// sums of dashes are made right ones; or the items of a dump, each behind its kind and length.
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "recording/console_reader.h"
#include "shared/console.h"
#include "touch.h"
#include "trace/fields.h"

using namespace trapline;

namespace {

// Who guesses sums finds nothing else.
std::string with_sums(std::string_view log) {
    constexpr std::string_view mark = TL_CONSOLE_MARK;
    constexpr std::string_view dashes = " --------";
    std::string out(log);
    for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) {
        at += mark.size();
        const std::size_t end = out.find(dashes, at);
        if (end == std::string::npos)
            break;
        const auto* text = reinterpret_cast<const __u8*>(out.data() + at);
        const std::uint32_t sum = tl_checksum(text, static_cast<__u32>(end - at));
        out.replace(end + 1, dashes.size() - 1, fmt::format("{:08x}", sum));
    }
    return out;
}

ConsoleLog parse(const std::string& log) {
    ConsoleLogParser parser;
    const std::size_t half = log.size() / 2;
    parser.add(std::string_view(log).substr(0, half));
    parser.add(std::string_view(log).substr(half));
    return parser.finish();
}

ConsoleDump items(std::string_view bytes) {
    ConsoleDump dump;
    while (bytes.size() >= 3) {
        const std::size_t size = static_cast<std::uint8_t>(bytes[1]) |
                                 static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[2])) << 8;
        dump.items.push_back({bytes[0], std::string(bytes.substr(3, size))});
        bytes.remove_prefix(std::min(3 + size, bytes.size()));
    }
    return dump;
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
    if (data[0] == 'I') {
        read(items(input));
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
