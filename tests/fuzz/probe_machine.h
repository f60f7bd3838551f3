// SPDX-License-Identifier: GPL-2.0
// What programs find when a fuzzer runs them: registers that lead to text, structures and nowhere.
#pragma once

#include "../unit/mock_machine.h"

namespace {

struct FuzzMachine {
    static constexpr __u64 kernel_page = 0xffff888000010000;
    static constexpr __u64 user_page = 0x00007f0000020000;

    FuzzMachine() {
        mock = {};
        // Pointers, each to the next, and text at the end, up to the last byte that is there.
        for (__u64 at = 0; at + 8 <= mock_page; at += 8)
            mock.kernel.store_u64(kernel_page + at, kernel_page + (at + 64) % mock_page);
        mock.kernel.store(kernel_page + mock_page - 5, "names");
        mock.user.store(user_page, "text of a task's");
        mock.task = {11, 300, 70000, 1, kernel_page + 128};
        for (std::size_t i = 0; i < regs.word.size(); i++)
            regs.word.at(i) = value(i);
        for (std::size_t i = 0; i < regs.arg.size(); i++)
            regs.arg.at(i) = value(i);
        regs.stack = kernel_page + 512;
        regs.result = kernel_page;
    }

    tl_regs regs{};

private:
    static __u64 value(std::size_t i) {
        constexpr std::array<__u64, 7> values{kernel_page,
                                              kernel_page + 64,
                                              user_page,
                                              4096,
                                              static_cast<__u64>(-2),
                                              kernel_page + mock_page - 5,
                                              0};
        return values.at(i % values.size());
    }
};

} // namespace
