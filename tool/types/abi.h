// SPDX-License-Identifier: GPL-2.0
// Where calling conventions put a function's arguments and result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "types/type.h"

namespace trapline {

enum class Abi : std::uint8_t { x86_64, aarch64, riscv64 };

// The kernel's, of the machine that this is built for.
#if defined(__aarch64__)
constexpr Abi native_abi = Abi::aarch64;
#elif defined(__riscv)
constexpr Abi native_abi = Abi::riscv64;
#else
constexpr Abi native_abi = Abi::x86_64;
#endif

// Words as TL_OP_ARG counts them: those in registers (6 on x86-64, else 8), then the stack's.
struct ArgumentPlace {
    unsigned first = 0;
    // 0: nothing is passed, or in a register that isn't saved (floating point), or its address
    unsigned words = 0;
    bool by_address = false; // which is in the first word
};

struct CallPlaces {
    std::vector<ArgumentPlace> arguments; // of the parameters, in order
    unsigned words = 0;                   // of the result, in the registers for that; 0: none there
    bool result_in_memory = false; // what the first argument and the result's register point to
};

// `function`: a type of that kind. Error if its types are damaged.
CallPlaces call_places(const Types& types, const Type& function, Abi abi = native_abi);

} // namespace trapline
