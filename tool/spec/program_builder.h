// SPDX-License-Identifier: GPL-2.0
// Puts a program together: a condition's test, then values and what stores them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "spec/bound_condition.h"
#include "spec/recorded.h"

namespace trapline {

// That a program stores at most.
std::uint32_t stored_bytes(std::span<const tl_insn> program);

class ProgramBuilder {
public:
    // Comes first.
    void test(const BoundCondition& check, std::uint64_t hz);

    void put(const Recorded& recorded);

    // Whether it has more instructions than a program can have.
    bool is_too_long() const;

    // Ends the program, which isn't too long; throws UsageError if it stores too much.
    std::vector<tl_insn> finish();

    // Of what was put, and last the faults, if anything may have one.
    std::vector<Field> take_fields() { return std::move(fields_); }

    // The numbers among the fields.
    std::vector<Kept> take_kept() { return std::move(kept_); }

private:
    // A slot, and what it holds.
    struct Held {
        Chain chain;
        std::uint8_t slot = 0;
    };

    std::uint8_t load(const Chain& chain);
    void keep(const Recorded& recorded);

    std::vector<tl_insn> program_;
    std::vector<Field> fields_;
    std::vector<Kept> kept_;
    std::vector<Held> held_;
    std::uint8_t next_slot_ = 0;
    std::optional<std::uint32_t> place_ = 0; // of the next field; none: behind text
    bool may_fault_ = false;
};

} // namespace trapline
