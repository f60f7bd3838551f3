// SPDX-License-Identifier: GPL-2.0
// What is known of one record, and of the fields that its event has.
#include "trace/event.h"

namespace trapline {

bool is_signed(const Field& field) {
    return field.form == NumberForm::signed_ || field.form == NumberForm::error ||
           (field.form == NumberForm::enumeration && field.enumeration &&
            field.enumeration->is_signed);
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
