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

// What ftrace may patch is refused, and whatever isn't an instruction's first byte.
unsigned behind_entry() {
    static const unsigned offset = [] {
        ProbeRequest request = entry_of(1, "write_null");
        for (request.offset = entry_offset() + 1; request.offset < 32; request.offset++) {
            Traced traced;
            if (traced.session().add_probes({&request, 1}).front().error == 0)
                return static_cast<unsigned>(request.offset);
        }
        throw Error("write_null has no instruction that can be probed");
    }();
    return offset;
}

} // namespace trapline::guest
