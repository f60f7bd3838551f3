// SPDX-License-Identifier: GPL-2.0
// Makes instructions that test a condition.
#include "spec/condition_program.h"

#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "util/errno_name.h"
#include "util/error.h"

namespace trapline {

namespace {

using Kind = Operand::Kind;

__extension__ using Wide = unsigned __int128;

constexpr std::size_t word_size = 8;

// What a function that returns an int leaves for an error: the upper half is zero.
constexpr std::uint64_t first_int_error = std::uint32_t(-errno_max);
constexpr std::uint64_t last_int_error = std::numeric_limits<std::uint32_t>::max();

// The slots of one comparison. Each loads what it needs: of what comes before it, nothing but
// the last jump is sure to have run.
enum Slot : std::uint8_t { left, right, first, last };

class Generator {
public:
    Generator(std::vector<tl_insn>& program, std::uint64_t hz) : program_(program), hz_(hz) {}

    void generate(const BoundCondition& check) {
        Label yes;
        Label no;
        test(check, yes, no, Next::no);
        bind(no);
        append(TL_OP_REJECT);
        bind(yes);
    }

private:
    // A place further on, and the jumps that lead to it.
    using Label = std::vector<std::size_t>;

    // Which of a test's two ends follows it: there it need not jump.
    enum class Next : bool { no, yes };

    static Next other(Next next) { return next == Next::no ? Next::yes : Next::no; }

    tl_insn& append(tl_op op) {
        if (program_.size() == TL_INSNS_MAX)
            throw_too_long();
        tl_insn& insn = program_.emplace_back();
        insn.op = static_cast<std::uint8_t>(op);
        return insn;
    }

    void set(tl_op op, Slot slot, std::uint64_t imm) {
        tl_insn& insn = append(op);
        insn.dst = slot;
        insn.imm = imm;
    }

    void jump(tl_op op, Slot a, Slot b, Label& to) {
        to.push_back(program_.size());
        tl_insn& insn = append(op);
        insn.a = a;
        insn.b = b;
    }

    void go(Label& to) { jump(TL_OP_JMP, left, left, to); }

    void bind(const Label& label) {
        for (const std::size_t from : label)
            program_[from].jump = static_cast<std::uint16_t>(program_.size() - from - 1);
    }

    // Behind jumps to yes: all else is no.
    void end_in_no(Label& no, Next next) {
        if (next != Next::no)
            go(no);
    }

    // The parser bounds how deep expressions are.
    void test(const BoundCondition& check, Label& yes, Label& no, Next next) {
        if (check.kind == Condition::Kind::comparison)
            return compare(check, yes, no, next);
        const bool all = check.kind == Condition::Kind::all;
        for (std::size_t i = 0; i + 1 < check.parts.size(); i++) {
            Label go_on;
            if (all)
                test(check.parts[i], go_on, no, Next::yes);
            else
                test(check.parts[i], yes, go_on, Next::no);
            bind(go_on);
        }
        test(check.parts.back(), yes, no, next);
    }

    void compare(const BoundCondition& check, Label& yes, Label& no, Next next) {
        load(check.left.chain, left);
        if (check.right.kind == Kind::text)
            return compare_text(check, yes, no, next);
        if (check.left.kind == Kind::duration)
            return compare_duration(check.relation, check.right.number.bits, yes, no, next);
        if (check.left.kind == Kind::retval && check.right.kind == Kind::number)
            return compare_retval(check.relation, check.right.number.bits, yes, no, next);
        if (check.right.kind == Kind::number)
            set(TL_OP_IMM, right, check.right.number.bits);
        else
            load(check.right.chain, right);
        if (check.left.kind == Kind::retval)
            return compare_retval(check.relation, yes, no, next);
        const bool faults = may_fault(check.left) || may_fault(check.right);
        const bool negative = is_signed(check.left) || is_signed(check.right);
        compare_slots(check.relation, negative, faults, yes, no, next);
    }

    void load(const Chain& chain, Slot slot) {
        for (const tl_insn& insn : chain.insns()) {
            tl_insn& added = append(static_cast<tl_op>(insn.op));
            added = insn;
            added.dst = slot;
            added.a = slot;
        }
    }

    // 1 or 0 for the text at the address in `left`.
    void compare_text(const BoundCondition& check, Label& yes, Label& no, Next next) {
        const std::string& text = check.right.text;
        tl_insn& match = append(TL_OP_MATCH);
        match.dst = left;
        match.a = left;
        match.imm = text.size() | check.left.room << 32;
        for (std::size_t i = 0; i < text.size(); i += word_size) {
            const std::string word = text.substr(i, word_size);
            std::memcpy(&append(TL_OP_DATA).imm, word.data(), word.size());
        }
        set(TL_OP_IMM, right, 1);
        compare_slots(check.relation, false, true, yes, no, next);
    }

    static bool is_signed(const Operand& operand) {
        return operand.kind == Kind::number ? operand.number.negative : operand.is_signed;
    }

    static bool may_fault(const Operand& operand) {
        return operand.kind == Kind::value && operand.chain.may_fault();
    }

    // A comparison with a faulted slot doesn't jump: it, and not its opposite, has to lead to yes.
    void compare_slots(Relation relation, bool is_signed, bool faults, Label& yes, Label& no,
                       Next next) {
        const bool turned = next == Next::yes && !faults;
        if (turned)
            relation = opposite(relation);
        const bool swap = relation == Relation::greater || relation == Relation::at_least;
        if (swap)
            relation = mirrored(relation);
        tl_op op = TL_OP_JEQ;
        if (relation == Relation::unequal)
            op = TL_OP_JNE;
        else if (relation == Relation::less)
            op = is_signed ? TL_OP_JSLT : TL_OP_JLT;
        else if (relation == Relation::at_most)
            op = is_signed ? TL_OP_JSLE : TL_OP_JLE;
        jump(op, swap ? right : left, swap ? left : right, turned ? no : yes);
        if (!turned)
            end_in_no(no, next);
    }

