// SPDX-License-Identifier: GPL-2.0
// What is known of one record, and of the fields that its event has.
#include "trace/event.h"

#include <algorithm>

namespace trapline {

bool is_signed(const Field& field) {
    return field.form == NumberForm::signed_ || field.form == NumberForm::error ||
           (field.form == NumberForm::enumeration && field.enumeration &&
            field.enumeration->is_signed);
}

bool is_symbolic(const Field& field) {
    return field.type == FieldType::raw &&
           (field.form == NumberForm::symbol || field.form == NumberForm::caller);
}

bool has_addresses(const EventLayout& layout) {
    const auto is_address = [](const Field& field) {
        return field.type == FieldType::stack || is_symbolic(field);
    };
    return std::any_of(layout.entry_fields.begin(), layout.entry_fields.end(), is_address) ||
           std::any_of(layout.return_fields.begin(), layout.return_fields.end(), is_address);
}

const EventLayout& mark_layout() {
    static const EventLayout layout{.id = TL_ID_MARK,
                                    .name = "mark",
                                    .kind = TRAPLINE_ENTRY,
                                    .at_entry = true,
                                    .entry_fields = {{.name = "text", .type = FieldType::string}},
                                    .return_fields = {}};
    return layout;
}

} // namespace trapline
