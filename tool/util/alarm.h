// SPDX-License-Identifier: GPL-2.0
// Something that other threads can raise, and poll() sees.
#pragma once

#include "util/fd.h"

namespace trapline {

class Alarm {
public:
    Alarm();

    int fd() const { return fd_.get(); }
    void raise() const;

private:
    UniqueFd fd_;
};

} // namespace trapline
