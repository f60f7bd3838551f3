// SPDX-License-Identifier: GPL-2.0
// Which functions of the running kernel return addresses lead back into.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "symbols/kallsyms.h"
#include "symbols/place.h"

namespace trapline {

// A return address may lie behind its function's end, if that ends in the call. So it is looked for
// where the call was.
struct Caller {
    Place place;            // of the return address itself
    std::uint64_t size = 0; // bytes of the function, as far as they are known
};

class Callers {
public:
    // What isn't among these is asked of `find_elsewhere` at once: /proc/kallsyms as it is then,
    // for modules loaded later and for code made at run time.
    explicit Callers(
        Kallsyms symbols, std::function<std::optional<Place>(std::uint64_t)> find_elsewhere =
                              [](std::uint64_t address) { return find_place(address); });

    // None: it is in no function, or addresses are hidden. It stays where it is.
    const std::optional<Caller>& find(std::uint64_t return_address);

    // "vfs_read+0x1c", "ext4_file_read_iter+0x43 [ext4]", or the address.
    std::string name(std::uint64_t return_address);

private:
    std::optional<Caller> look(std::uint64_t return_address) const;

    Kallsyms symbols_;
    std::function<std::optional<Place>(std::uint64_t)> find_elsewhere_;
    std::unordered_map<std::uint64_t, std::optional<Caller>> known_;
};

} // namespace trapline
