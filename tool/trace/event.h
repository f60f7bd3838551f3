// SPDX-License-Identifier: GPL-2.0
// What is known of one record, and of the fields that its event has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shared/record.h"
#include "shared/trapline.h"

namespace trapline {

enum class FieldType : std::uint8_t {
    raw,    // a number of `size` bytes, shown as `form` says
    string, // status, length, bytes: see shared/record.h
    bytes,  // the same, and no text: shown as `form` says
    faults, // u32: bit n set: the nth number among the fields could not be read
    stack,  // status, length, return addresses: see shared/record.h
};

// What a number is, or bytes are, hence how they are shown.
enum class NumberForm : std::uint8_t {
    raw, // of unknown type: hexadecimal, and by the rule of errno_of() an error
    hex, // an address, or bits; bytes
    unsigned_,
    signed_, // negative ones may be errors
    boolean,
    pointer, // hexadecimal; an error as ERR_PTR() makes it
    enumeration,
    character,
    error,  // signed, with an error's name
    ip4,    // as it lies in memory
    ip6,    // 16 bytes
    mac,    // 6 bytes
    symbol, // an address, by the kernel's symbol that it is in
    caller, // a return address: the same of the call before it
};

struct EnumValue {
    std::string name;
    std::uint64_t value = 0; // two's complement
};

// An enum of C: fields share them.
struct Enumeration {
    std::string name; // empty: it has none
    bool is_signed = false;
    std::vector<EnumValue> values;
};

struct Field {
    std::string name;
    FieldType type = FieldType::raw;
    std::uint8_t size = 8; // bytes, of numbers: 1, 2, 4 or 8
    NumberForm form = NumberForm::raw;
    std::shared_ptr<const Enumeration> enumeration = nullptr; // of that form
};

// Whether its numbers have a sign.
bool is_signed(const Field& field);

// Whether its numbers are shown by names that symbols give.
bool is_symbolic(const Field& field);

// What an event id stands for. Chosen by whoever adds the probe.
struct EventLayout {
    std::uint16_t id = 0;
    std::string name; // as shown: "vfs_read", "vfs_read+0x1c", "ext4:ext4_sync_file"
    trapline_probe_kind kind = TRAPLINE_CALL;
    bool at_entry = true;             // false: fields are registers at an offset, not arguments
    bool named = false;               // arguments have names: those of the function's parameters
    std::vector<Field> entry_fields;  // of TRAPLINE_RETURN what is known besides its result
    std::vector<Field> return_fields; // none for TRAPLINE_ENTRY
};

// Whether its events have addresses to be named: a stack, or such numbers.
bool has_addresses(const EventLayout& layout);

// TL_ID_MARK's: a text.
const EventLayout& mark_layout();

// One record. `fields` lies in memory that the event's batch owns.
struct Event {
    std::uint64_t ticks = 0; // the session's clock; a call's is its return
    std::uint32_t cpu = 0;
    std::uint32_t tid = 0;
    std::uint32_t tgid = 0;
    std::uint16_t id = 0;
    std::uint16_t flags = 0; // TL_IRQS_OFF and its like
    std::array<char, TL_COMM_SIZE> comm{};
    std::span<const std::byte> fields;
    bool straggler = false; // came too late to be shown in its place
};

} // namespace trapline
