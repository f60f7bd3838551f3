// SPDX-License-Identifier: GPL-2.0
// Events as lines for people, in the form that ftrace and perf made known.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "output/printer.h"
#include "trace/fields.h"

namespace trapline {

class TextPrinter : public Printer {
public:
    explicit TextPrinter(bool colour = false) : colour_(colour) {}

    void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
               std::string& out) override;

private:
    bool colour_;
    FieldValues values_;
};

// ftrace's four: interrupts, need-resched, kind of context, preemption depth; "d..1".
std::array<char, 4> flag_characters(std::uint16_t flags);

// "999 ns", "12.3 us", "4.6 ms", "1.2 s".
std::string duration_text(std::uint64_t ns);

} // namespace trapline
