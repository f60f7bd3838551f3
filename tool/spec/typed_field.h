// SPDX-License-Identifier: GPL-2.0
// How values of C's types are recorded and shown.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "trace/event.h"
#include "types/type.h"

namespace trapline {

// Those of one enum share its names.
class TypedFields {
public:
    // Of a value of 1, 2, 4 or 8 bytes. None: the type's values are larger, or no number.
    std::optional<Field> number(const Types& types, TypeId id, std::string name);

private:
    std::shared_ptr<const Enumeration> enumeration(const Types& types, TypeId id);

    std::map<std::pair<const Types*, TypeId>, std::shared_ptr<const Enumeration>> enumerations_;
};

// A structure with one member is nothing but a name for that, as kuid_t: the member's type. Of
// others the type itself.
TypeId inner_id(const Types& types, TypeId id);

// Whether it points to text that is to be read.
bool points_to_text(const Types& types, TypeId id);

} // namespace trapline
