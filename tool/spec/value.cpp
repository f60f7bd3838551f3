// SPDX-License-Identifier: GPL-2.0
// A value or a place in memory, and the instructions that lead to it.
#include "spec/value.h"

#include <algorithm>
#include <fmt/format.h>

#include "spec/registers.h"
#include "spec/typed_field.h"

namespace trapline {

namespace {

constexpr std::uint64_t word_size = 8;

tl_insn make(tl_op op, std::uint64_t imm, std::uint8_t size = 0, bool is_signed = false) {
    tl_insn insn{};
    insn.op = static_cast<std::uint8_t>(op);
    insn.imm = imm;
    insn.size = size;
    insn.flags = is_signed ? TL_INSN_SIGNED : 0;
    return insn;
}

bool is_source(const tl_insn& insn) {
    return insn.op == TL_OP_REG || insn.op == TL_OP_ARG || insn.op == TL_OP_RETVAL ||
           insn.op == TL_OP_FIELD;
}

} // namespace

Chain::Chain(tl_op op, std::uint64_t imm) {
    insns_.push_back(make(op, imm));
}

void Chain::append(tl_op op, std::uint64_t imm, std::uint8_t size) {
    insns_.push_back(make(op, imm, size));
}

void Chain::add(std::uint64_t bytes) {
    if (bytes == 0)
        return;
    if (insns_.back().op == TL_OP_ADD)
        insns_.back().imm += bytes;
    else
        append(TL_OP_ADD, bytes);
}

void Chain::load(std::uint64_t size, bool is_signed) {
    std::uint64_t offset = 0;
    if (insns_.back().op == TL_OP_ADD) {
        offset = insns_.back().imm;
        insns_.pop_back();
    }
    insns_.push_back(
        make(TL_OP_LOAD, offset, static_cast<std::uint8_t>(size), is_signed && size != word_size));
}

void Chain::narrow(std::uint64_t size, bool is_signed) {
    if (size >= word_size)
        return;
    tl_insn& last = insns_.back();
    if (is_source(last) && last.size == 0) {
        last.size = static_cast<std::uint8_t>(size);
        last.flags = is_signed ? TL_INSN_SIGNED : 0;
        return;
    }
    const std::uint64_t spare = 64 - 8 * size;
    if (is_signed) {
        append(TL_OP_SHL, spare);
        append(TL_OP_SAR, spare);
    } else {
        append(TL_OP_AND, ~std::uint64_t{0} >> spare);
    }
}

bool Chain::may_fault() const {
    return std::any_of(insns_.begin(), insns_.end(), [](const tl_insn& insn) {
        return insn.op == TL_OP_LOAD || insn.op == TL_OP_MATCH ||
               (insn.op == TL_OP_ARG && insn.imm >= register_arguments);
    });
}

bool Chain::is_signed() const {
    const tl_insn& last = insns_.back();
    if (last.op == TL_OP_AND && last.imm >> 63 != 0) // it leaves the sign alone
        return first(insns_.size() - 1).is_signed();
    return last.op == TL_OP_SAR || (last.flags & TL_INSN_SIGNED) != 0;
}

Chain Chain::first(std::size_t n) const {
    Chain part;
    part.insns_.assign(insns_.begin(), insns_.begin() + static_cast<std::ptrdiff_t>(n));
    return part;
}

bool same(const tl_insn& a, const tl_insn& b) {
    return a.op == b.op && a.imm == b.imm && a.size == b.size && a.flags == b.flags;
}

bool operator==(const Chain& a, const Chain& b) {
    return std::equal(a.insns().begin(), a.insns().end(), b.insns().begin(), b.insns().end(), same);
}

bool is_pointer(const Types& types, CType type) {
    return type.pointers != 0 || plain(types, type.id).kind == TypeKind::pointer;
}

CType target_of(const Types& types, CType pointer) {
    if (pointer.pointers != 0)
        return {pointer.id, pointer.pointers - 1};
    return {plain(types, pointer.id).target, 0};
}

std::string type_text(const Types& types, CType type, unsigned depth) {
    constexpr unsigned depth_max = 8;
    if (depth > depth_max)
        return "...";
    std::string stars(type.pointers, '*');
    const Type* shown = &unqualified(types, type.id);
    while (shown->kind == TypeKind::pointer && stars.size() < 8) {
        stars += '*';
        shown = &unqualified(types, shown->target);
    }
    std::string name = shown->name;
    if (shown->kind == TypeKind::array)
        name = type_text(types, {shown->target, 0}, depth + 1) + fmt::format("[{}]", shown->count);
    else if (shown->kind == TypeKind::function)
        name = "a function";
    else if (name.empty())
        name = shown->kind == TypeKind::none ? "void" : "(unnamed)";
    if (shown->kind == TypeKind::structure || shown->kind == TypeKind::forward)
        name = "struct " + name;
    else if (shown->kind == TypeKind::union_)
        name = "union " + name;
    else if (shown->kind == TypeKind::enumeration)
        name = "enum " + name;
    return stars.empty() ? name : name + " " + stars;
}

TypeId defined(const Types& types, TypeId id) {
    id = plain_id(types, id);
    const Type& type = types.at(id);
    if (type.kind != TypeKind::forward)
        return id;
    if (const auto whole = types.find(TypeKind::structure, type.name, id))
        return *whole;
    return types.find(TypeKind::union_, type.name, id).value_or(id);
}

bool is_structure(const Types& types, CType type) {
    if (type.pointers != 0)
        return false;
    const TypeKind kind = types.at(defined(types, type.id)).kind;
    return kind == TypeKind::structure || kind == TypeKind::union_;
}

bool is_array(const Types& types, CType type) {
    return type.pointers == 0 && plain(types, type.id).kind == TypeKind::array;
}

std::uint64_t size_of(const Types& types, CType type) {
    return type.pointers != 0 ? word_size : size_of(types, defined(types, type.id));
}

bool is_number(const Types& types, CType type) {
    if (is_pointer(types, type))
        return true;
    const Type& inner = plain(types, inner_id(types, type.id));
    return inner.kind == TypeKind::integer || inner.kind == TypeKind::boolean ||
           inner.kind == TypeKind::enumeration || inner.kind == TypeKind::pointer;
}

bool is_signed_number(const Types& types, CType type) {
    return type.pointers == 0 && plain(types, inner_id(types, type.id)).is_signed;
}

} // namespace trapline
