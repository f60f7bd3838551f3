// SPDX-License-Identifier: GPL-2.0
// The kernel image's instructions, as they are in memory.
#include "kernel_text.h"

#include <elf.h>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include "symbols/kallsyms.h"
#include "util/error.h"
#include "util/fd.h"

namespace trapline::guest {

namespace {

// From an instruction that a trap or a jump replaces to the next one that could be.
constexpr std::size_t longest_change = 5;

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

Range text_range() {
    const Kallsyms kallsyms;
    const auto address_of = [&](std::string_view name) {
        const std::vector<Symbol> found = kallsyms.find(name, "kernel");
        return found.empty() ? 0 : found.front().address;
    };
    const Range range{address_of("_stext"), address_of("_etext")};
    if (range.begin == 0 || range.end <= range.begin)
        throw Error("/proc/kallsyms doesn't tell where the kernel's instructions are");
    return range;
}

// Where in /proc/kcore the segment with `range` has it.
off_t find_segment(int fd, const Range& range) {
    Elf64_Ehdr header{};
    if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
        throw Error("/proc/kcore has no header");
    for (unsigned i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment{};
        const auto at = static_cast<off_t>(header.e_phoff + i * sizeof(segment));
        if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
            break;
        if (segment.p_type == PT_LOAD && segment.p_vaddr <= range.begin &&
            range.end - segment.p_vaddr <= segment.p_memsz)
            return static_cast<off_t>(segment.p_offset + (range.begin - segment.p_vaddr));
    }
    throw Error("/proc/kcore doesn't have the kernel's instructions");
}

} // namespace

KernelText read_kernel_text() {
    const Range range = text_range();
    const UniqueFd fd(open("/proc/kcore", O_RDONLY | O_CLOEXEC));
    if (!fd)
        throw errno_error("cannot open /proc/kcore", errno);
    const off_t at = find_segment(fd.get(), range);
    KernelText text{range.begin, std::string(range.end - range.begin, '\0')};
    for (std::size_t done = 0; done < text.bytes.size();) {
        const ssize_t got = pread(fd.get(), text.bytes.data() + done, text.bytes.size() - done,
                                  at + static_cast<off_t>(done));
        if (got <= 0)
            throw errno_error("cannot read /proc/kcore", errno);
        done += static_cast<std::size_t>(got);
    }
    return text;
}

std::vector<std::uint64_t> changed_places(const KernelText& before, const KernelText& now) {
    std::vector<std::uint64_t> places;
    for (std::size_t i = 0; i < before.bytes.size() && i < now.bytes.size(); i++) {
        if (before.bytes[i] == now.bytes[i])
            continue;
        places.push_back(before.address + i);
        i += longest_change - 1;
    }
    return places;
}

} // namespace trapline::guest
