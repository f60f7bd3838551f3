// SPDX-License-Identifier: GPL-2.0
// The processes that hold sessions' descriptors now.
#include "command/holders.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <unistd.h>

#include "shared/trapline.h"

namespace trapline {

namespace {

constexpr std::string_view device_path = "/dev/" TRAPLINE_DEVICE;

std::optional<std::uint32_t> number(std::string_view text) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// The entries of a directory of /proc that are numbers. What is gone has none: processes end
// while they are looked at. Returns false if it is there and can't be read.
template <class Visit>
bool for_each_number(const std::string& directory, Visit visit) {
    struct Closer {
        void operator()(DIR* open) const noexcept { closedir(open); }
    };
    const std::unique_ptr<DIR, Closer> open(opendir(directory.c_str()));
    if (!open)
        return errno == ENOENT || errno == ESRCH;
    while (const dirent* entry = readdir(open.get())) { // NOLINT(concurrency-mt-unsafe)
        if (const auto value = number(entry->d_name))
            visit(*value);
    }
    return true;
}

bool is_device(const std::string& link) {
    char target[64]; // a longer one isn't the device
    const ssize_t length = readlink(link.c_str(), target, sizeof(target));
    return length > 0 && std::string_view(target, static_cast<std::size_t>(length)) == device_path;
}

std::optional<std::uint32_t> session_of(const std::string& fdinfo) {
    constexpr std::string_view key = "session:\t";
    std::ifstream file(fdinfo);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key))
            return number(std::string_view(line).substr(key.size()));
    }
    return std::nullopt;
}

std::string comm_of(const std::string& process) {
    std::ifstream file(process + "/comm");
    std::string comm;
    std::getline(file, comm);
    return comm;
}

} // namespace

Holders find_holders(const std::string& proc) {
    Holders all;
    std::vector<Holder>& holders = all.found;
    const bool read = for_each_number(proc, [&](std::uint32_t pid) {
        const std::string process = fmt::format("{}/{}", proc, pid);
        const bool fds_read = for_each_number(process + "/fd", [&](std::uint32_t fd) {
            if (!is_device(fmt::format("{}/fd/{}", process, fd)))
                return;
            if (const auto session = session_of(fmt::format("{}/fdinfo/{}", process, fd)))
                holders.push_back({*session, pid, comm_of(process)});
        });
        all.complete = all.complete && fds_read;
    });
    all.complete = all.complete && read && access(proc.c_str(), F_OK) == 0 &&
                   access((proc + "/self").c_str(), F_OK) == 0;
    std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
        return std::tie(a.session, a.pid) < std::tie(b.session, b.pid);
    });
    holders.erase(std::unique(holders.begin(), holders.end(),
                              [](const Holder& a, const Holder& b) {
                                  return a.session == b.session && a.pid == b.pid;
                              }),
                  holders.end());
    return all;
}

} // namespace trapline
