// SPDX-License-Identifier: GPL-2.0
// What is known of one record, and of the fields that its event has.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/record.h"
#include "shared/trapline.h"

namespace trapline {

enum class FieldType : std::uint8_t {
    raw,    // an unsigned number of `size` bytes, shown in hexadecimal
    string, // status, length, bytes: see shared/record.h
    faults, // u32: bit n set: the nth number among the fields could not be read
};

struct Field {
    std::string name;
    FieldType type = FieldType::raw;
    std::uint8_t size = 8; // bytes, of numbers: 1, 2, 4 or 8
};

// What an event id stands for. Chosen by whoever adds the probe.
struct EventLayout {
    std::uint16_t id = 0;
    std::string name; // as shown: "vfs_read", "vfs_read+0x1c", "ext4:ext4_sync_file"
    trapline_probe_kind kind = TRAPLINE_CALL;
    bool at_entry = true;             // false: fields are registers at an offset, not arguments
    std::vector<Field> entry_fields;  // none for TRAPLINE_RETURN
    std::vector<Field> return_fields; // none for TRAPLINE_ENTRY
};

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
