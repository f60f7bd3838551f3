// SPDX-License-Identifier: GPL-2.0
// Builds the bytes of a record's fields as shared/record.h describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace trapline::test {

class RecordBytes {
public:
    template <typename T>
    RecordBytes& number(T value) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + (sizeof(T) + 3) / 4 * 4);
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        return *this;
    }

    RecordBytes& string(std::uint16_t status, std::string_view text) {
        number(static_cast<std::uint32_t>(status | text.size() << 16));
        const auto bytes = std::as_bytes(std::span(text));
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        bytes_.resize((bytes_.size() + 3) / 4 * 4);
        return *this;
    }

    operator std::vector<std::byte>() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

} // namespace trapline::test
