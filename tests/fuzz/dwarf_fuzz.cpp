// SPDX-License-Identifier: GPL-2.0
// DWARF, whatever it says: its types and lines are used as a probe does. See dwarf_input.h for the
// input.
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "dwarf_input.h"
#include "fuzz.h"
#include "types/dwarf_lines.h"
#include "types/dwarf_types.h"
#include "walk_types.h"

using namespace trapline;
using namespace trapline::fuzz;

namespace {

void ask_lines(const DwarfFile& file) {
    const DwarfLines lines(file);
    holds([&] {
        for (const SourcePlace& function : lines.functions("opened")) {
            MUST(function.offset == 0);
            for (unsigned line = 0; line < 16; line++)
                for (const SourcePlace& place : lines.places(function, line))
                    MUST(place.offset < text_size && place.line == line);
            lines.near(function, 3);
            MUST(!lines.anchors(function.address).empty());
        }
    });
    holds([&] {
        for (const SourcePlace& place : lines.places("a.c", 3))
            MUST(place.offset < text_size && place.function == "opened");
        lines.near("a.c", 3);
        lines.has_file("nothing.c");
    });
}

void ask_types(const DwarfFile& file, std::size_t size) {
    const DwarfTypes types(file);
    TypeId near = void_type;
    holds([&] {
        if (const auto function = types.function("opened")) {
            near = *function;
            MUST(types.at(near).kind == TypeKind::function);
        }
    });
    // Also where no DIE begins: what refers to a place may lie.
    for (TypeId id = 0; id < size && id < 512; id++)
        walk(types, id);
    find_all(types, near);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes =
        MadeElf(std::string_view(reinterpret_cast<const char*>(data), size)).bytes();
    const int fd = memfd_create("dwarf", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    holds([&] {
        const DwarfFile file("/proc/self/fd/" + std::to_string(fd));
        ask_types(file, size);
        ask_lines(file);
    });
    close(fd);
    return 0;
}
