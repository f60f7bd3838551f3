// SPDX-License-Identifier: GPL-2.0
// A recording on disk: a directory that is a CTF 1.8 trace. `metadata`, and a stream of
// packets per CPU, `cpu_N`, as they were in the rings.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "recording/stream_file.h"
#include "trace/description.h"
#include "util/fd.h"

namespace trapline {

// Whether there is a recording of ours at `path`: a directory whose metadata says so.
bool is_recording(const std::string& path);

// Where a new recording goes.
class RecordingDirectory {
public:
    // Only looks whether create() would do. Error if something that is no recording is in the
    // way, at `path` or (if something must be moved there) at `path`.old, or if the
    // parent directory can't be written to. An empty directory is used as it is.
    explicit RecordingDirectory(std::string path);

    // Locked as long as this lives, so that nobody else moves or removes it meanwhile.
    // Moves an older recording to `path`.old, in place of one that is there, and makes the
    // directory (mode 0700). Error, naming what failed. Once.
    void create();
    // Takes it all back, for nothing was recorded: the older recording is where it was.
    void withdraw();

    // Holds room on the disk for metadata of so many bytes, which the next write_metadata()
    // takes. Error if there is none.
    void reserve_metadata(std::uint64_t bytes);

    bool created() const { return static_cast<bool>(directory_); }

    const std::string& path() const { return path_; }

    // Writes the metadata, whole or not at all: an older one stays if it fails.
    void write_metadata(const TraceDescription& description);

    // The stream of `cpu`, made when first asked for; it stays where it is.
    StreamFile& stream(std::uint32_t cpu);

    // Bytes of all streams, and with the metadata as written last.
    std::uint64_t streams_size() const;
    std::uint64_t size() const { return metadata_size_ + streams_size(); }

    // Error if the directory or a stream in it is not there any more.
    void check_present() const;

private:
    std::string path_;
    UniqueFd directory_;
    std::deque<StreamFile> streams_; // few: found by looking at all
    std::uint64_t metadata_size_ = 0;
    bool made_ = false;  // it was not there before
    bool moved_ = false; // an older recording, to `path`.old
};

} // namespace trapline
