// SPDX-License-Identifier: GPL-2.0
// Events as comma-separated values, a row each, quoted as RFC 4180 says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "output/printer.h"
#include "trace/fields.h"

namespace trapline {

// The columns of the fields: one for each name that there is in the layouts. A name that another
// column has already, like "comm", gets an underscore.
class CsvColumns {
public:
    // Where the fields of one layout go, in parallel to them.
    struct Places {
        std::vector<std::size_t> entry;
        std::vector<std::size_t> ret;
    };
    static constexpr std::size_t return_column = SIZE_MAX; // the one of return values
    static constexpr std::size_t no_column = SIZE_MAX - 1; // not shown

    // Makes the columns that `layout` needs, behind those that there are.
    Places add(const EventLayout& layout);

    std::size_t size() const { return names_.size(); }

    // With its newline. `traces`: with the columns that tell several traces apart.
    std::string header(bool traces) const;

private:
    std::vector<std::size_t> places(std::span<const Field> fields, bool returned,
                                    std::vector<bool>& taken);
    std::size_t place(std::string name, std::vector<bool>& taken);

    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

// Strings and names are escaped as in C, so that a row is a line of printable ASCII. Every
// layout of the events must have been added to `columns`, which must outlive the printer.
class CsvPrinter : public Printer {
public:
    // `trace`, if not empty: which one of several it is.
    CsvPrinter(CsvColumns& columns, std::span<const EventLayout> layouts,
               const std::string& trace = {}, AddressNames names = {});

    void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
               std::string& out) override;

private:
    void fill(const CsvColumns::Places& places);
    void append_cell_of(std::string& cell, const FieldValue& value) const;

    const CsvColumns& columns_;
    std::unordered_map<std::uint16_t, CsvColumns::Places> places_; // by event id
    std::string trace_;                                            // as a cell
    FieldValues values_;
    std::vector<std::string> cells_; // of the fields
    std::string return_;
    std::string error_;
};

} // namespace trapline
