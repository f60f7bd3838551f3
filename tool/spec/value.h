// SPDX-License-Identifier: GPL-2.0
// A value or a place in memory, and the instructions that lead to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "shared/program.h"
#include "types/type.h"

namespace trapline {

// Instructions of which each takes what the one before leaves, and the first nothing. Slots are
// chosen by whoever puts them into a program.
class Chain {
public:
    Chain() = default;
    explicit Chain(tl_op op, std::uint64_t imm = 0);

    void add(std::uint64_t bytes);                   // to an address or a number
    void load(std::uint64_t size, bool is_signed);   // from the address
    void narrow(std::uint64_t size, bool is_signed); // to the low bytes of the number
    void append(tl_op op, std::uint64_t imm, std::uint8_t size = 0);

    const std::vector<tl_insn>& insns() const { return insns_; }
    bool empty() const { return insns_.empty(); }

    // Whether reads can fail; whether what it leaves has its sign extended.
    bool may_fault() const;
    bool is_signed() const;

    // The first `n` instructions of it.
    Chain first(std::size_t n) const;

private:
    std::vector<tl_insn> insns_;
};

// Whatever their slots.
bool same(const tl_insn& a, const tl_insn& b);
bool operator==(const Chain& a, const Chain& b);

// A type as expressions make them: so many pointers, one to the other, to a known type.
struct CType {
    TypeId id = void_type;
    unsigned pointers = 0;
};

bool is_pointer(const Types& types, CType type);
CType target_of(const Types& types, CType pointer);

// "struct file *", "unsigned int".
std::string type_text(const Types& types, CType type, unsigned depth = 0);

// A structure that is only declared, as the definition of that name, if there is one.
TypeId defined(const Types& types, TypeId id);

bool is_structure(const Types& types, CType type);
bool is_array(const Types& types, CType type);
std::uint64_t size_of(const Types& types, CType type);

// Integers, enums, bools and pointers are; a structure of one member is it.
bool is_number(const Types& types, CType type);
bool is_signed_number(const Types& types, CType type);

struct Value {
    enum class Place : std::uint8_t {
        number, // the chain leaves the value
        memory, // the chain leaves its address
        words,  // a structure in registers or on the stack: see `words`
    };

    Place place = Place::number;
    Chain chain;
    const Types* types = nullptr; // null: there is no type
    std::optional<CType> type;    // none: 64 bits of whatever it is
    std::uint32_t bit_offset = 0; // of a bitfield, from the address
    std::uint32_t bits = 0;       // of a bitfield; 0: it is none
    std::uint64_t elements = 0;   // of a slice, whose first one this is; 0: it is none
    std::vector<tl_insn> words;   // sources of each
    std::uint64_t offset = 0;     // in the words, in bytes

    bool has_type() const { return type.has_value(); }
};

} // namespace trapline
