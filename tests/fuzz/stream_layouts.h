// SPDX-License-Identifier: GPL-2.0
// The layouts that the fuzzed streams' first bytes choose among.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "trace/event.h"

namespace trapline::fuzz {

inline EventLayout make_layout(std::uint16_t id, const char* name, trapline_probe_kind kind,
                               std::vector<Field> entry, std::vector<Field> ret = {}) {
    return {.id = id,
            .name = name,
            .kind = kind,
            .at_entry = true,
            .entry_fields = std::move(entry),
            .return_fields = std::move(ret)};
}

inline std::array<std::vector<EventLayout>, 3> stream_layouts() {
    const Field number{"number", FieldType::raw, 8};
    const Field byte{"byte", FieldType::raw, 1};
    const Field half{"half", FieldType::raw, 2};
    const Field word{"word", FieldType::raw, 4};
    const Field text{"text", FieldType::string, 8};
    const Field faults{"faults", FieldType::faults, 4};
    const Field stack{"stack", FieldType::stack};
    return {{
        {},
        {make_layout(1, "number", TRAPLINE_ENTRY, {number}),
         make_layout(2, "text", TRAPLINE_ENTRY, {text}),
         make_layout(4, "stack", TRAPLINE_ENTRY, {stack})},
        {make_layout(1, "call", TRAPLINE_CALL, {number, byte, faults}, {word, text, text}),
         make_layout(300, "return", TRAPLINE_RETURN, {}, {half}),
         make_layout(301, "none", TRAPLINE_ENTRY, {})},
    }};
}

} // namespace trapline::fuzz
