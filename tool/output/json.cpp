// SPDX-License-Identifier: GPL-2.0
// Events as JSON, an object a line.
#include "output/json.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "output/text.h"
#include "util/errno_name.h"

namespace trapline {

namespace {

using Json = nlohmann::ordered_json;

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

// Numbers as text: JSON's own lose what is beyond 2^53 in many readers.
Json to_json(const FieldValue& value) {
    switch (value.state) {
    case FieldValue::State::null:
        return nullptr;
    case FieldValue::State::whole:
        return value.text;
    case FieldValue::State::cut:
        return {{"text", value.text}, {"status", "cut"}};
    case FieldValue::State::fault:
        return {{"text", value.text}, {"status", "fault"}};
    case FieldValue::State::number_fault:
        return {{"status", "fault"}};
    default:
        return fmt::format("{:#x}", value.number);
    }
}

Json to_array(std::span<const FieldValue> values) {
    Json array = Json::array();
    for (const FieldValue& value : values) {
        if (value.state != FieldValue::State::faults)
            array.push_back(to_json(value));
    }
    return array;
}

Json to_object(std::span<const FieldValue> values, std::span<const Field> fields) {
    Json object = Json::object();
    for (std::size_t i = 0; i < values.size(); i++) {
        if (values[i].state != FieldValue::State::faults)
            object[fields[i].name] = to_json(values[i]);
    }
    return object;
}

void add_return(Json& object, std::span<const FieldValue> values) {
    Json array = to_array(values);
    if (array.empty())
        return;
    if (array.size() > 1) {
        object["return"] = std::move(array);
        return;
    }
    object["return"] = std::move(array.front());
    const FieldValue& value = values.front();
    const auto error =
        value.state == FieldValue::State::number ? errno_of(value.number) : std::nullopt;
    if (!error)
        return;
    const std::string_view name = errno_name(*error);
    object["errno"] = name.empty() ? std::to_string(*error) : std::string(name);
}

} // namespace

void JsonPrinter::print(const Event& event, const EventLayout& layout, const ClockConversion& clock,
                        std::string& out) {
    const std::array<char, 4> flags = flag_characters(event.flags);
    const auto* comm_end = std::find(event.comm.begin(), event.comm.end(), '\0');
    Json object;

    object["time_ns"] = clock.to_monotonic_ns(event.ticks);
    object["cpu"] = event.cpu;
    object["pid"] = event.tgid;
    object["tid"] = event.tid;
    object["comm"] = std::string(event.comm.begin(), comm_end);
    object["flags"] = std::string_view(flags.data(), flags.size());
    object["event"] = layout.name;
    object["kind"] = kind_name(layout.kind);
    if (!decode_fields(layout, event.fields, values_)) {
        object["error"] = "the record is not what its event's layout says";
    } else {
        if (!layout.at_entry)
            object["registers"] = to_object(values_.entry, layout.entry_fields);
        else if (layout.kind != TRAPLINE_RETURN)
            object["args"] = to_array(values_.entry);
        add_return(object, values_.ret);
        if (layout.kind == TRAPLINE_CALL)
            object["duration_ns"] = clock.duration_ns(values_.duration);
    }
    if (event.straggler)
        object["late"] = true;
    // ASCII only: a terminal obeys some control characters in UTF-8 as well.
    out += object.dump(-1, ' ', true, Json::error_handler_t::replace);
    out += '\n';
}

} // namespace trapline
