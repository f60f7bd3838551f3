// SPDX-License-Identifier: GPL-2.0
// A recording on disk: a directory that is a CTF 1.8 trace, being made.
#include "recording/directory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "recording/contents.h"
#include "trace/ctf_metadata.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr mode_t directory_mode = 0700;
constexpr mode_t file_mode = 0600;

// What is in a recording's place.
enum class Place : std::uint8_t {
    free,
    empty,
    recording,
};

std::string without_slashes(std::string path) {
    while (path.size() > 1 && path.ends_with('/'))
        path.pop_back();
    return path;
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string old_path(const std::string& path) {
    return path + ".old";
}

void check_writable(const std::string& directory) {
    if (faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        throw errno_error(fmt::format("cannot make anything in the directory {}", directory),
                          errno);
}

bool has_our_metadata(int directory, const std::string& path) {
    try {
        return is_our_metadata(read_metadata(directory, path));
    } catch (const Error&) {
        return false;
    }
}

[[noreturn]] void in_the_way(const std::string& path, std::string_view what) {
    throw Error(fmt::format("{} is in the way: it {}", path, what),
                "move it away, or choose another place for the recording");
}

// What is at `path`, which is nothing or ours; Error for anything else.
Place look(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT)
            return Place::free;
        throw errno_error(fmt::format("cannot look at {}", path), errno);
    }
    if (S_ISLNK(status.st_mode))
        in_the_way(path, "is a symbolic link");
    if (!S_ISDIR(status.st_mode))
        in_the_way(path, "is not a directory");
    const UniqueFd directory = open_directory(path, O_NOFOLLOW);
    if (entry_names(directory.get(), path).empty())
        return Place::empty;
    if (!has_our_metadata(directory.get(), path))
        in_the_way(path, "is a directory that holds no recording");
    // Held by who records; goes with him, however he ends.
    if (flock(directory.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        in_the_way(path, "is being recorded just now");
    return Place::recording;
}

// The recording at `path`, opened, if it can be removed without taking anything else along.
UniqueFd open_to_remove(const std::string& path) {
    UniqueFd directory = open_directory(path, O_NOFOLLOW);
    for (const std::string& name : entry_names(directory.get(), path)) {
        struct stat status {};
        if (fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            throw errno_error(fmt::format("cannot look at {}/{}", path, name), errno);
        if (!S_ISREG(status.st_mode) || !is_recording_file(name))
            in_the_way(path, fmt::format("holds {}, which is no part of a recording", name));
    }
    return directory;
}

void check_old(const std::string& path) {
    if (look(path) == Place::recording)
        open_to_remove(path);
}

void remove_old(const std::string& path) {
    const Place place = look(path);
    if (place == Place::free)
        return;
    if (place == Place::recording) {
        const UniqueFd directory = open_to_remove(path);
        for (const std::string& name : entry_names(directory.get(), path)) {
            if (unlinkat(directory.get(), name.c_str(), 0) != 0)
                throw errno_error(fmt::format("cannot remove {}/{}", path, name), errno);
        }
    }
    if (rmdir(path.c_str()) != 0)
        throw errno_error(fmt::format("cannot remove {}", path), errno);
}

// A file that appears under its name when it is whole.
class NewFile {
public:
    NewFile(int directory, const std::string& path) : directory_(directory) {
        unlinkat(directory_, new_metadata_name, 0); // of one that was killed
        file_.reset(openat(directory_, new_metadata_name,
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode));
        if (!file_)
            throw errno_error(fmt::format("cannot make {}/{}", path, new_metadata_name), errno);
    }
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;
    ~NewFile() {
        if (file_)
            unlinkat(directory_, new_metadata_name, 0);
    }

    // False with errno set if it fails.
    bool write_all(std::string_view text) {
        while (!text.empty()) {
            const ssize_t done = write(file_.get(), text.data(), text.size());
            if (done < 0 && errno == EINTR)
                continue;
            if (done <= 0)
                return false;
            text.remove_prefix(static_cast<std::size_t>(done));
        }
        return true;
    }

    bool rename_to(const char* name) {
        if (renameat(directory_, new_metadata_name, directory_, name) != 0)
            return false;
        file_.reset();
        return true;
    }

private:
    int directory_;
    UniqueFd file_;
};

} // namespace

bool is_recording(const std::string& path) {
    const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return directory && has_our_metadata(directory.get(), path);
}

RecordingDirectory::RecordingDirectory(std::string path) : path_(without_slashes(std::move(path))) {
    if (path_.empty())
        throw Error("a recording needs a name for its directory");
    const std::string last = path_.substr(path_.rfind('/') + 1);
    if (last.empty() || last == "." || last == "..")
        throw Error(fmt::format("{} is no name for a recording", path_),
                    "name the directory itself");
    const Place place = look(path_);
    if (place == Place::empty) {
        check_writable(path_);
        return;
    }
    check_writable(parent_of(path_));
    if (place == Place::recording)
        check_old(old_path(path_));
}

void RecordingDirectory::create() {
    const Place place = look(path_);
    if (place == Place::recording) {
        const std::string old = old_path(path_);
        remove_old(old);
        if (rename(path_.c_str(), old.c_str()) != 0)
            throw errno_error(fmt::format("cannot move the recording {} to {}", path_, old), errno);
        moved_ = true;
    }
    made_ = place != Place::empty;
    if (made_ && mkdir(path_.c_str(), directory_mode) != 0)
        throw errno_error(fmt::format("cannot make the directory {}", path_), errno);
    directory_ = open_directory(path_, O_NOFOLLOW);
    (void)flock(directory_.get(), LOCK_EX | LOCK_NB); // without locks it does as well
}

// As far as it goes: it is told of something else already.
void RecordingDirectory::withdraw() {
    for (const char* name : {metadata_name, reserve_name})
        unlinkat(directory_.get(), name, 0);
    directory_.reset();
    if (made_ && rmdir(path_.c_str()) == 0 && moved_)
        (void)rename(old_path(path_).c_str(), path_.c_str());
}

void RecordingDirectory::reserve_metadata(std::uint64_t bytes) {
    const UniqueFd file(openat(directory_.get(), reserve_name,
                               O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, file_mode));
    const int error = file ? posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)) : errno;
    if (error != 0)
        throw errno_error(fmt::format("cannot hold room for {}/{}", path_, metadata_name), error);
}

