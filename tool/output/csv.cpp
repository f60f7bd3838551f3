// SPDX-License-Identifier: GPL-2.0
// Events as comma-separated values, a row each.
#include "output/csv.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "output/text.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::array<std::string_view, 2> trace_columns{"trace", "realtime_ns"};
constexpr std::array<std::string_view, 8> first_columns{"time_ns", "cpu",   "pid",   "tid",
                                                        "comm",    "flags", "event", "kind"};
constexpr std::array<std::string_view, 3> last_columns{"return", "errno", "duration_ns"};

template <std::size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// `plain` has no control characters.
void append_cell(std::string& out, std::string_view plain) {
    if (plain.find_first_of(",\"") == std::string_view::npos) {
        out += plain;
        return;
    }
    out += '"';
    for (const char c : plain) {
        if (c == '"')
            out += '"';
        out += c;
    }
    out += '"';
}

} // namespace

std::size_t CsvColumns::place(std::string name, std::vector<bool>& taken) {
    while (true) {
        const bool fixed = is_among(name, trace_columns) || is_among(name, first_columns) ||
                           is_among(name, last_columns);
        const auto known = by_name_.find(name);
        if (!fixed && known == by_name_.end()) {
            by_name_.emplace(name, names_.size());
            names_.push_back(std::move(name));
            taken.resize(names_.size());
            taken.back() = true;
            return names_.size() - 1;
        }
        if (!fixed && !taken[known->second]) {
            taken[known->second] = true;
            return known->second;
        }
        name += '_';
    }
}

std::vector<std::size_t> CsvColumns::places(std::span<const Field> fields, bool returned,
                                            std::vector<bool>& taken) {
    std::vector<std::size_t> out;
    bool first = returned;
    for (const Field& field : fields) {
        if (field.type == FieldType::faults) {
            out.push_back(no_column);
            continue;
        }
        const bool is_return = first && field.type != FieldType::stack;
        out.push_back(is_return ? return_column : place(field.name, taken));
        first = first && !is_return;
    }
    return out;
}

CsvColumns::Places CsvColumns::add(const EventLayout& layout) {
    std::vector<bool> taken(names_.size());
    Places out;
    out.entry = places(layout.entry_fields, false, taken);
    if (layout.kind != TRAPLINE_ENTRY)
        out.ret = places(layout.return_fields, true, taken);
    return out;
}

std::string CsvColumns::header(bool traces) const {
    std::string out;
    if (traces)
        out += fmt::format("{},", fmt::join(trace_columns, ","));
    out += fmt::format("{},", fmt::join(first_columns, ","));
    for (const std::string& name : names_) {
        append_cell(out, escaped(name));
        out += ',';
    }
    out += fmt::format("{}\n", fmt::join(last_columns, ","));
    return out;
}

CsvPrinter::CsvPrinter(CsvColumns& columns, std::span<const EventLayout> layouts,
                       const std::string& trace, AddressNames names)
    : Printer(std::move(names)), columns_(columns) {
    for (const EventLayout& layout : layouts)
        places_.emplace(layout.id, columns.add(layout));
    places_.emplace(TL_ID_MARK, columns.add(mark_layout()));
    if (!trace.empty())
        append_cell(trace_, escaped(trace));
}

// A stack is one cell, its frames with semicolons between them.
void CsvPrinter::append_cell_of(std::string& cell, const FieldValue& value) const {
    if (is_listed(value))
        return append_value(cell, value, '\0', names());
    const auto add = [&](std::string_view frame) {
        if (!cell.empty())
            cell += ';';
        append_escaped(cell, frame);
    };
    for (const std::uint64_t frame : stack_frames(value))
        add(names().caller(frame));
    if (value.state == FieldValue::State::cut)
        add("...");
    else if (value.state == FieldValue::State::fault)
        add("(fault)");
}

void CsvPrinter::fill(const CsvColumns::Places& places) {
    for (std::size_t i = 0; i < places.entry.size(); i++)
        if (places.entry[i] != CsvColumns::no_column)
            append_cell_of(cells_[places.entry[i]], values_.entry[i]);
    for (std::size_t i = 0; i < places.ret.size(); i++) {
        const FieldValue& value = values_.ret[i];
        if (places.ret[i] == CsvColumns::no_column)
            continue;
        if (places.ret[i] != CsvColumns::return_column) {
            append_cell_of(cells_[places.ret[i]], value);
            continue;
        }
        append_value(return_, value, '\0', names());
        if (const auto error = error_of(value))
            error_ = error_label(*error);
    }
}

void CsvPrinter::print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                       std::string& out) {
    const std::array<char, 4> flags = flag_characters(event.flags);

    cells_.resize(columns_.size());
    for (std::string& cell : cells_)
        cell.clear();
    return_.clear();
    error_.clear();
    // Of a record that is not what its layout says, no cell can be filled.
    const bool decoded = decode_fields(layout, event.fields, values_);
    if (decoded)
        fill(places_.at(layout.id));

    if (!trace_.empty()) {
        out += trace_;
        fmt::format_to(std::back_inserter(out), ",{},", clock.to_realtime_ns(event.ticks));
    }
    fmt::format_to(std::back_inserter(out), "{},{},{},{},", clock.to_monotonic_ns(event.ticks),
                   event.cpu, event.tgid, event.tid);
    append_cell(out, escaped(comm_of(event)));
    out += ',';
    out.append(flags.data(), flags.size());
    out += ',';
    append_cell(out, escaped(layout.name));
    out += ',';
    out += event_kind(layout);
    for (const std::string& cell : cells_) {
        out += ',';
        append_cell(out, cell);
    }
    out += ',';
    append_cell(out, return_);
    out += ',';
    out += error_;
    out += ',';
    if (decoded && layout.kind == TRAPLINE_CALL)
        fmt::format_to(std::back_inserter(out), "{}", clock.duration_ns(values_.duration));
    out += '\n';
}

} // namespace trapline
