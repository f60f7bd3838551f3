// SPDX-License-Identifier: GPL-2.0
// Which build of a kernel or of a module something belongs to.
#include "types/kernel_build.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "util/elf_file.h"
#include "util/error.h"
#include "util/kernel_name.h"
#include "util/text_file.h"

namespace trapline {

namespace {

std::string digits(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

// "name: value" of `info`, as modinfo_of_file() gives it.
std::string modinfo_value(const std::string& info, std::string_view name) {
    const std::string begin = fmt::format("{}: ", name);
    std::size_t at = info.starts_with(begin) ? 0 : info.find('\n' + begin);
    if (at == std::string::npos)
        return {};
    at = info.find(": ", at) + 2;
    return info.substr(at, info.find('\n', at) - at);
}

// "Linux version 6.1.0-18-amd64 (...", which the image has among its texts.
std::string release_of_image(ElfFile& file) {
    constexpr std::string_view mark = "Linux version ";
    constexpr std::uint64_t texts_most = 64 << 20;
    const std::string texts = file.contents(".rodata", texts_most);
    for (std::size_t at = texts.find(mark); at != std::string::npos; at = texts.find(mark, at)) {
        at += mark.size();
        const std::string release = texts.substr(at, texts.find_first_of(" \n%", at) - at);
        if (!release.empty() && release.front() >= '0' && release.front() <= '9')
            return release;
    }
    return {};
}

// A file name without folders and what it ends in, as a module's: "nf_nat".
std::string stem(const std::string& path) {
    std::string name = path.substr(path.find_last_of('/') + 1);
    name = name.substr(0, name.find(".ko"));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

} // namespace

KernelBuild running_build(const std::string& module, const std::string& sys) {
    const std::string notes = module.empty()
                                  ? sys + "/kernel/notes"
                                  : sys + "/module/" + module + "/notes/.note.gnu.build-id";
    return {module, kernel_release(), digits(build_id(read_text(notes)))};
}

KernelBuild build_of_file(const std::string& path) {
    ElfFile file(path);
    KernelBuild build;
    build.id = digits(build_id_of_file(path));
    if (!file.has(".gnu.linkonce.this_module")) {
        build.release = release_of_image(file);
        return build;
    }
    // What objcopy leaves of a module for its debug information has this without contents.
    const std::string info = modinfo_of_file(path);
    build.module = modinfo_value(info, "name");
    if (build.module.empty())
        build.module = stem(path);
    const std::string vermagic = modinfo_value(info, "vermagic");
    build.release = vermagic.substr(0, vermagic.find(' '));
    return build;
}

void check_runs(const KernelBuild& build, const std::string& path, const std::string& sys) {
    const KernelBuild running = running_build(build.module, sys);
    if (build.id.empty() || running.id.empty() || build.id == running.id)
        return;
    const std::string what = build.module.empty() ? "kernel" : "module " + build.module;
    const std::string release =
        build.release.empty() || build.release == running.release
            ? std::string("another build")
            : fmt::format("{}, and this is {}", build.release, running.release);
    throw Error(fmt::format("{} is not of the {} that runs: it is of {} (build id {}, not {})",
                            path, what, release, build.id, running.id),
                build.module.empty()
                    ? fmt::format("take this kernel's; where distributions have it: "
                                  "/usr/lib/debug/boot/vmlinux-{0}, or "
                                  "/usr/lib/debug/lib/modules/{0}/vmlinux",
                                  running.release)
                    : fmt::format("take that of the {} that is loaded: see modinfo -n {}", what,
                                  build.module));
}

} // namespace trapline