void RecordingDirectory::write_metadata(const TraceDescription& description) {
    const std::string text = ctf_metadata(description);
    unlinkat(directory_.get(), reserve_name, 0);
    NewFile file(directory_.get(), path_);
    if (!file.write_all(text) || !file.rename_to(metadata_name))
        throw errno_error(fmt::format("cannot write {}/{}", path_, metadata_name), errno);
    metadata_size_ = text.size();
}

StreamFile& RecordingDirectory::stream(std::uint32_t cpu) {
    const auto found =
        std::find_if(streams_.begin(), streams_.end(),
                     [cpu](const StreamFile& stream) { return stream.cpu() == cpu; });
    if (found != streams_.end())
        return *found;
    const std::string name = fmt::format("cpu_{}", cpu);
    UniqueFd file(openat(directory_.get(), name.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode));
    if (!file)
        throw errno_error(fmt::format("cannot make {}/{}", path_, name), errno);
    return streams_.emplace_back(std::move(file), cpu, fmt::format("{}/{}", path_, name));
}

std::uint64_t RecordingDirectory::streams_size() const {
    std::uint64_t size = 0;
    for (const StreamFile& stream : streams_)
        size += stream.size();
    return size;
}

void RecordingDirectory::check_present() const {
    struct stat status {};
    if (fstat(directory_.get(), &status) != 0)
        throw errno_error(fmt::format("cannot look at {}", path_), errno);
    if (status.st_nlink == 0)
        throw Error(fmt::format("{} is not there any more", path_),
                    "something removed it while it was being written");
    for (const StreamFile& stream : streams_)
        stream.check_present();
}

} // namespace trapline
