// SPDX-License-Identifier: GPL-2.0
// BTF, whatever it says: each of its types is used as a probe does.
#include <memory>
#include <span>

#include "fuzz.h"
#include "types/btf.h"
#include "walk_types.h"

using namespace trapline;
using namespace trapline::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr TypeId walked = 64; // more than any seed has
    std::unique_ptr<BtfTypes> types;
    if (!holds([&] {
            types =
                std::make_unique<BtfTypes>(std::as_bytes(std::span(data, size)), nullptr, "input");
        }))
        return 0;
    for (TypeId id = 0; id < walked; id++)
        walk(*types, id);
    for (const char* name : {"opened", "nothing"})
        holds([&] {
            if (const auto function = types->function(name))
                walk(*types, *function);
        });
    find_all(*types, void_type);
    return 0;
}
