// SPDX-License-Identifier: GPL-2.0
// What a program records: fields, and the instructions that store them.
#pragma once

#include <string>
#include <vector>

#include "spec/argument_list.h"
#include "spec/scope.h"
#include "spec/typed_field.h"
#include "trace/event.h"

namespace trapline {

struct Recorded {
    Field field;
    Chain chain;              // to the number, or the address of the text or the bytes
    tl_insn store{};          // without its slot
    bool whole = true;        // a number: all of what the chain leaves is stored
    std::size_t position = 0; // in the PROBE, of the item that asks for it
};

// Of a number.
Recorded recorded_number(Field field, Chain chain);

// Of text that is at the address.
Recorded recorded_text(std::string name, Chain address);

// What an item of a list asks for: of a structure or an array several. Members of a whole structure
// that are none of its fields are added to `left_out`. Throws as Scope does.
std::vector<Recorded> recorded_item(const Scope& scope, const ListItem& item, TypedFields& fields,
                                    std::vector<std::string>& left_out);

} // namespace trapline
