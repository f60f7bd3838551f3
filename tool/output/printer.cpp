// SPDX-License-Identifier: GPL-2.0
// What turns events into output, whatever its form.
#include "output/printer.h"

#include <algorithm>
#include <fmt/format.h>

#include "util/errno_name.h"

namespace trapline {

std::string hex_name(std::uint64_t address) {
    return fmt::format("{:#x}", address);
}

std::string AddressNames::of(std::uint64_t number, const Field& field) const {
    return field.form == NumberForm::caller ? caller(number) : symbol(number);
}

std::string_view kind_name(trapline_probe_kind kind) {
    switch (kind) {
    case TRAPLINE_ENTRY:
        return "entry";
    case TRAPLINE_RETURN:
        return "return";
    default:
        return "call";
    }
}

std::string_view event_kind(const EventLayout& layout) {
    return layout.id == TL_ID_MARK ? "mark" : kind_name(layout.kind);
}

std::string_view comm_of(const Event& event) {
    const auto* end = std::find(event.comm.begin(), event.comm.end(), '\0');
    return {event.comm.data(), static_cast<std::size_t>(end - event.comm.begin())};
}

std::optional<unsigned> error_of(const FieldValue& returned) {
    if (returned.state != FieldValue::State::number)
        return std::nullopt;
    const NumberForm form = returned.field ? returned.field->form : NumberForm::raw;
    if (form == NumberForm::raw)
        return errno_of(returned.number);
    // In all 64 bits: a signed number's sign is extended, and an int is not taken for a pointer.
    const std::uint64_t positive = -returned.number;
    if ((form == NumberForm::signed_ || form == NumberForm::error || form == NumberForm::pointer) &&
        positive != 0 && positive <= errno_max)
        return static_cast<unsigned>(positive);
    return std::nullopt;
}

std::string error_label(unsigned error) {
    const std::string_view name = errno_name(error);
    return name.empty() ? std::to_string(error) : std::string(name);
}

} // namespace trapline
