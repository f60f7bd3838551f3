// SPDX-License-Identifier: GPL-2.0
// Sessions and their probes, as tables for people.
#include "command/session_tables.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "output/accounting.h"
#include "output/printer.h"
#include "output/table.h"
#include "util/escape.h"
#include "util/size.h"

namespace trapline {

namespace {

constexpr std::size_t holders_shown = 3;

std::string process(std::string_view comm, std::uint32_t pid) {
    return fmt::format("{}-{}", escaped(comm), pid);
}

std::string holders_text(const SessionState& session) {
    const std::vector<Holder>& holders = session.holders;
    if (holders.empty())
        return session.all_holders ? "-" : "not known";
    std::string text;
    for (std::size_t i = 0; i < holders.size() && i < holders_shown; i++)
        text += (i == 0 ? "" : ", ") + process(holders[i].comm, holders[i].pid);
    if (holders.size() > holders_shown)
        text += fmt::format(", {} more", holders.size() - holders_shown);
    return text;
}

TableRow session_row(const SessionState& session) {
    const SessionReport& report = session.report;
    const bool configured = report.ring_size != 0;
    return {std::to_string(report.number), process(report.comm, report.tgid),
            std::to_string(report.uid), holders_text(session),
            !report.started      ? "not started"
            : report.silenced_ns ? "silenced"
                                 : "started",
            !configured        ? "-"
            : report.overwrite ? "flight recorder"
                               : "stream",
            configured ? format_size(report.ring_size) : "-", std::to_string(report.probes),
            std::to_string(report.recorded), std::to_string(report.lost),
            // Only who reads the rings could tell.
            report.overwrite ? "not known" : "-"};
}

std::string probe_name(const ProbeReport& probe) {
    if (probe.symbol.empty())
        return fmt::format("{:#x}", probe.address);
    std::string name = escaped(probe.symbol);
    if (probe.offset != 0)
        name += fmt::format("+{:#x}", probe.offset);
    return name;
}

std::string_view technique_name(trapline_technique technique) {
    switch (technique) {
    case TRAPLINE_BREAKPOINT:
        return "breakpoint";
    case TRAPLINE_JUMP:
        return "jump";
    case TRAPLINE_FTRACE:
        return "ftrace";
    default:
        return "none";
    }
}

// Without the column of what was limited.
TableRow without_limited(TableRow row) {
    constexpr std::ptrdiff_t column = 7;
    row.erase(row.begin() + column);
    return row;
}

bool has_limited(const SessionState& session) {
    return std::any_of(session.probes.begin(), session.probes.end(),
                       [](const ProbeReport& probe) { return probe.counters.limited != 0; });
}

TableRow probe_row(const SessionReport& session, const ProbeReport& probe) {
    const trapline_counters& c = probe.counters;
    const bool call = probe.kind == TRAPLINE_CALL;
    // They are read one by one, while hits go on.
    const std::uint64_t inside = c.entered > c.returned ? c.entered - c.returned : 0;
    return {std::to_string(session.number),
            probe_name(probe),
            std::string(kind_name(probe.kind)),
            std::string(technique_name(probe.technique)),
            std::to_string(c.hits),
            std::to_string(c.recorded),
            std::to_string(c.filtered),
            std::to_string(c.limited),
            std::to_string(lost_records(c)),
            call ? std::to_string(inside) : "-",
            std::to_string(c.missed_recursion + c.missed_maxactive)};
}

void append_causes(std::string& out, const SessionReport& session, const ProbeReport& probe) {
    const trapline_counters& c = probe.counters;
    const std::string name = fmt::format("session {}, {}", session.number, probe_name(probe));
    append_limited(out, name, c);
    append_dropped(out, name, c);
    append_missed(out, name, c, probe.maxactive);
    if (c.late != 0)
        fmt::format_to(std::back_inserter(out),
                       "{}: of the calls inside {} returned after a stop, not recorded\n", name,
                       c.late);
    if (c.stale != 0)
        fmt::format_to(std::back_inserter(out),
                       "{}: of the calls inside {} returned after another start, not recorded\n",
                       name, c.stale);
}

} // namespace

std::string session_tables(std::span<const SessionState> sessions) {
    std::vector<TableRow> rows;
    std::vector<TableRow> probes;
    std::string silenced;
    std::string causes;
    rows.push_back({"session", "opened by", "uid", "held by", "state", "mode", "ring/CPU", "probes",
                    "recorded", "lost", "overwritten"});
    probes.push_back({"session", "probe", "kind", "technique", "hits", "recorded", "filtered",
                      "limited", "dropped", "inside", "missed"});
    for (const SessionState& session : sessions) {
        rows.push_back(session_row(session));
        if (session.report.started && session.report.silenced_ns)
            fmt::format_to(std::back_inserter(silenced), "session {}: {}\n", session.report.number,
                           silenced_text(*session.report.silenced_ns));
        for (const ProbeReport& probe : session.probes) {
            probes.push_back(probe_row(session.report, probe));
            append_causes(causes, session.report, probe);
        }
    }
    if (std::none_of(sessions.begin(), sessions.end(), has_limited))
        std::transform(probes.begin(), probes.end(), probes.begin(), without_limited);
    std::string out;
    append_table(out, rows, 6);
    out += silenced;
    if (probes.size() == 1)
        return out;
    out += '\n';
    append_table(out, probes, 4);
    return out + causes;
}

} // namespace trapline
