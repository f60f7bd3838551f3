// SPDX-License-Identifier: GPL-2.0
// Which functions of the running kernel return addresses lead back into, and which symbols other
// addresses are in.
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

// The kernel's symbols once more, if it has other modules now than when it was asked last, or has
// them elsewhere.
class NewerSymbols {
public:
    explicit NewerSymbols(std::string modules = "/proc/modules",
                          std::string kallsyms = "/proc/kallsyms");
    std::optional<Kallsyms> operator()();

private:
    std::string modules_path_;
    std::string kallsyms_path_;
    std::string modules_;
};

class Callers {
public:
    // What isn't among these is asked of `find_elsewhere` at once: /proc/kallsyms as it is then,
    // for modules loaded later and for code made at run time.
    explicit Callers(
        Kallsyms symbols,
        std::function<std::optional<Place>(std::uint64_t)> find_elsewhere =
            [](std::uint64_t address) { return find_place(address); },
        std::function<std::optional<Kallsyms>()> newer = NewerSymbols());

    // None: it is in no function, or addresses are hidden. It stays where it is.
    const std::optional<Caller>& find(std::uint64_t return_address);

    // "vfs_read+0x1c", "ext4_file_read_iter+0x43 [ext4]", or the address.
    std::string name(std::uint64_t return_address);

    // The symbol, of a function or data, that any address is in. What isn't found near the others,
    // where modules are, is looked for in the symbols of those that came since.
    std::optional<Caller> find_symbol(std::uint64_t address);
    std::string symbol_name(std::uint64_t address);

private:
    std::optional<Caller> look(std::uint64_t return_address) const;

    bool may_be_module(std::uint64_t address) const;

    Kallsyms symbols_;
    std::optional<Kallsyms> newest_; // of symbols, once there were other modules
    std::function<std::optional<Place>(std::uint64_t)> find_elsewhere_;
    std::function<std::optional<Kallsyms>()> newer_;
    std::unordered_map<std::uint64_t, std::optional<Caller>> known_;
};

} // namespace trapline
