// SPDX-License-Identifier: GPL-2.0
// Where the calling conventions of arm64 (AAPCS64) and riscv64 (LP64) put arguments and results.
#pragma once

#include "types/abi.h"

namespace trapline {

CallPlaces call_places_aarch64(const Types& types, const Type& function);
CallPlaces call_places_riscv64(const Types& types, const Type& function);

} // namespace trapline
