// SPDX-License-Identifier: GPL-2.0
// Events as JSON, an object a line.
#pragma once

#include <string>

#include "output/printer.h"
#include "trace/fields.h"

namespace trapline {

class JsonPrinter : public Printer {
public:
    void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
               std::string& out) override;

private:
    FieldValues values_;
};

} // namespace trapline
