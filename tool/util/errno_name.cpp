// SPDX-License-Identifier: GPL-2.0
// Names of error numbers, those that only the kernel's own functions return included.
#include "util/errno_name.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace trapline {

namespace {

struct Name {
    unsigned number;
    std::string_view name;
};

// include/linux/errno.h: never seen by user space, so the C library doesn't know them.
constexpr std::array kernel_names = std::to_array<Name>({
    {512, "ERESTARTSYS"},
    {513, "ERESTARTNOINTR"},
    {514, "ERESTARTNOHAND"},
    {515, "ENOIOCTLCMD"},
    {516, "ERESTART_RESTARTBLOCK"},
    {517, "EPROBE_DEFER"},
    {518, "EOPENSTALE"},
    {519, "ENOPARAM"},
    {521, "EBADHANDLE"},
    {522, "ENOTSYNC"},
    {523, "EBADCOOKIE"},
    {524, "ENOTSUPP"},
    {525, "ETOOSMALL"},
    {526, "ESERVERFAULT"},
    {527, "EBADTYPE"},
    {528, "EJUKEBOX"},
    {529, "EIOCBQUEUED"},
    {530, "ERECALLCONFLICT"},
    {531, "ENOGRACE"},
});

// Second names, which errno_name() never gives.
constexpr std::array second_names = std::to_array<Name>({
    {EAGAIN, "EWOULDBLOCK"},
    {EDEADLK, "EDEADLOCK"},
    {EOPNOTSUPP, "ENOTSUP"},
});

} // namespace

std::string_view errno_name(unsigned number) {
    for (const Name& entry : kernel_names) {
        if (entry.number == number)
            return entry.name;
    }
    if (number == 0 || number > errno_max)
        return {};
    const char* name = strerrorname_np(static_cast<int>(number));
    return name != nullptr ? name : std::string_view{};
}

std::optional<unsigned> errno_number(std::string_view name) {
    for (const Name& entry : second_names) {
        if (entry.name == name)
            return entry.number;
    }
    for (unsigned number = 1; number <= errno_max && !name.empty(); number++) {
        if (errno_name(number) == name)
            return number;
    }
    return std::nullopt;
}

std::optional<unsigned> errno_of(std::uint64_t value) {
    if (value >= -std::uint64_t{errno_max})
        return static_cast<unsigned>(-value);
    if (value <= UINT32_MAX && value >= -std::uint32_t{errno_max})
        return -static_cast<std::uint32_t>(value);
    return std::nullopt;
}

} // namespace trapline
