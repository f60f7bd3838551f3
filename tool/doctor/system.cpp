// SPDX-License-Identifier: GPL-2.0
// How the doctor sees a machine.
#include "doctor/system.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/klog.h>
#include <unistd.h>

#include "control/module_file.h"
#include "control/module_loader.h"
#include "control/session.h"
#include "util/elf_file.h"
#include "util/fd.h"
#include "util/kernel_name.h"
#include "util/run_program.h"

namespace trapline {

namespace {

// Of syslog(2): glibc's header has no names for them.
constexpr int read_whole_log = 3;
constexpr int size_of_log = 10;

} // namespace

FileText System::read(const std::string& path) const {
    const UniqueFd fd(open(place(path).c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return {errno, {}};
    FileText file;
    std::array<char, 16384> piece{};
    for (;;) {
        const ssize_t length = ::read(fd.get(), piece.data(), piece.size());
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return {errno, {}};
        if (length == 0)
            return file;
        file.text.append(piece.data(), static_cast<std::size_t>(length));
    }
}

bool System::exists(const std::string& path) const {
    return access(place(path).c_str(), F_OK) == 0;
}

bool System::is_node(const std::string& path, unsigned minor) const {
    return is_node_of(place(path), minor);
}

std::string System::unzipped(const std::string& path) const {
    Finished gzip = run_program({"gzip", "-dc", place(path)}, Heard::output);
    return gzip.status == 0 ? std::move(gzip.text) : std::string();
}

std::string System::modinfo(const std::string& path) const {
    Finished modinfo = run_program({"modinfo", place(path)}, Heard::output);
    return modinfo.status == 0 ? std::move(modinfo.text) : modinfo_of_file(place(path));
}

std::string System::release() const {
    return kernel_release();
}

bool System::has_modprobe() const {
    return run_program({"modprobe", "--version"}, Heard::output).status != 127;
}

std::string System::module_file(const std::string& for_release) const {
    const std::optional<ModuleFile> found = find_module_file(for_release);
    return found ? found->path : std::string();
}

unsigned System::effective_user() const {
    return geteuid();
}

std::string System::kernel_log() const {
    const int size = klogctl(size_of_log, nullptr, 0);
    if (size <= 0)
        return {};
    std::string log(static_cast<std::size_t>(size), '\0');
    const int length = klogctl(read_whole_log, log.data(), size);
    log.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return log;
}

DeviceAnswer System::ask_device() const {
    DeviceAnswer answer;
    try {
        const Session session;
        answer.abi = TRAPLINE_ABI; // it was accepted
    } catch (const OpenError& error) {
        answer.error = error.code();
    } catch (const AbiError& error) {
        answer.abi = error.module_abi();
    } catch (const Error& error) {
        answer.complaint = error.what();
    }
    return answer;
}

std::string System::build_folder() const {
    std::array<char, PATH_MAX> path{};
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    const std::string program(path.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
    constexpr std::string_view built = "/tool/bin/trapline";
    return program.ends_with(built) ? program.substr(0, program.size() - built.size()) + "/kmod"
                                    : std::string();
}

} // namespace trapline
