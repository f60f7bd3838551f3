// SPDX-License-Identifier: GPL-2.0
// Events as JSON, an object a line.
#pragma once

#include <string>
#include <utility>

#include "output/printer.h"
#include "trace/fields.h"

namespace trapline {

class JsonPrinter : public Printer {
public:
    // Not empty: one of several traces. Its events say so, and when it was in real time.
    explicit JsonPrinter(std::string trace = {}, AddressNames names = {})
        : Printer(std::move(names)), trace_(std::move(trace)) {}

    void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
               std::string& out) override;

private:
    std::string trace_;
    FieldValues values_;
};

} // namespace trapline
