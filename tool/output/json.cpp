// SPDX-License-Identifier: GPL-2.0
// Events as JSON, an object a line.
#include "output/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "output/number.h"
#include "output/text.h"

namespace trapline {

namespace {

using Json = nlohmann::ordered_json;

// Numbers are numbers where their type says that they are to be counted with. Addresses, bits and
// what has no type are text: JSON's own numbers lose what is beyond 2^53 in many readers.
Json number_json(std::uint64_t number, const Field& field) {
    switch (field.form) {
    case NumberForm::unsigned_:
        return number;
    case NumberForm::signed_:
    case NumberForm::error:
        return static_cast<std::int64_t>(number);
    case NumberForm::character:
        return character_text(number);
    case NumberForm::ip4: {
        std::string text;
        append_number(text, number, field);
        return text;
    }
    case NumberForm::boolean:
        if (number > 1)
            return number;
        return number != 0;
    case NumberForm::enumeration: {
        std::string name = field.enumeration ? enum_text(number, field) : "";
        if (!name.empty())
            return name;
        if (field.enumeration && field.enumeration->is_signed)
            return static_cast<std::int64_t>(number);
        return number;
    }
    default:
        return fmt::format("{:#x}", number);
    }
}

// Text, or bytes as text.
std::string text_of(const FieldValue& value) {
    if (value.field == nullptr || value.field->type != FieldType::bytes)
        return std::string(value.text);
    std::string text;
    append_bytes(text, value.text, *value.field);
    return text;
}

Json to_json(const FieldValue& value, const AddressNames& names) {
    switch (value.state) {
    case FieldValue::State::null:
        return nullptr;
    case FieldValue::State::whole:
        return text_of(value);
    case FieldValue::State::cut:
        return {{"text", text_of(value)}, {"status", "cut"}};
    case FieldValue::State::fault:
        return {{"text", text_of(value)}, {"status", "fault"}};
    case FieldValue::State::number_fault:
        return {{"status", "fault"}};
    default:
        if (is_symbolic(*value.field))
            return names.of(value.number, *value.field);
        return number_json(value.number, *value.field);
    }
}

Json to_array(std::span<const FieldValue> values, const AddressNames& names) {
    Json array = Json::array();
    for (const FieldValue& value : values) {
        if (is_listed(value))
            array.push_back(to_json(value, names));
    }
    return array;
}

Json to_object(std::span<const FieldValue> values, std::span<const Field> fields,
               const AddressNames& names) {
    Json object = Json::object();
    for (std::size_t i = 0; i < values.size(); i++) {
        if (is_listed(values[i]))
            object[fields[i].name] = to_json(values[i], names);
    }
    return object;
}

void add_return(Json& object, std::span<const FieldValue> values, const AddressNames& names) {
    Json array = to_array(values, names);
    if (array.empty())
        return;
    if (array.size() > 1) {
        object["return"] = std::move(array);
        return;
    }
    object["return"] = std::move(array.front());
    if (const auto error = error_of(*std::find_if(values.begin(), values.end(), is_listed)))
        object["errno"] = error_label(*error);
}

// A mark is no hit: what was written is all there is.
void add_values(Json& object, const EventLayout& layout, const ClockConversion& clock,
                const FieldValues& values, const AddressNames& names) {
    if (layout.id == TL_ID_MARK) {
        object["text"] = to_json(values.entry.front(), names);
        return;
    }
    if (!layout.at_entry)
        object["registers"] = to_object(values.entry, layout.entry_fields, names);
    else if (layout.kind != TRAPLINE_RETURN || !layout.entry_fields.empty())
        object["args"] = layout.named ? to_object(values.entry, layout.entry_fields, names)
                                      : to_array(values.entry, names);
    add_return(object, values.ret, names);
    if (layout.kind == TRAPLINE_CALL)
        object["duration_ns"] = clock.duration_ns(values.duration);
}

void add_stack(Json& object, const FieldValue& stack, const AddressNames& names) {
    Json frames = Json::array();
    for (const std::uint64_t frame : stack_frames(stack))
        frames.push_back(names.caller(frame));
    object["stack"] = std::move(frames);
    if (stack.state != FieldValue::State::whole)
        object["stack_status"] = stack.state == FieldValue::State::cut ? "cut" : "fault";
}

} // namespace

void JsonPrinter::print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                        std::string& out) {
    const std::array<char, 4> flags = flag_characters(event.flags);
    Json object;

    if (!trace_.empty()) {
        object["trace"] = trace_;
        object["realtime_ns"] = clock.to_realtime_ns(event.ticks);
    }
    object["time_ns"] = clock.to_monotonic_ns(event.ticks);
    object["cpu"] = event.cpu;
    object["pid"] = event.tgid;
    object["tid"] = event.tid;
    object["comm"] = comm_of(event);
    object["flags"] = std::string_view(flags.data(), flags.size());
    object["event"] = layout.name;
    object["kind"] = event_kind(layout);
    if (decode_fields(layout, event.fields, values_)) {
        add_values(object, layout, clock, values_, names());
        if (const FieldValue* stack = stack_of(values_))
            add_stack(object, *stack, names());
    } else {
        object["error"] = "the record is not what its event's layout says";
    }
    if (event.straggler)
        object["late"] = true;
    // ASCII only: a terminal obeys some control characters in UTF-8 as well.
    out += object.dump(-1, ' ', true, Json::error_handler_t::replace);
    out += '\n';
}

} // namespace trapline
