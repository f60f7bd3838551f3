// SPDX-License-Identifier: GPL-2.0
// Members of structures and unions, those of unnamed ones inside of them among them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/type.h"

namespace trapline {

// Its bit_offset is that from the outermost structure's beginning. None: it has no such member.
std::optional<Member> find_member(const Types& types, TypeId structure, std::string_view name);

// All that have a name, as find_member() finds them.
std::vector<Member> named_members(const Types& types, TypeId structure);

// "f_path, f_inode, ...": the names, those most like `name` first.
std::string nearest(std::vector<std::string> names, std::string_view name);

} // namespace trapline
