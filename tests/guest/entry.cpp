// SPDX-License-Identifier: GPL-2.0
#include "entry.h"

#include <map>

#include "guest.h"
#include "machine.h"
#include "util/error.h"

namespace trapline::guest {

bool entries_by_ftrace() {
    static const bool by_ftrace = entries_may_be_by_ftrace && kernel_has("kprobe_ftrace_handler");
    return by_ftrace;
}

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

namespace {

// What ftrace may patch is refused, and whatever isn't an instruction's first byte.
unsigned find_behind_entry(const std::string& function) {
    ProbeRequest request = entry_of(1, function);
    for (request.offset = entry_offset() + 1; request.offset < 32; request.offset++) {
        Traced traced;
        if (traced.session().add_probes({&request, 1}).front().error == 0)
            return static_cast<unsigned>(request.offset);
    }
    throw Error(function + " has no second instruction that can be probed");
}

} // namespace

unsigned behind_entry(const std::string& function) {
    static std::map<std::string, unsigned> known;
    const auto found = known.find(function);
    return found != known.end() ? found->second : known[function] = find_behind_entry(function);
}

} // namespace trapline::guest
