// SPDX-License-Identifier: GPL-2.0
// Puts a program together: a condition's test, then values and what stores them.
#include "spec/program_builder.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "shared/record.h"
#include "spec/condition_program.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr std::uint8_t word_size = 8;

// A number of which only the low bytes are stored needn't be narrowed before.
Chain stored_chain(const Recorded& recorded) {
    const std::vector<tl_insn>& insns = recorded.chain.insns();
    if (recorded.store.op != TL_OP_PUT || insns.size() != 1 ||
        insns.front().size < recorded.store.size)
        return recorded.chain;
    return Chain(static_cast<tl_op>(insns.front().op), insns.front().imm);
}

} // namespace

std::uint32_t stored_bytes(std::span<const tl_insn> program) {
    return std::accumulate(
        program.begin(), program.end(), 0U,
        [](std::uint32_t sum, const tl_insn& insn) { return sum + tl_insn_stores(&insn); });
}

void ProgramBuilder::test(const BoundCondition& check, std::uint64_t hz) {
    append_test(program_, check, hz);
}

// What many fields begin with is loaded once, as long as there are slots.
std::uint8_t ProgramBuilder::load(const Chain& chain) {
    const std::vector<tl_insn>& insns = chain.insns();
    std::size_t done = 0;
    std::uint8_t slot = 0;
    for (const Held& held : held_) {
        const std::size_t size = held.chain.insns().size();
        if (size > done && size <= insns.size() && chain.first(size) == held.chain) {
            done = size;
            slot = held.slot;
        }
    }
    for (; done < insns.size(); done++) {
        tl_insn insn = insns[done];
        insn.a = slot;
        slot = next_slot_;
        next_slot_ = static_cast<std::uint8_t>((next_slot_ + 1) % TL_SLOTS);
        insn.dst = slot;
        if (done == 0)
            insn.a = 0;
        program_.push_back(insn);
        std::erase_if(held_, [&](const Held& held) { return held.slot == slot; });
        held_.push_back({chain.first(done + 1), slot});
    }
    return slot;
}

void ProgramBuilder::put(const Recorded& recorded) {
    tl_insn store = recorded.store;
    if (store.op != TL_OP_STACK)
        store.a = load(stored_chain(recorded));
    program_.push_back(store);
    fields_.push_back(recorded.field);
    if (store.op == TL_OP_PUT)
        may_fault_ = may_fault_ || recorded.chain.may_fault();
    keep(recorded);
}

void ProgramBuilder::keep(const Recorded& recorded) {
    if (recorded.store.op != TL_OP_PUT) {
        place_ = std::nullopt; // it is as long as it is, and so are the places behind it
        return;
    }
    if (recorded.whole)
        kept_.push_back({recorded.chain, recorded.store.size, place_});
    if (place_)
        *place_ += recorded.store.size == word_size ? word_size : 4;
}

bool ProgramBuilder::is_too_long() const {
    const std::size_t behind = may_fault_ ? 2 : 1;
    return program_.size() + behind > TL_INSNS_MAX;
}

std::vector<tl_insn> ProgramBuilder::finish() {
    if (may_fault_) {
        tl_insn& faults = program_.emplace_back();
        faults.op = TL_OP_PUT_FAULTS;
        fields_.push_back({.name = "faults", .type = FieldType::faults, .size = 4});
    }
    program_.emplace_back().op = TL_OP_ACCEPT;
    const std::uint32_t size = stored_bytes(program_);
    if (size > TL_FIELDS_MAX)
        throw UsageError(fmt::format("the list records up to {} bytes, and {} are the most", size,
                                     TL_FIELDS_MAX),
                         "a text is up to 128 bytes: :str[32] makes it shorter; a frame of the "
                         "stack 8: --stack=32 takes fewer");
    return std::move(program_);
}

} // namespace trapline
