// SPDX-License-Identifier: GPL-2.0
// The running kernel's configuration, from wherever it is kept.
#pragma once

#include <string>
#include <string_view>

#include "doctor/system.h"

namespace trapline {

class KernelConfig {
public:
    KernelConfig(const System& system, const std::string& release);

    // The file that it is from; empty: there is none.
    const std::string& source() const { return source_; }
    bool known() const { return !source_.empty(); }

    // "y", "m", or a number or text; empty: it is not set. `option` without CONFIG_.
    std::string_view value(std::string_view option) const;

    // "CONFIG_X=y (/boot/config-6.1)", "CONFIG_X is not set (/boot/config-6.1)".
    std::string words(std::string_view option) const;

private:
    std::string source_;
    std::string text_;
};

} // namespace trapline
