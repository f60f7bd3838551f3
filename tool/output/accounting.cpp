// SPDX-License-Identifier: GPL-2.0
// What became of every hit: the table at the end of a run.
#include "output/accounting.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "output/printer.h"
#include "output/table.h"
#include "output/text.h"
#include "util/escape.h"

namespace trapline {

namespace {

std::uint64_t inside(const trapline_counters& c) {
    return c.entered > c.returned ? c.entered - c.returned : 0;
}

std::string counted(std::uint64_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// What is left out where nothing was limited: a column of zeros that nobody has asked for.
void drop_limited(TableRow& row, bool limits) {
    constexpr std::ptrdiff_t column = 5;
    if (!limits)
        row.erase(row.begin() + column);
}

TableRow number_row(std::string_view name, std::string_view kind, const trapline_counters& c,
                    bool has_inside, bool limits) {
    TableRow row{std::string(name),
                 std::string(kind),
                 std::to_string(c.hits),
                 std::to_string(c.recorded),
                 std::to_string(c.filtered),
                 std::to_string(c.limited),
                 std::to_string(lost_records(c)),
                 has_inside ? std::to_string(inside(c)) : "-"};
    drop_limited(row, limits);
    return row;
}

bool has_inside(const ProbeAccount& probe) {
    return probe.kind == TRAPLINE_CALL || probe.counters.entered != 0;
}

trapline_counters sum(std::span<const ProbeAccount> probes) {
    trapline_counters total{};
    for (const ProbeAccount& probe : probes) {
        const trapline_counters& c = probe.counters;
        total.hits += c.hits;
        total.recorded += c.recorded;
        total.filtered += c.filtered;
        total.limited += c.limited;
        total.lost_full += c.lost_full;
        total.lost_nested += c.lost_nested;
        total.lost_too_big += c.lost_too_big;
        total.entered += inside(c);
    }
    return total;
}

void append_accounts(std::string& out, std::span<const ProbeAccount> probes) {
    std::vector<TableRow> rows;
    const trapline_counters total = sum(probes);
    const bool limits = total.limited != 0;
    rows.push_back(
        {"probe", "kind", "hits", "recorded", "filtered", "limited", "dropped", "inside"});
    drop_limited(rows.back(), limits);
    for (const ProbeAccount& probe : probes)
        rows.push_back(number_row(escaped(probe.name), kind_name(probe.kind), probe.counters,
                                  has_inside(probe), limits));
    if (probes.size() > 1)
        rows.push_back(number_row("total", "", total,
                                  std::any_of(probes.begin(), probes.end(), has_inside), limits));
    append_table(out, rows, 2);
}

// Joins what isn't zero: "2 ring full, 1 nested".
class Causes {
public:
    void add(std::uint64_t n, std::string_view cause) {
        if (n != 0)
            fmt::format_to(std::back_inserter(text_), "{}{} {}", text_.empty() ? "" : ", ", n,
                           cause);
    }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

void append_pending(std::string& out, std::string_view name, const ProbeAccount& probe) {
    const trapline_counters& c = probe.counters;
    const std::uint64_t calls = inside(c);
    if (calls == 0 && probe.pending.empty())
        return;
    fmt::format_to(std::back_inserter(out), "{}: {} still inside at the stop", name,
                   counted(calls, "call"));
    if (c.late != 0)
        fmt::format_to(std::back_inserter(out), ", {} returned since", c.late);
    const std::uint64_t left = calls > c.late ? calls - c.late : 0;
    if (left != 0 && !probe.pending_known)
        out += "; this kernel doesn't show in which tasks";
    else if (left > probe.pending.size())
        fmt::format_to(std::back_inserter(out), "{}",
                       probe.pending.empty() ? "; none found on a sleeping task's stack"
                                             : fmt::format("; {} found on sleeping tasks' stacks",
                                                           probe.pending.size()));
    out += '\n';
    for (const trapline_pending& call : probe.pending) {
        const auto* end = std::find(std::begin(call.comm), std::end(call.comm), '\0');
        const std::string comm = escaped({call.comm, static_cast<std::size_t>(end - call.comm)});
        fmt::format_to(std::back_inserter(out), "    {}  {}-{}  entered {} ago\n", name, comm,
                       call.tid, duration_text(call.age));
    }
}

// The module counts each term where it happens, so that a difference means a mistake in it.
void append_contradiction(std::string& out, std::string_view name, const ProbeAccount& probe) {
    const trapline_counters& c = probe.counters;
    const std::uint64_t known = c.recorded + c.filtered + c.limited + lost_records(c);
    const bool adds_up =
        c.hits == known + (probe.kind == TRAPLINE_CALL ? c.entered - c.returned : 0) ||
        (probe.kind == TRAPLINE_RETURN && c.hits == known + inside(c));
    if (!adds_up)
        fmt::format_to(std::back_inserter(out),
                       "{}: the counters do not add up (hits {}, accounted for {}): this is a "
                       "defect of trapline, please report it\n",
                       name, c.hits, known + inside(c));
}

} // namespace

std::uint64_t lost_records(const trapline_counters& c) {
    return c.lost_full + c.lost_nested + c.lost_too_big;
}

void append_dropped(std::string& out, std::string_view name, const trapline_counters& c) {
    if (lost_records(c) == 0)
        return;
    Causes causes;
    causes.add(c.lost_full, "with the ring full (raise --buffer-size)");
    causes.add(c.lost_nested, "nested in another record");
    causes.add(c.lost_too_big, "too big for a chunk (raise --buffer-size)");
    fmt::format_to(std::back_inserter(out), "{}: {} dropped: {}\n", name, lost_records(c),
                   causes.text());
}

void append_limited(std::string& out, std::string_view name, const trapline_counters& c) {
    if (c.limited != 0)
        fmt::format_to(std::back_inserter(out),
                       "{}: {} limited: beyond --max-rate, or at the end that --limit made\n", name,
                       c.limited);
}

void append_missed(std::string& out, std::string_view name, const trapline_counters& c,
                   std::uint32_t maxactive) {
    if (c.missed_recursion == 0 && c.missed_maxactive == 0)
        return;
    Causes causes;
    causes.add(c.missed_recursion, "by recursion (hit inside another probe's handler)");
    causes.add(c.missed_maxactive,
               fmt::format("with more than maxactive={} calls inside at once (raise with "
                           "--maxactive)",
                           maxactive));
    fmt::format_to(std::back_inserter(out), "{}: at least {} missed: {}\n", name,
                   c.missed_recursion + c.missed_maxactive, causes.text());
}

std::string accounting_text(std::span<const ProbeAccount> probes) {
    std::string out;
    if (probes.empty())
        return out;
    append_accounts(out, probes);
    for (const ProbeAccount& probe : probes) {
        const std::string name = escaped(probe.name);
        append_limited(out, name, probe.counters);
        append_dropped(out, name, probe.counters);
        append_missed(out, name, probe.counters, probe.maxactive);
        append_pending(out, name, probe);
        if (probe.counters.stale != 0)
            fmt::format_to(std::back_inserter(out),
                           "{}: {} of calls from before the start, not recorded\n", name,
                           counted(probe.counters.stale, "return"));
        append_contradiction(out, name, probe);
    }
    return out;
}

std::string gone_text(std::string_view name) {
    return fmt::format(
        "trapline: {}: its trap was gone at the end (its module unloaded, or kprobes "
        "switched off); later calls are not counted\n",
        escaped(name));
}

std::string silenced_text(std::uint64_t monotonic_ns) {
    return fmt::format("the kernel crashed at {}, and nothing was recorded since (dump_on_oops); "
                       "what came after that was not counted",
                       seconds_text(monotonic_ns));
}

} // namespace trapline
