// SPDX-License-Identifier: GPL-2.0
// Types of C, wherever they are known from: BTF, or DWARF.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

class SourceLines;

// A type among those of one Types. Nothing else is known of its value.
using TypeId = std::uint32_t;
constexpr TypeId void_type = 0;

enum class TypeKind : std::uint8_t {
    none, // void
    integer,
    boolean,
    floating,
    pointer,
    array,
    structure,
    union_,
    enumeration,
    function,
    alias,     // a typedef: its name is how the programmer thinks of it
    qualifier, // const, volatile, restrict, or a tag
    forward,   // a structure, union or enumeration that is only declared
};

enum class Qualifier : std::uint8_t { other, constant, user }; // user: "__user", of user memory

struct Member {
    std::string name; // empty: its own members are reached as if they were the outer one's
    TypeId type = void_type;
    std::uint64_t bit_offset = 0;
    std::uint32_t bits = 0; // of a bitfield; 0: it is none
};

struct Enumerator {
    std::string name;
    std::uint64_t value = 0; // two's complement
};

struct Parameter {
    std::string name; // empty: it has none
    TypeId type = void_type;
};

struct Type {
    TypeKind kind = TypeKind::none;
    std::string name;       // empty: it has none
    std::uint64_t size = 0; // bytes; 0 also where only the target knows
    bool is_signed = false; // integer, enumeration
    Qualifier qualifier = Qualifier::other;
    TypeId target = void_type; // pointer, array (its elements), alias, qualifier, function (result)
    std::uint32_t count = 0;   // elements of an array
    std::vector<Member> members;
    std::vector<Enumerator> enumerators;
    std::vector<Parameter> parameters; // function
    bool variadic = false;             // function
};

// Types that refer to one another, and functions. Each is decoded when it is first asked for.
class Types {
public:
    Types() = default;
    Types(const Types&) = delete;
    Types& operator=(const Types&) = delete;
    virtual ~Types() = default;

    // Valid as long as this. Error, saying where, for what is damaged.
    virtual const Type& at(TypeId id) const = 0;

    // The type of a function. None: there is no such function, or there are several that differ.
    virtual std::optional<TypeId> function(std::string_view name) const = 0;

    // The same of the one that begins at an address of the file. None: that isn't known.
    virtual std::optional<TypeId> function_at(std::uint64_t /*address*/) const {
        return std::nullopt;
    }

    // `kind`: structure, union_, enumeration, alias or integer. Where the source has several of
    // that name, the one that `near`, a type or function or void_type, is in sight of.
    virtual std::optional<TypeId> find(TypeKind kind, std::string_view name,
                                       TypeId near = void_type) const = 0;

    // Names that are spelled almost like it, of types of a kind that find() takes, or of functions;
    // the most alike first. None where they can't be looked through in a moment.
    virtual std::vector<std::string> similar(TypeKind /*kind*/, std::string_view /*name*/) const {
        return {};
    }
};

// Where types are known from.
class TypeSource {
public:
    TypeSource() = default;
    TypeSource(const TypeSource&) = delete;
    TypeSource& operator=(const TypeSource&) = delete;
    virtual ~TypeSource() = default;

    // Those of the kernel image (`module` empty) or of a module, the kernel's among them. Null:
    // none are known, for the reason that `why_none` says.
    virtual const Types* types_of(const std::string& module, std::string& why_none) = 0;

    // The same of source lines, which DWARF alone has.
    virtual const SourceLines* lines_of(const std::string& /*module*/, std::string& why_none);

    // Of what lines_of() has them; "" is the kernel image.
    virtual std::vector<std::string> modules_with_lines() const { return {}; }
};

// What is behind qualifiers alone: an alias stays one. Error for a circle of them.
const Type& unqualified(const Types& types, TypeId id);

// What is behind typedefs and qualifiers. Error for a circle of them.
TypeId plain_id(const Types& types, TypeId id);
const Type& plain(const Types& types, TypeId id);

// Of a variable of that type, in bytes. Error where it isn't known.
std::uint64_t size_of(const Types& types, TypeId id);

// What text consists of: char, signed or not, under that name. u8 and its like are numbers.
bool is_character(const Types& types, TypeId id);

// Whether what is behind the pointer is not to be changed, is user memory.
bool is_constant(const Types& types, TypeId id);
bool is_user(const Types& types, TypeId id);

} // namespace trapline
