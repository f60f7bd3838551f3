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

// What a return address is called: "vfs_read+0x1c", "ext4_file_read_iter+0x43 [ext4]".
using CallerName = std::function<std::string(std::uint64_t return_address)>;

// The address itself: where nothing else is known.
std::string hex_caller(std::uint64_t return_address);

class Printer {
public:
    explicit Printer(CallerName caller_name) : caller_name_(std::move(caller_name)) {}
    Printer(const Printer&) = delete;
    Printer& operator=(const Printer&) = delete;
    virtual ~Printer() = default;

    // Appends one event, as a line with its newline, to `out`.
    virtual void print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                       std::string& out) = 0;

protected:
    std::string caller_name(std::uint64_t return_address) const {
        return caller_name_(return_address);
    }

private:
    CallerName caller_name_;
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