    // Durations are compared as they are shown: in nanoseconds, rounded down. With n whole,
    // floor(x) < n is x < n, and floor(x) <= n is x < n + 1; in ticks, which are whole, x < n is
    // "less than the least count of ticks that lasts n". So == n is a range: empty where a tick
    // is longer than 1 ns and none ends there, several ticks where it is shorter.
    void compare_duration(Relation relation, std::uint64_t ns, Label& yes, Label& no, Next next) {
        const std::uint64_t from = ticks_from(ns, hz_);
        const std::uint64_t behind =
            ns == std::numeric_limits<std::uint64_t>::max() ? ns : ticks_from(ns + 1, hz_);
        switch (relation) {
        case Relation::unequal:
            return compare_duration(Relation::equal, ns, no, yes, other(next));
        case Relation::equal:
            set(TL_OP_IMM, first, from);
            jump(TL_OP_JLT, left, first, no);
            set(TL_OP_IMM, right, behind);
            return compare_slots(Relation::less, false, false, yes, no, next);
        case Relation::less:
        case Relation::at_least:
            set(TL_OP_IMM, right, from);
            return compare_slots(relation, false, false, yes, no, next);
        case Relation::at_most:
        case Relation::greater:
            set(TL_OP_IMM, right, behind);
            return compare_slots(relation == Relation::at_most ? Relation::less
                                                               : Relation::at_least,
                                 false, false, yes, no, next);
        }
    }

    // A return value never faults: the opposite is the same with its ends exchanged.
    void compare_retval(Relation relation, std::uint64_t number, Label& yes, Label& no, Next next) {
        switch (relation) {
        case Relation::unequal:
        case Relation::greater:
        case Relation::at_least:
            return compare_retval(opposite(relation), number, no, yes, other(next));
        case Relation::equal:
            if (const auto error = errno_of(number)) {
                set(TL_OP_IMM, first, std::uint32_t(-*error));
                jump(TL_OP_JEQ, left, first, yes);
            }
            set(TL_OP_IMM, right, number);
            return compare_slots(relation, false, false, yes, no, next);
        case Relation::less:
        case Relation::at_most:
            return compare_retval_below(relation, number, yes, no, next);
        }
    }

    // All 64 bits as a signed number; and those errors of int functions that count as less, where
    // that doesn't cover them: from the first on, up to the number's own 32 bits or all of them.
    void compare_retval_below(Relation relation, std::uint64_t number, Label& yes, Label& no,
                              Next next) {
        const auto signed_number = static_cast<std::int64_t>(number);
        const bool equal = relation == Relation::at_most;
        set(TL_OP_IMM, right, number);
        const bool covered = signed_number > static_cast<std::int64_t>(last_int_error);
        const bool none = signed_number < -std::int64_t{errno_max};
        if (covered || none)
            return compare_slots(relation, true, false, yes, no, next);
        jump(equal ? TL_OP_JSLE : TL_OP_JSLT, left, right, yes);
        set(TL_OP_IMM, first, first_int_error);
        jump(TL_OP_JLT, left, first, no);
        set(TL_OP_IMM, right, signed_number < 0 ? std::uint32_t(number) : last_int_error);
        compare_slots(signed_number < 0 ? relation : Relation::at_most, false, false, yes, no,
                      next);
    }

    // With another variable: equal if all bits are; else, an int function's error is less than
    // whatever isn't negative, and all the rest is ordered as signed numbers. With the other one
    // faulted, no jump to yes is taken.
    void compare_retval(Relation relation, Label& yes, Label& no, Next next) {
        if (relation == Relation::equal || relation == Relation::unequal)
            return compare_slots(relation, false, true, yes, no, next);
        const bool below = relation == Relation::less || relation == Relation::at_most;
        const bool equal = relation == Relation::at_most || relation == Relation::at_least;
        Label usual;
        jump(TL_OP_JEQ, left, right, equal ? yes : no);
        set(TL_OP_IMM, first, first_int_error);
        jump(TL_OP_JLT, left, first, usual);
        set(TL_OP_IMM, last, last_int_error);
        jump(TL_OP_JLT, last, left, usual);
        set(TL_OP_IMM, first, 0);
        if (below)
            jump(TL_OP_JSLE, first, right, yes);
        else
            jump(TL_OP_JSLT, right, first, yes);
        go(no);
        bind(usual);
        jump(TL_OP_JSLT, below ? left : right, below ? right : left, yes);
        end_in_no(no, next);
    }

    std::vector<tl_insn>& program_;
    std::uint64_t hz_;
};

} // namespace

void append_test(std::vector<tl_insn>& program, const BoundCondition& check, std::uint64_t hz) {
    Generator(program, hz).generate(check);
}

void throw_too_long() {
    throw UsageError(fmt::format("the condition is too long: a program has at most {} instructions",
                                 TL_INSNS_MAX),
                     "plant several probes on the function, each with a part of what || joins");
}

std::uint64_t ticks_from(std::uint64_t ns, std::uint64_t hz) {
    constexpr std::uint64_t ns_per_s = 1'000'000'000;
    const Wide ticks = (Wide{ns} * hz + ns_per_s - 1) / ns_per_s;
    constexpr Wide most = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(ticks < most ? ticks : most);
}

} // namespace trapline
