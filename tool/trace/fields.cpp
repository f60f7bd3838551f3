// SPDX-License-Identifier: GPL-2.0
// Takes a record's fields apart as its event's layout says, and never reads past their end.
#include "trace/fields.h"

#include <algorithm>
#include <cstring>

namespace trapline {

namespace {

// A position in the fields that refuses to pass their end.
class Cursor {
public:
    explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::size_t position() const { return at_; }

    bool skip(std::size_t n) {
        if (n > bytes_.size() - at_)
            return false;
        at_ += n;
        return true;
    }

    template <typename T>
    bool read(T& value) {
        const std::size_t from = at_;
        if (!skip(sizeof(value)))
            return false;
        std::memcpy(&value, bytes_.data() + from, sizeof(value));
        return true;
    }

    bool read_text(std::size_t length, std::string_view& text) {
        const std::size_t from = at_;
        if (!skip(tl_align4(static_cast<std::uint32_t>(length))))
            return false;
        text = {reinterpret_cast<const char*>(bytes_.data()) + from, length};
        return true;
    }

private:
    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
};

// A number of the field's size, in all 64 bits.
std::uint64_t extended(std::uint64_t value, const Field& field) {
    if (field.size >= 8)
        return value;
    const unsigned spare = 64 - 8U * field.size;
    value <<= spare;
    return is_signed(field) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> spare)
                            : value >> spare;
}

bool read_string(Cursor& cursor, FieldValue& value) {
    std::uint16_t status = 0;
    std::uint16_t length = 0;
    if (!cursor.read(status) || !cursor.read(length) || !cursor.read_text(length, value.text))
        return false;
    switch (status) {
    case TL_STR_WHOLE:
        value.state = FieldValue::State::whole;
        return true;
    case TL_STR_CUT:
        value.state = FieldValue::State::cut;
        return true;
    case TL_STR_FAULT:
        value.state = FieldValue::State::fault;
        return true;
    case TL_STR_NULL:
        value.state = FieldValue::State::null;
        return length == 0;
    default:
        return false;
    }
}

bool read_stack(Cursor& cursor, FieldValue& value) {
    std::uint16_t status = 0;
    std::uint16_t length = 0;
    if (!cursor.read(status) || !cursor.read(length) ||
        !cursor.read_text(length * sizeof(std::uint64_t), value.text))
        return false;
    switch (status) {
    case TL_STACK_WHOLE:
        value.state = FieldValue::State::whole;
        return true;
    case TL_STACK_CUT:
        value.state = FieldValue::State::cut;
        return true;
    case TL_STACK_FAULT:
        value.state = FieldValue::State::fault;
        return true;
    default:
        return false;
    }
}

bool read_field(Cursor& cursor, const Field& field, FieldValue& value) {
    std::uint32_t word = 0;
    value = {};
    value.field = &field;
    switch (field.type) {
    case FieldType::raw:
        if (field.size == 8)
            return cursor.read(value.number);
        if (!cursor.read(word))
            return false;
        value.number = extended(word, field);
        return true;
    case FieldType::faults:
        if (!cursor.read(word))
            return false;
        value.number = word;
        value.state = FieldValue::State::faults;
        return true;
    case FieldType::string:
    case FieldType::bytes:
        return read_string(cursor, value);
    case FieldType::stack:
        return read_stack(cursor, value);
    }
    return false;
}

// The mask lies behind the numbers that it speaks of, those of one program, so it is applied when
// all are read. They are numbered from `nth` on; returns how many there are then.
unsigned apply_faults(std::uint64_t mask, std::span<FieldValue> values, unsigned nth) {
    for (FieldValue& value : values) {
        if (value.state != FieldValue::State::number)
            continue;
        // The last bit stands for all numbers from the 31st; a readable one among them that
        // isn't 0 shows itself, for a faulted one is stored as 0.
        if ((mask >> std::min(nth, 31U) & 1) != 0 && value.number == 0)
            value.state = FieldValue::State::number_fault;
        nth++;
    }
    return nth;
}

std::uint64_t mask_of(std::span<const FieldValue> values) {
    std::uint64_t mask = 0;
    for (const FieldValue& value : values)
        if (value.state == FieldValue::State::faults)
            mask |= value.number;
    return mask;
}

void apply_faults(bool is_return, FieldValues& values) {
    const std::uint64_t last = mask_of(values.ret);
    const std::uint64_t first = is_return ? last : mask_of(values.entry);
    if ((first | last) == 0)
        return;
    const unsigned count = apply_faults(first, values.entry, 0);
    apply_faults(last, values.ret, is_return ? count : 0);
}

bool read_fields(Cursor& cursor, std::span<const Field> fields, std::vector<FieldValue>& values) {
    values.resize(fields.size());
    for (std::size_t i = 0; i < fields.size(); i++) {
        if (!read_field(cursor, fields[i], values[i]))
            return false;
    }
    return true;
}

bool skip_fields(Cursor& cursor, std::span<const Field> fields) {
    FieldValue value;
    return std::all_of(fields.begin(), fields.end(),
                       [&](const Field& field) { return read_field(cursor, field, value); });
}

bool has_return(const EventLayout& layout) {
    return layout.kind != TRAPLINE_ENTRY;
}

bool is_stack(const FieldValue& value) {
    return value.field != nullptr && value.field->type == FieldType::stack;
}

} // namespace

bool is_listed(const FieldValue& value) {
    return value.state != FieldValue::State::faults && !is_stack(value);
}

const FieldValue* stack_of(const FieldValues& values) {
    for (const std::vector<FieldValue>* half : {&values.entry, &values.ret}) {
        const auto found = std::find_if(half->begin(), half->end(), is_stack);
        if (found != half->end())
            return &*found;
    }
    return nullptr;
}

std::vector<std::uint64_t> stack_frames(const FieldValue& stack) {
    std::vector<std::uint64_t> frames(stack.text.size() / sizeof(std::uint64_t));
    std::memcpy(frames.data(), stack.text.data(), frames.size() * sizeof(std::uint64_t));
    return frames;
}

std::optional<std::size_t> fields_size(const EventLayout& layout,
                                       std::span<const std::byte> bytes) {
    Cursor cursor(bytes);
    if (!skip_fields(cursor, layout.entry_fields))
        return std::nullopt;
    if (layout.kind == TRAPLINE_CALL && !cursor.skip(sizeof(std::uint64_t)))
        return std::nullopt;
    if (has_return(layout) && !skip_fields(cursor, layout.return_fields))
        return std::nullopt;
    return cursor.position();
}

bool decode_fields(const EventLayout& layout, std::span<const std::byte> bytes,
                   FieldValues& values) {
    Cursor cursor(bytes);
    values.entry.clear();
    values.ret.clear();
    values.duration = 0;
    if (!read_fields(cursor, layout.entry_fields, values.entry))
        return false;
    if (layout.kind == TRAPLINE_CALL && !cursor.read(values.duration))
        return false;
    if (has_return(layout) && !read_fields(cursor, layout.return_fields, values.ret))
        return false;
    apply_faults(layout.kind == TRAPLINE_RETURN, values);
    return true;
}

} // namespace trapline
