// SPDX-License-Identifier: GPL-2.0
// Which functions return addresses lead back into, and which symbols other addresses are in, by
// what a trace's description knows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/description.h"

namespace trapline {

class RecordedCallers {
public:
    // Those of unknown size are left out.
    explicit RecordedCallers(std::span<const SymbolDescription> symbols);

    // "vfs_read+0x1c", "ext4_file_read_iter+0x43 [ext4]", or the address.
    std::string name(std::uint64_t return_address) const;

    // The same of any address, "vfs_read" where the symbol begins.
    std::string symbol_name(std::uint64_t address) const;

private:
    // Of `address`, as part of the symbol that `inside` is in.
    std::string name(std::uint64_t address, std::uint64_t inside) const;

    std::vector<SymbolDescription> symbols_; // by address
};

} // namespace trapline
