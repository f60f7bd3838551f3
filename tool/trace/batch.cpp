// SPDX-License-Identifier: GPL-2.0
// Events of one ring, in its order, with the bytes that their fields lie in.
#include "trace/batch.h"

#include <algorithm>

namespace trapline {

std::span<const std::byte> Batch::append(std::span<const std::byte> source) {
    const std::size_t before = bytes.size();
    if (source.size() > bytes.capacity() - before) {
        std::vector<std::byte> larger;
        larger.reserve(std::max(before + source.size(), 2 * bytes.capacity()));
        larger.assign(bytes.begin(), bytes.end());
        for (Event& event : events) {
            if (!event.fields.empty())
                event.fields = {larger.data() + (event.fields.data() - bytes.data()),
                                event.fields.size()};
        }
        bytes.swap(larger);
    }
    bytes.insert(bytes.end(), source.begin(), source.end());
    return std::span<const std::byte>(bytes).subspan(before);
}

void Batch::clear() {
    bytes.clear();
    events.clear();
}

std::size_t Batch::footprint() const {
    return bytes.capacity() + events.capacity() * sizeof(Event);
}

} // namespace trapline
