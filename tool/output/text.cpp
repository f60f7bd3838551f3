// SPDX-License-Identifier: GPL-2.0
// Events as lines for people, in the form that ftrace and perf made known.
#include "output/text.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string_view>

#include "output/number.h"
#include "util/errno_name.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::string_view bold = "\033[1m";
constexpr std::string_view red = "\033[31m";
constexpr std::string_view dim = "\033[2m";
constexpr std::string_view plain = "\033[0m";

constexpr std::size_t comm_width = 16;

// Colours what is appended during its life.
class Coloured {
public:
    Coloured(std::string& out, bool on, std::string_view colour) : out_(out), on_(on) {
        if (on_)
            out_ += colour;
    }
    Coloured(const Coloured&) = delete;
    Coloured& operator=(const Coloured&) = delete;
    ~Coloured() {
        if (on_)
            out_ += plain;
    }

private:
    std::string& out_;
    bool on_;
};

// Rounded to tenths of `unit`; false if that makes 1000 of them or more.
bool append_tenths(std::string& out, std::uint64_t ns, std::uint64_t unit, std::string_view name) {
    const std::uint64_t tenth = unit / 10;
    const std::uint64_t tenths = ns / tenth + (ns % tenth >= tenth / 2 ? 1 : 0);
    if (tenths >= 10'000)
        return false;
    fmt::format_to(std::back_inserter(out), "{}.{} {}", tenths / 10, tenths % 10, name);
    return true;
}

void append_duration(std::string& out, std::uint64_t ns) {
    constexpr std::uint64_t us = 1'000;
    constexpr std::uint64_t ms = 1'000'000;
    constexpr std::uint64_t s = 1'000'000'000;
    if (ns < us)
        fmt::format_to(std::back_inserter(out), "{} ns", ns);
    else if (!append_tenths(out, ns, us, "us") && !append_tenths(out, ns, ms, "ms") &&
             !append_tenths(out, ns, s, "s"))
        fmt::format_to(std::back_inserter(out), "{} s", ns / s);
}

void append_comm(std::string& out, std::string_view name) {
    if (name.empty())
        name = "<...>"; // as ftrace calls a task that it lost the name of
    const std::size_t from = out.size();
    append_escaped(out, name);
    const std::size_t width = out.size() - from;
    if (width < comm_width)
        out.insert(from, comm_width - width, ' ');
}

void append_byte_value(std::string& out, const FieldValue& value) {
    append_bytes(out, value.text, *value.field);
    if (value.state == FieldValue::State::fault)
        out += "(fault)";
}

// "0x1, "a", ...", with names "file=0x1, count=5"; of registers "di=0x1 si=0x2 ...".
void append_values(std::string& out, std::span<const FieldValue> values,
                   std::span<const Field> fields, const AddressNames& names, bool named,
                   std::string_view between = ", ") {
    bool first = true;
    for (std::size_t i = 0; i < values.size(); i++) {
        if (!is_listed(values[i]))
            continue;
        if (!first)
            out += between;
        first = false;
        if (named) {
            append_escaped(out, fields[i].name);
            out += '=';
        }
        append_value(out, values[i], '"', names);
    }
}

// A mark's text ends its line: no quotes are needed to see where it does.
void append_mark(std::string& out, const FieldValue& text) {
    if (text.state == FieldValue::State::whole)
        append_escaped(out, text.text);
    else
        append_value(out, text, '"', {});
}

// Several that a list asked for have their names.
void append_return(std::string& out, std::span<const FieldValue> values,
                   std::span<const Field> fields, const AddressNames& names, bool colour) {
    const bool several = std::count_if(values.begin(), values.end(), is_listed) > 1;
    bool first = true;
    for (std::size_t i = 0; i < values.size(); i++) {
        const FieldValue& value = values[i];
        if (!is_listed(value))
            continue;
        out += first ? " = " : ", ";
        first = false;
        if (several && !fields[i].name.starts_with("return")) {
            append_escaped(out, fields[i].name);
            out += '=';
        }
        const auto error = error_of(value);
        if (!error) {
            append_value(out, value, '"', names);
            continue;
        }
        const Coloured coloured(out, colour, red);
        fmt::format_to(std::back_inserter(out), "-{}", *error);
        if (const std::string_view name = errno_name(*error); !name.empty()) {
            out += ' ';
            out += name;
        }
    }
}

} // namespace

