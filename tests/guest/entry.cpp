// SPDX-License-Identifier: GPL-2.0
#include "entry.h"

#include <string>

#include "guest.h"
#include "util/error.h"

namespace trapline::guest {

// As the kernel lists it.
unsigned entry_offset() {
    static const unsigned offset = [] {
        Traced traced;
        traced.add(entry_of(1, "write_null"));
        const std::string name = "write_null+0x";
        for (const std::string& line : planted()) {
            const std::size_t at = line.find(name);
            if (at != std::string::npos)
                return static_cast<unsigned>(
                    std::stoul(line.substr(at + name.size()), nullptr, 16));
        }
        throw Error("the kernel's list of kprobes lacks ours");
    }();
    return offset;
}

unsigned behind_entry() {
    return entry_offset() + 5;
}

} // namespace trapline::guest
