// SPDX-License-Identifier: GPL-2.0
// What turns events into output, whatever its form.
#pragma once

#include <string>

#include "trace/clock.h"
#include "trace/event.h"

namespace trapline {

class Printer {
public:
    Printer() = default;
    Printer(const Printer&) = delete;
    Printer& operator=(const Printer&) = delete;
    virtual ~Printer() = default;

    // Appends one event, as a line with its newline, to `out`.
    virtual void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                       std::string& out) = 0;
};

} // namespace trapline
