// SPDX-License-Identifier: GPL-2.0
// What lies in a recording's directory, which may be anything and anybody's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/fd.h"

namespace trapline {

constexpr const char* metadata_name = "metadata";
constexpr const char* reserve_name = ".reserve";           // room for the metadata that is to come
constexpr const char* new_metadata_name = ".metadata.new"; // hidden, so that no reader takes it

constexpr std::size_t metadata_file_max = std::size_t{64} << 20; // bytes

// Whether a recording has a file of that name.
bool is_recording_file(const std::string& name);

// Opens a directory, for *at(). Error naming `path`.
UniqueFd open_directory(const std::string& path, int flags = 0);

// All names in it but "." and "..", sorted; numbers in them by value.
std::vector<std::string> entry_names(int directory, const std::string& path);

// Opens `name` in `directory` to read it, if it is a regular file: no link is followed and
// nothing waited for. Error naming `path`/`name`.
UniqueFd open_file(int directory, const std::string& path, const std::string& name);

// All of the metadata. Error naming `path`.
std::string read_metadata(int directory, const std::string& path);

} // namespace trapline
