// SPDX-License-Identifier: GPL-2.0
// What a whole trace comes to: what it is, its events by probe, its rings.
#include "output/summary.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "output/printer.h"
#include "output/table.h"
#include "output/text.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;

void append_line(std::string& out, std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(out), "  {:<9} {}\n", name, value);
}

// "2024-02-29T13:37:00+01:00"
std::string local_time(std::uint64_t realtime_ns) {
    const auto seconds = static_cast<std::time_t>(realtime_ns / ns_per_s);
    std::tm parts{};
    char text[64];
    if (localtime_r(&seconds, &parts) == nullptr)
        return "unknown";
    const std::size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", &parts);
    std::string out(text, length);
    if (length > 2)
        out.insert(length - 2, ":");
    return out;
}

// A word that a shell reads as `word`.
std::string quoted(const std::string& word) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_@%+=:,./-";
    if (!word.empty() && word.find_first_not_of(plain) == std::string::npos)
        return word;
    const std::string text = escaped(word, '\'');
    return fmt::format("{}'{}'", text == word ? "" : "$", text);
}

std::string command_text(const std::vector<std::string>& command) {
    std::string out;
    for (const std::string& word : command)
        out += (out.empty() ? "" : " ") + quoted(word);
    return out;
}

// Its length: to its end, or as far as its events go.
std::string length_text(const TraceDescription& description, std::uint64_t begin_ns,
                        std::optional<std::uint64_t> last_ns) {
    const bool ended = description.totals.has_value();
    const std::uint64_t end_ns =
        ended ? description.totals->stop.monotonic_ns : last_ns.value_or(0);
    if (end_ns < begin_ns)
        return "";
    return fmt::format(", {}{}", ended ? "for " : "at least for ",
                       duration_text(end_ns - begin_ns));
}

std::string probe_text(std::uint64_t count) {
    return fmt::format("{} probe{}", count, count == 1 ? "" : "s");
}

TableRow ring_row(std::string name, const RingTotals& ring) {
    return {std::move(name),
            std::to_string(ring.written),
            std::to_string(ring.read),
            std::to_string(ring.overwritten),
            std::to_string(ring.unread),
            std::to_string(ring.lost_full + ring.lost_nested + ring.lost_too_big)};
}

} // namespace

EventSummary::EventSummary(std::span<const EventLayout* const> layouts) {
    for (const EventLayout* layout : layouts) {
        if (layout->id >= row_of_.size())
            row_of_.resize(layout->id + 1U);
        row_of_[layout->id] = static_cast<std::uint32_t>(rows_.size());
        rows_.push_back({.layout = layout});
    }
    marks_.layout = &mark_layout();
}

void EventSummary::add(const Event& event, const EventLayout& layout,
                       const ClockConversion& clock) {
    Row& row = event.id == TL_ID_MARK ? marks_ : rows_[row_of_[event.id]];
    row.events++;
    if (layout.kind == TRAPLINE_ENTRY || !decode_fields(layout, event.fields, values_))
        return;
    if (std::any_of(values_.ret.begin(), values_.ret.end(),
                    [](const FieldValue& value) { return error_of(value).has_value(); }))
        row.errors++;
    if (layout.kind != TRAPLINE_CALL)
        return;
    const std::uint64_t ns = clock.duration_ns(values_.duration);
    row.total_ns += ns;
    row.least_ns = std::min(row.least_ns, ns);
    row.most_ns = std::max(row.most_ns, ns);
}

std::string EventSummary::text() const {
    std::vector<TableRow> table;
    table.push_back({"probe", "kind", "events", "errors", "total", "min", "avg", "max"});
    const auto add = [&](const Row& row) {
        const bool returns = row.layout->kind != TRAPLINE_ENTRY;
        const bool lasts = row.layout->kind == TRAPLINE_CALL && row.events != 0;
        const auto duration = [&](std::uint64_t ns) {
            return lasts ? duration_text(ns) : std::string("-");
        };
        table.push_back({escaped(row.layout->name), std::string(event_kind(*row.layout)),
                         std::to_string(row.events), returns ? std::to_string(row.errors) : "-",
                         duration(row.total_ns), duration(row.least_ns),
                         duration(lasts ? row.total_ns / row.events : 0), duration(row.most_ns)});
    };
    for (const Row& row : rows_)
        add(row);
    if (marks_.events != 0)
        add(marks_);
    std::string out;
    append_table(out, table, 2);
    return out;
}

std::string description_text(const TraceDescription& description,
                             std::optional<std::uint64_t> last_monotonic_ns) {
    const KernelIdentity& kernel = description.kernel;
    const std::optional<ClockAnchor>& begin = description.clock.anchor;
    std::string out;
    if (!kernel.release.empty())
        append_line(out, "kernel",
                    fmt::format("{} {} {}{}{}", escaped(kernel.sysname), escaped(kernel.release),
                                escaped(kernel.machine), kernel.nodename.empty() ? "" : " on ",
                                escaped(kernel.nodename)));
    append_line(out, "recorded",
                begin ? local_time(begin->realtime_ns) +
                            length_text(description, begin->monotonic_ns, last_monotonic_ns)
                      : "at an unknown time");
    append_line(out, "by",
                fmt::format("trapline {}, {}", escaped(description.version),
                            probe_text(description.probes.size())));
    if (!description.command.empty())
        append_line(out, "command", command_text(description.command));
    append_line(out, "mode",
                description.overwrite ? "flight recorder: the newest events overwrote the oldest"
                                      : "everything; what found no room was dropped");
    append_line(out, "ended",
                description.totals ? escaped(description.totals->ended_by)
                                   : "not yet, or it was killed: no totals");
    return out;
}

std::string rings_text(std::span<const RingTotals> rings) {
    std::vector<TableRow> table;
    RingTotals sum;
    table.push_back({"ring", "recorded", "saved", "overwritten", "not saved", "lost"});
    for (const RingTotals& ring : rings) {
        if (ring.written == 0 && ring.lost_full + ring.lost_nested + ring.lost_too_big == 0)
            continue;
        table.push_back(ring_row(fmt::format("CPU {}", ring.cpu), ring));
        sum.written += ring.written;
        sum.read += ring.read;
        sum.overwritten += ring.overwritten;
        sum.unread += ring.unread;
        sum.lost_full += ring.lost_full;
        sum.lost_nested += ring.lost_nested;
        sum.lost_too_big += ring.lost_too_big;
    }
    std::string out;
    if (table.size() == 1)
        return out;
    if (table.size() > 2)
        table.push_back(ring_row("total", sum));
    append_table(out, table, 1);
    return out;
}

} // namespace trapline
