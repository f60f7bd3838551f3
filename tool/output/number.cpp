// SPDX-License-Identifier: GPL-2.0
// Numbers as their types have them shown.
#include "output/number.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <bit>
#include <charconv>

#include "util/errno_name.h"
#include "util/escape.h"

namespace trapline {

namespace {

template <class Number>
void append_decimal(std::string& out, Number number) {
    std::array<char, 24> text{};
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{})
        out.append(text.data(), end);
}

// Whether every number has a name, from 1 to the largest that has one.
bool is_counted(const std::vector<EnumValue>& values, std::uint64_t mask) {
    std::uint64_t largest = 0;
    for (const EnumValue& value : values)
        largest = std::max(largest, value.value & mask);
    if (largest > values.size())
        return false;
    for (std::uint64_t number = 1; number <= largest; number++)
        if (std::none_of(values.begin(), values.end(),
                         [&](const EnumValue& value) { return (value.value & mask) == number; }))
            return false;
    return true;
}

// All bits that have names of their own, if values are to be joined from them; else 0. They are:
// several single bits, and whatever else there is consists of those. Three of them, for 1 and 2
// alone are how anything is numbered; so is it where every number has a name up to the largest.
std::uint64_t named_bits(const Enumeration& enumeration, std::uint64_t mask) {
    std::uint64_t all = 0;
    for (const EnumValue& value : enumeration.values)
        if (std::has_single_bit(value.value & mask))
            all |= value.value & mask;
    const bool joined =
        std::popcount(all) >= 3 &&
        std::all_of(enumeration.values.begin(), enumeration.values.end(),
                    [&](const EnumValue& value) { return (value.value & mask & ~all) == 0; }) &&
        !is_counted(enumeration.values, mask);
    return joined ? all : 0;
}

void append_error(std::string& out, std::int64_t number) {
    append_decimal(out, number);
    if (number >= 0 || number < -std::int64_t{errno_max})
        return;
    if (const std::string_view name = errno_name(static_cast<unsigned>(-number)); !name.empty())
        out.append(" ").append(name);
}

// The first of its bytes in memory is the lowest one.
void append_ip4(std::string& out, std::uint64_t number) {
    for (unsigned i = 0; i < 4; i++) {
        if (i > 0)
            out += '.';
        append_decimal(out, number >> 8 * i & 0xff);
    }
}

} // namespace

// The most frequent thing of all in a trace: several times as fast as formatting it.
void append_hex(std::string& out, std::uint64_t number) {
    std::array<char, 2 + 16> text{'0', 'x'};
    const auto [end, error] = std::to_chars(text.data() + 2, text.data() + text.size(), number, 16);
    if (error == std::errc{})
        out.append(text.data(), end);
}

void append_bytes(std::string& out, std::string_view bytes, const Field& field) {
    constexpr std::size_t ip6_size = 16;
    if (field.form == NumberForm::ip6 && bytes.size() == ip6_size) {
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (inet_ntop(AF_INET6, bytes.data(), text.data(), text.size()) != nullptr)
            out += text.data();
        return;
    }
    const bool colons = field.form == NumberForm::mac;
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = 0; i < bytes.size(); i++) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        if (colons && i > 0)
            out += ':';
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
}

std::string character_text(std::uint64_t number) {
    std::string text;
    append_escaped(text, std::string_view(std::array{static_cast<char>(number)}.data(), 1), '\'');
    return text;
}

std::string enum_text(std::uint64_t number, const Field& field) {
    const Enumeration& enumeration = *field.enumeration;
    std::string out;
    for (const EnumValue& value : enumeration.values) {
        if (value.value == number) {
            append_escaped(out, value.name);
            return out;
        }
    }
    // As many bits as it has: a sign is extended beyond them.
    const unsigned width = 8U * field.size;
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - width);
    const std::uint64_t bits = named_bits(enumeration, mask);
    const bool negative = enumeration.is_signed && number >> 63 != 0;
    if (number == 0 || bits == 0 || (negative && (bits >> (width - 1) & 1) == 0))
        return out;
    number &= mask;
    for (const EnumValue& value : enumeration.values) {
        const std::uint64_t bit = value.value & mask;
        if (!std::has_single_bit(bit) || (number & bit) == 0)
            continue;
        if (!out.empty())
            out += '|';
        append_escaped(out, value.name);
        number &= ~bit;
    }
    if (number == 0)
        return out;
    if (!out.empty())
        out += '|';
    append_hex(out, number);
    return out;
}

void append_number(std::string& out, std::uint64_t number, const Field& field) {
    switch (field.form) {
    case NumberForm::raw:
    case NumberForm::hex:
    case NumberForm::pointer:
    case NumberForm::ip6:
    case NumberForm::mac:
    case NumberForm::symbol:
    case NumberForm::caller:
        return append_hex(out, number);
    case NumberForm::unsigned_:
        return append_decimal(out, number);
    case NumberForm::signed_:
        return append_decimal(out, static_cast<std::int64_t>(number));
    case NumberForm::boolean:
        if (number > 1)
            return append_decimal(out, number); // it should not be, and is worth seeing
        out += number != 0 ? "true" : "false";
        return;
    case NumberForm::character:
        out += '\'' + character_text(number) + '\'';
        return;
    case NumberForm::error:
        return append_error(out, static_cast<std::int64_t>(number));
    case NumberForm::ip4:
        return append_ip4(out, number);
    case NumberForm::enumeration:
        break;
    }
    const std::string name = field.enumeration ? enum_text(number, field) : "";
    if (!name.empty())
        out += name;
    else if (field.enumeration && field.enumeration->is_signed)
        append_decimal(out, static_cast<std::int64_t>(number));
    else
        append_decimal(out, number);
}

} // namespace trapline