void append_value(std::string& out, const FieldValue& value, char quote,
                  const AddressNames& names) {
    switch (value.state) {
    case FieldValue::State::number:
        if (value.field != nullptr && is_symbolic(*value.field))
            return append_escaped(out, names.of(value.number, *value.field));
        if (value.field != nullptr)
            return append_number(out, value.number, *value.field);
        return append_hex(out, value.number);
    case FieldValue::State::faults:
        return append_hex(out, value.number);
    case FieldValue::State::number_fault:
        out += "(fault)";
        return;
    case FieldValue::State::null:
        out += "(null)";
        return;
    case FieldValue::State::whole:
    case FieldValue::State::cut:
    case FieldValue::State::fault:
        break;
    }
    if (value.field != nullptr && value.field->type == FieldType::bytes)
        return append_byte_value(out, value);
    // A fault before the first byte leaves nothing to quote.
    if (value.state != FieldValue::State::fault || !value.text.empty()) {
        if (quote != '\0')
            out += quote;
        append_escaped(out, value.text, quote);
        if (quote != '\0')
            out += quote;
    }
    if (value.state == FieldValue::State::cut)
        out += "...";
    else if (value.state == FieldValue::State::fault)
        out += "(fault)";
}

std::array<char, 4> flag_characters(std::uint16_t flags) {
    const bool irqs_off = (flags & TL_IRQS_OFF) != 0;
    const bool bh_off = (flags & TL_BH_OFF) != 0;
    const bool nmi = (flags & TL_NMI) != 0;
    const bool hard = (flags & TL_HARDIRQ) != 0;
    const bool soft = (flags & TL_SOFTIRQ) != 0;
    const unsigned depth = flags & TL_PREEMPT_DEPTH;
    std::array<char, 4> shown{'.', '.', '.', '.'};

    if (irqs_off)
        shown[0] = bh_off ? 'D' : 'd';
    else if (bh_off)
        shown[0] = 'b';
    if ((flags & TL_NEED_RESCHED) != 0)
        shown[1] = 'N';
    if (nmi)
        shown[2] = hard ? 'Z' : 'z';
    else if (hard)
        shown[2] = soft ? 'H' : 'h';
    else if (soft)
        shown[2] = 's';
    if (depth != 0)
        shown[3] = "0123456789abcdef"[depth];
    return shown;
}

std::string seconds_text(std::uint64_t ns) {
    const std::uint64_t us = ns / 1000;
    return fmt::format("{}.{:06}", us / 1'000'000, us % 1'000'000);
}

std::string duration_text(std::uint64_t ns) {
    std::string text;
    append_duration(text, ns);
    return text;
}

// A frame a line, the caller first.
void TextPrinter::append_stack(std::string& out, const FieldValue& stack) const {
    const auto line = [&](std::string_view text) {
        out += prefix_;
        out += '\t';
        append_escaped(out, text);
        out += '\n';
    };
    for (const std::uint64_t frame : stack_frames(stack))
        line(names().caller(frame));
    if (stack.state == FieldValue::State::cut)
        line("...");
    else if (stack.state == FieldValue::State::fault)
        line("(fault)");
}

void TextPrinter::print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                        std::string& out) {
    const std::array<char, 4> flags = flag_characters(event.flags);
    const std::uint64_t us =
        (prefix_.empty() ? clock.to_monotonic_ns(event.ticks) : clock.to_realtime_ns(event.ticks)) /
        1000;

    out += prefix_;
    append_comm(out, comm_of(event));
    fmt::format_to(std::back_inserter(out), "-{:<7} [{:03}] {} {:6}.{:06}: ", event.tid, event.cpu,
                   std::string_view(flags.data(), flags.size()), us / 1'000'000, us % 1'000'000);
    {
        const Coloured coloured(out, colour_, bold);
        append_escaped(out, layout.name);
    }
    const bool decoded = decode_fields(layout, event.fields, values_);
    if (!decoded) {
        out += ": (the record is not what its event's layout says)";
    } else if (layout.id == TL_ID_MARK) {
        out += ": ";
        append_mark(out, values_.entry.front());
    } else if (!layout.at_entry) {
        out += ": ";
        append_values(out, values_.entry, layout.entry_fields, names(), true, " ");
    } else {
        out += '(';
        append_values(out, values_.entry, layout.entry_fields, names(), layout.named);
        out += ')';
        append_return(out, values_.ret, layout.return_fields, names(), colour_);
        if (layout.kind == TRAPLINE_CALL) {
            out += ' ';
            const Coloured coloured(out, colour_, dim);
            out += '<';
            append_duration(out, clock.duration_ns(values_.duration));
            out += '>';
        }
    }
    if (event.straggler)
        out += " [late]";
    out += '\n';
    if (const FieldValue* stack = decoded ? stack_of(values_) : nullptr)
        append_stack(out, *stack);
}

} // namespace trapline
