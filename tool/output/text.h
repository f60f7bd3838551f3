// SPDX-License-Identifier: GPL-2.0
// Events as lines for people, in the form that ftrace and perf made known.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "output/printer.h"
#include "trace/fields.h"

namespace trapline {

class TextPrinter : public Printer {
public:
    // `prefix`, if not empty: before each line, it is one of several traces, and the times are
    // those of CLOCK_REALTIME.
    explicit TextPrinter(bool colour = false, std::string prefix = {}, AddressNames names = {})
        : Printer(std::move(names)), colour_(colour), prefix_(std::move(prefix)) {}

    void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
               std::string& out) override;

private:
    void append_stack(std::string& out, const FieldValue& stack) const;

    bool colour_;
    std::string prefix_;
    FieldValues values_;
};

// A number as its field has it, (fault), (null), or text that ends in ... where it was cut;
// `quote`: around text, '\0': none.
void append_value(std::string& out, const FieldValue& value, char quote, const AddressNames& names);

// ftrace's four: interrupts, need-resched, kind of context, preemption depth; "d..1".
std::array<char, 4> flag_characters(std::uint16_t flags);

// Seconds with six digits, cut, not rounded, as the events' lines show their times.
std::string seconds_text(std::uint64_t ns);

// "999 ns", "12.3 us", "4.6 ms", "1.2 s".
std::string duration_text(std::uint64_t ns);

} // namespace trapline
