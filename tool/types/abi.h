// SPDX-License-Identifier: GPL-2.0
// Where x86-64's calling convention puts a function's arguments and result.
#pragma once

#include <string>
#include <vector>

#include "types/type.h"

namespace trapline {

// Words as TL_OP_ARG counts them: 0 to 5 in registers, the others on the stack.
struct ArgumentPlace {
    unsigned first = 0;
    unsigned words = 0; // 0: nothing is passed, or in a register that isn't saved (floating point)
};

struct CallPlaces {
    std::vector<ArgumentPlace> arguments; // of the parameters, in order
    unsigned words = 0;                   // of the result, in RAX and RDX; 0: none there
    bool result_in_memory = false; // what the first register points to, and RAX at the return
};

// `function`: a type of that kind. Error if its types are damaged.
CallPlaces call_places(const Types& types, const Type& function);

} // namespace trapline
