// SPDX-License-Identifier: GPL-2.0
// What turns events into output, whatever its form.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "trace/clock.h"
#include "trace/event.h"
#include "trace/fields.h"

namespace trapline {

// The address itself: where nothing else is known.
std::string hex_name(std::uint64_t address);

// What addresses are called: "vfs_read+0x1c", "ext4_file_read_iter+0x43 [ext4]".
struct AddressNames {
    using Name = std::function<std::string(std::uint64_t address)>;

    Name caller = hex_name; // a return address, by the call before it
    Name symbol = hex_name; // any

    // Of a number that is_symbolic().
    std::string of(std::uint64_t number, const Field& field) const;
};

class Printer {
public:
    explicit Printer(AddressNames names) : names_(std::move(names)) {}
    Printer(const Printer&) = delete;
    Printer& operator=(const Printer&) = delete;
    virtual ~Printer() = default;

    // Appends one event, as a line with its newline, to `out`.
    virtual void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                       std::string& out) = 0;

protected:
    const AddressNames& names() const { return names_; }

private:
    AddressNames names_;
};

// What all forms say alike.
std::string_view kind_name(trapline_probe_kind kind);   // "entry", "return", "call"
std::string_view event_kind(const EventLayout& layout); // the same, or "mark"
std::string_view comm_of(const Event& event);           // up to its NUL; any bytes
// A return value as an error's positive number, if it can be one by its type: without one, by the
// rule of errno_of().
std::optional<unsigned> error_of(const FieldValue& returned);
std::string error_label(unsigned error); // "ENOENT", or the number

} // namespace trapline
