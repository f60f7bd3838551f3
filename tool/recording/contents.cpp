// SPDX-License-Identifier: GPL-2.0
// What lies in a recording's directory, which may be anything and anybody's.
#include "recording/contents.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

namespace trapline {

namespace {

constexpr std::string_view stream_prefix = "cpu_";

struct CloseDirectory {
    void operator()(DIR* directory) const { closedir(directory); }
};

std::string_view what_it_is(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFLNK:
        return "a symbolic link";
    case S_IFIFO:
        return "a FIFO";
    case S_IFSOCK:
        return "a socket";
    default:
        return "a device";
    }
}

[[noreturn]] void refuse(const std::string& file, mode_t mode) {
    throw Error(fmt::format("{} is {}, not a file", file, what_it_is(mode)));
}

} // namespace

bool is_recording_file(const std::string& name) {
    if (name == metadata_name || name == new_metadata_name || name == reserve_name)
        return true;
    return name.starts_with(stream_prefix) && name.size() > stream_prefix.size() &&
           std::all_of(name.begin() + stream_prefix.size(), name.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

UniqueFd open_directory(const std::string& path, int flags) {
    UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
    if (!directory)
        throw errno_error(fmt::format("cannot open the directory {}", path), errno,
                          errno == EACCES ? "it belongs to who recorded it: use sudo, or chown it"
                                          : "");
    return directory;
}

std::vector<std::string> entry_names(int directory, const std::string& path) {
    // A descriptor of its own: reading moves a position that duplicates share.
    UniqueFd own(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::unique_ptr<DIR, CloseDirectory> listing(own ? fdopendir(own.get()) : nullptr);
    if (!listing)
        throw errno_error(fmt::format("cannot list {}", path), errno);
    own.release(); // the listing's
    std::vector<std::string> names;
    for (;;) {
        errno = 0;
        const dirent* entry = readdir(listing.get());
        if (entry == nullptr)
            break;
        const std::string name = entry->d_name;
        if (name != "." && name != "..")
            names.push_back(name);
    }
    if (errno != 0)
        throw errno_error(fmt::format("cannot list {}", path), errno);
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return strverscmp(a.c_str(), b.c_str()) < 0;
    });
    return names;
}

UniqueFd open_file(int directory, const std::string& path, const std::string& name) {
    const std::string file = fmt::format("{}/{}", path, name);
    struct stat status {};
    // Looked at before it is opened, for opening a device may do something.
    if (fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
        throw errno_error(fmt::format("cannot open {}", file), errno);
    if (!S_ISREG(status.st_mode))
        refuse(file, status.st_mode);
    UniqueFd fd(
        openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd || fstat(fd.get(), &status) != 0)
        throw errno_error(fmt::format("cannot open {}", file), errno);
    if (!S_ISREG(status.st_mode))
        refuse(file, status.st_mode);
    return fd;
}

std::string read_metadata(int directory, const std::string& path) {
    const UniqueFd file = open_file(directory, path, metadata_name);
    struct stat status {};
    if (fstat(file.get(), &status) != 0)
        throw errno_error(fmt::format("cannot look at {}/{}", path, metadata_name), errno);
    if (status.st_size > static_cast<off_t>(metadata_file_max))
        throw Error(fmt::format("{}/{} has more than {} bytes: it is not by trapline", path,
                                metadata_name, metadata_file_max));
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t got = read(file.get(), text.data() + done, text.size() - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            throw errno_error(fmt::format("cannot read {}/{}", path, metadata_name), errno);
        if (got == 0)
            break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

} // namespace trapline
