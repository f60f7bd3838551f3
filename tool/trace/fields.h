// SPDX-License-Identifier: GPL-2.0
// Takes a record's fields apart as its event's layout says, and never reads past their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "trace/event.h"

namespace trapline {

// One field as the record holds it. `text` lies in the record's memory.
struct FieldValue {
    enum class State : std::uint8_t {
        number,       // `number`
        number_fault, // a number that could not be read
        whole,        // `text`: all of the string, or the bytes; of a stack its addresses
        cut,          // `text`: the beginning, for there is more than the program allowed
        fault,        // `text`: what could be read before the unreadable byte, maybe nothing
        null,         // the string's pointer was null
        faults,       // `number`: the mask that made number_fault of others; not to be shown
    };

    State state = State::number;
    std::uint64_t number = 0; // signed ones with their sign extended
    std::string_view text;
    const Field* field = nullptr; // what it is, if it was decoded: the layout's
};

// Whether it is shown among arguments and results: a stack has a place of its own, and what says
// which others could not be read has none.
bool is_listed(const FieldValue& value);

// The vectors run parallel to the layout's; kept between records to spare allocations.
struct FieldValues {
    std::vector<FieldValue> entry;
    std::vector<FieldValue> ret;
    std::uint64_t duration = 0; // ticks, of calls
};

// The record's stack, if its event has one; lies in `values`.
const FieldValue* stack_of(const FieldValues& values);

// The return addresses of a stack, the innermost first.
std::vector<std::uint64_t> stack_frames(const FieldValue& stack);

// The bytes that the fields of a record of `layout` take, when `bytes` begins with them;
// nothing if they don't fit or are not what the layout says.
std::optional<std::size_t> fields_size(const EventLayout& layout, std::span<const std::byte> bytes);

// Decodes all fields into `values`; false if the record is shorter than its layout or malformed.
bool decode_fields(const EventLayout& layout, std::span<const std::byte> bytes,
                   FieldValues& values);

} // namespace trapline
