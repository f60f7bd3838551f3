// SPDX-License-Identifier: GPL-2.0
// Makes the sanitizers look at what was decoded.
#pragma once

#include <vector>

#include "trace/fields.h"

namespace trapline {

// Touches every byte that a value is said to have.
inline unsigned touch(const FieldValue& value) {
    unsigned sum = 0;
#ifdef TL_PLANTED_BUG
    // Reads one byte too many of a kind of string that no seed has.
    if (value.state == FieldValue::State::fault && !value.text.empty()) {
        const std::vector<char> copy(value.text.begin(), value.text.end());
        sum += static_cast<unsigned char>(copy.data()[copy.size()]);
    }
#endif
    for (const char c : value.text)
        sum += static_cast<unsigned char>(c);
    return sum;
}

} // namespace trapline
