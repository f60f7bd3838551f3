// SPDX-License-Identifier: GPL-2.0
// The types of a function that runs.
#include "spec/function_types.h"

namespace trapline {

KnownTypes function_types(TypeSource& types, const std::string& module, const std::string& function,
                          bool only, std::optional<std::uint64_t> file_address) {
    KnownTypes known;
    known.types = types.types_of(module, known.why_none);
    if (known.types == nullptr) {
        // What a module's arguments are cast to is mostly the kernel's.
        std::string why;
        known.types = types.types_of({}, why);
        return known;
    }
    if (only)
        known.function = known.types->function(function);
    else if (file_address)
        known.function = known.types->function_at(*file_address);
    if (!known.function)
        known.why_none =
            only ? "assembly, or changed by the compiler" : "several functions have one name";
    return known;
}

} // namespace trapline
