// SPDX-License-Identifier: GPL-2.0
// Reads what a crash printed of a session's rings as a trace.
#include "recording/console_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "shared/console.h"
#include "trace/fields.h"
#include "util/error.h"

namespace trapline {

namespace {

template <class T>
T load(std::string_view bytes, std::size_t at = 0) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(value));
    return value;
}

ClockAnchor anchor(const tl_console_instant& instant) {
    return {instant.ticks, instant.monotonic, instant.realtime};
}

// Takes a text and its NUL off; what is left if there is none.
std::string take_text(std::string_view& texts) {
    const std::size_t end = std::min(texts.find('\0'), texts.size());
    std::string text(texts.substr(0, end));
    texts.remove_prefix(std::min(end + 1, texts.size()));
    return text;
}

std::string lines(std::uint64_t count) {
    return fmt::format("{} line{}", count, count == 1 ? "" : "s");
}

} // namespace

ConsoleReader::ConsoleReader(std::string path, ConsoleDump dump, Damage damage)
    : EventReader(std::move(path), std::move(damage)), dump_(std::move(dump)) {
    TraceDescription description;
    std::optional<std::uint64_t> records;
    for (const ConsoleItem& item : dump_.items) {
        if (item.kind == TL_CONSOLE_SESSION)
            take_session(item.bytes, description);
        else if (item.kind == TL_CONSOLE_LABEL)
            take_label(item.bytes, description);
        else if (item.kind == TL_CONSOLE_END && item.bytes.size() == sizeof(std::uint32_t))
            records = load<std::uint32_t>(item.bytes);
    }
    describe(std::move(description));
    for (const ConsoleItem& item : dump_.items)
        if (item.kind == TL_CONSOLE_RECORD && !take_record(item.bytes))
            unknown_++;
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.ticks < b.ticks; });
    report_missing(records.value_or(0));
}

// It comes twice.
void ConsoleReader::take_session(std::string_view bytes, TraceDescription& description) {
    if (session_known_ || bytes.size() < sizeof(tl_console_session))
        return;
    const auto session = load<tl_console_session>(bytes);
    if (session.format != TL_CONSOLE_FORMAT || session.clock_hz == 0)
        return;
    session_known_ = true;
    recorded_ = session.recorded;
    dropped_ = session.lost;
    description.clock.name = session.tsc != 0 ? "tsc" : "mono";
    description.clock.hz = session.clock_hz;
    description.clock.anchor = anchor(session.start);
    description.overwrite = session.overwrite != 0;
    description.totals.emplace().stop = anchor(session.now);
    description.totals->ended_by = "a crash of the kernel";
    bytes.remove_prefix(sizeof(session));
    KernelIdentity& kernel = description.kernel;
    for (std::string* text : {&kernel.sysname, &kernel.release, &kernel.version, &kernel.machine,
                              &kernel.nodename, &description.version})
        *text = take_text(bytes);
}

void ConsoleReader::take_label(std::string_view bytes, TraceDescription& description) {
    if (bytes.size() < sizeof(std::uint16_t))
        return;
    const auto id = load<std::uint16_t>(bytes);
    if (!labelled_.insert(id).second)
        return;
    try {
        EventLayout layout = parse_layout(bytes.substr(sizeof(id)));
        if (layout.id != id)
            throw Error(fmt::format("it is that of event {}", layout.id));
        description.layouts.push_back(std::move(layout));
        description.probes.emplace_back().id = id;
    } catch (const Error& error) {
        report(fmt::format("{}: the label of event {}: {}", path(), id, error.what()));
    }
}

// False if it is none, or of an event that nothing is known of.
bool ConsoleReader::take_record(std::string_view bytes) {
    constexpr std::size_t header = sizeof(tl_console_record);
    if (bytes.size() < header + TL_EXTENDED_SIZE ||
        load<std::uint16_t>(bytes, header) != TL_ID_EXTENDED)
        return false;
    const auto about = load<tl_console_record>(bytes);
    const auto id = load<std::uint32_t>(bytes, header + 2);
    const EventLayout* known = id <= TL_ID_MARK ? layout(static_cast<std::uint16_t>(id)) : nullptr;
    const std::span<const std::byte> fields =
        std::as_bytes(std::span(bytes)).subspan(header + TL_EXTENDED_SIZE);
    if (about.cpu >= trace_cpus_max || known == nullptr ||
        fields_size(*known, fields) != fields.size())
        return false;
    Event& event = events_.emplace_back();
    event.ticks = load<std::uint64_t>(bytes, header + 6);
    event.cpu = about.cpu;
    event.tid = load<std::uint32_t>(bytes, header + 16);
    event.tgid = about.tgid;
    event.id = static_cast<std::uint16_t>(id);
    event.flags = load<std::uint16_t>(bytes, header + 14);
    std::memcpy(event.comm.data(), about.comm, event.comm.size());
    event.fields = fields;
    return true;
}

// `expected`: how many records the dump says that it has; 0: it doesn't say.
void ConsoleReader::report_missing(std::uint64_t expected) {
    if (dump_.lost != 0)
        report(fmt::format("{}: {} of the dump's {} are lost or damaged", path(), dump_.lost,
                           lines(dump_.lines)));
    if (!dump_.ended)
        report(fmt::format("{}: the dump's end is missing: there may have been newer records",
                           path()));
    const std::uint64_t read = events_.size() + unknown_;
    if (expected > read)
        report(fmt::format("{}: {} of the dump's {} records are missing", path(), expected - read,
                           expected));
    if (unknown_ != 0)
        report(fmt::format("{}: {} records can't be read: what describes their event is lost",
                           path(), unknown_));
    if (!session_known_)
        report(fmt::format("{}: what describes the clock is lost: times are ticks, as if they were "
                           "nanoseconds",
                           path()));
}

const Event* ConsoleReader::next() {
    return at_ == events_.size() ? nullptr : &events_[at_++];
}

std::string ConsoleReader::notes() const {
    if (!session_known_)
        return {};
    std::string out = fmt::format("trapline: these are the newest {} of {} recorded events",
                                  events_.size(), recorded_);
    if (dropped_ != 0)
        out += fmt::format("; {} found no room in the rings", dropped_);
    return out + "\n";
}

} // namespace trapline
