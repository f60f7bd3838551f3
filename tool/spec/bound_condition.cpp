// SPDX-License-Identifier: GPL-2.0
// What a condition compares, at the place where its names have a meaning.
#include "spec/bound_condition.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "spec/registers.h"
#include "spec/typed_field.h"
#include "util/errno_name.h"
#include "util/escape.h"

namespace trapline {

namespace {

using Kind = Operand::Kind;
using Unit = Number::Unit;

// One side of a comparison before it is known what the other one is.
struct Side {
    Expression expression; // bound
    bool constant = false; // a number, a text, or a name that may be an enum's
    bool of_return = false;
    bool of_task = false;
};

bool is_builtin(const Expression& expression, Builtin builtin) {
    return expression.kind == Expression::Kind::builtin && expression.builtin == builtin;
}

bool is_of_task(const Expression& root) {
    return root.kind == Expression::Kind::builtin && root.builtin >= Builtin::pid &&
           root.builtin <= Builtin::cpu;
}

BoundCondition join(std::vector<BoundCondition> parts) {
    if (parts.size() == 1)
        return std::move(parts.front());
    BoundCondition whole;
    whole.kind = Condition::Kind::all;
    whole.parts = std::move(parts);
    return whole;
}

class Binder {
public:
    Binder(const Scope& scope, std::span<const Kept> kept, bool listed)
        : scope_(scope), kept_(kept), listed_(listed) {}

    // What can be tested at the entry needn't wait for the return.
    BoundConditions split(const Condition& whole) const {
        if (scope_.view() == View::ret)
            return {.entry = std::nullopt, .ret = bind(whole, false)};
        std::vector<BoundCondition> at_entry;
        std::vector<BoundCondition> at_return;
        const auto add = [&](const Condition& part) {
            const bool late = needs_return(part);
            (late ? at_return : at_entry).push_back(bind(part, late));
        };
        if (whole.kind == Condition::Kind::all)
            std::for_each(whole.parts.begin(), whole.parts.end(), add);
        else
            add(whole);
        BoundConditions checks;
        if (!at_entry.empty())
            checks.entry = join(std::move(at_entry));
        if (!at_return.empty())
            checks.ret = join(std::move(at_return));
        return checks;
    }

private:
    [[noreturn]] void fail(std::size_t position, std::string_view why,
                           std::string_view hint = condition_hint) const {
        scope_.fail(position, why, hint);
    }

    bool needs_return(const Condition& condition) const {
        if (condition.kind == Condition::Kind::comparison)
            return side(condition.left).of_return || side(condition.right).of_return;
        return std::any_of(condition.parts.begin(), condition.parts.end(),
                           [this](const Condition& part) { return needs_return(part); });
    }

    // `late`: at the return of a call, where only what was kept of the entry is known.
    BoundCondition bind(const Condition& condition, bool late) const {
        BoundCondition check;
        check.kind = condition.kind;
        if (condition.kind == Condition::Kind::comparison)
            return compare(condition, late);
        for (const Condition& part : condition.parts)
            check.parts.push_back(bind(part, late));
        return check;
    }

    Side side(const Expression& expression) const {
        Side made;
        made.constant = expression.kind == Expression::Kind::number ||
                        expression.kind == Expression::Kind::text || scope_.is_constant(expression);
        made.expression =
            made.constant ? expression : scope_.bound(expression, "FUNC if CONDITION");
        const Expression& root = made.expression.root();
        made.of_return = is_builtin(root, Builtin::retval) || is_builtin(root, Builtin::duration);
        made.of_task = is_of_task(root);
        return made;
    }

    BoundCondition compare(const Condition& condition, bool late) const {
        const Side left = side(condition.left);
        const Side right = side(condition.right);
        if (left.constant && right.constant) {
            for (const Side* one : {&left, &right})
                if (one->expression.kind == Expression::Kind::name &&
                    !Scope::is_literal(one->expression.name))
                    scope_.fail_unknown(one->expression);
            fail(std::min(left.expression.position, right.expression.position),
                 "a constant is compared with a constant: nothing varies",
                 fmt::format("{}\n{}", condition_hint, quotes_hint));
        }
        if (!left.constant && !right.constant && is_text(left.expression) &&
            is_text(right.expression))
            fail(right.expression.position, "a text is compared with one in quotes only",
                 fmt::format("if the addresses are to be compared, say so: (u64){}",
                             name_of(right.expression, scope_.text())));
        BoundCondition check;
        check.relation = condition.relation;
        check.left = operand(left, right, late);
        check.right = operand(right, left, late);
        for (const auto& [one, other] : {std::pair(&left, &right), std::pair(&right, &left)})
            if (other->expression.kind == Expression::Kind::number &&
                other->expression.number.bits == 0)
                verify_not_fixed(*one);
        arrange(check);
        verify(check);
        if (orders(check.relation) && (check.left.may_be_error || check.right.may_be_error))
            put_errors_first(check);
        return check;
    }

    // What is compared with 0: an array, and what & takes, is never that.
    void verify_not_fixed(const Side& side) const {
        const Expression& expression = side.expression;
        if (side.constant)
            return;
        const Value value = scope_.value(expression);
        const bool is_list = value.place == Value::Place::memory && value.type &&
                             is_array(*value.types, *value.type);
        if (!is_list && expression.kind != Expression::Kind::address)
            return;
        fail(expression.position,
             fmt::format("{} is {}, and never 0", name_of(expression, scope_.text()),
                         is_list ? "an array" : "an address"),
             is_list ? "name an element: [0]; or compare with a text, if it is one"
                     : "leave out the &, or the condition");
    }

    Operand operand(const Side& side, const Side& other, bool late) const {
        const Expression& expression = side.expression;
        Operand made;
        made.position = expression.position;
        made.name = name_of(expression, scope_.text());
        if (side.constant) {
            constant(expression, other.expression, made);
        } else if (is_builtin(expression, Builtin::retval) &&
                   !scope_.value(expression).has_type()) {
            made.kind = Kind::retval;
            made.chain = Chain(TL_OP_RETVAL);
        } else if (is_builtin(expression, Builtin::duration)) {
            made.kind = Kind::duration;
            made.chain = Chain(TL_OP_DURATION);
        } else if (is_builtin(expression.root(), Builtin::duration)) {
            fail(expression.position, "$duration can't be calculated with",
                 "compare it with a time, as in $duration > 1ms");
        } else {
            made.kind = Kind::value;
            if (other.expression.kind == Expression::Kind::text)
                text_address(expression, other.expression, made);
            else
                number(expression, made);
            if (late && !side.of_return && !side.of_task)
                made.chain = kept(made);
        }
        return made;
    }

    void constant(const Expression& expression, const Expression& other, Operand& made) const {
        if (expression.kind == Expression::Kind::text) {
            made.kind = Kind::text;
            made.text = expression.name;
        } else if (expression.kind == Expression::Kind::number) {
            made.number = expression.number;
        } else {
            made.number = scope_.named_constant(expression, other);
        }
    }

    void number(const Expression& expression, Operand& made) const {
        const Value value = scope_.number(expression);
        made.chain = value.chain;
        if (!value.type) {
            if (is_of_task(expression))
                made.bits = 32;
            return;
        }
        const Types& types = *value.types;
        made.is_signed = is_signed_number(types, *value.type);
        made.bits = 8 * static_cast<unsigned>(size_of(types, *value.type));
        if (const unsigned bits = scope_.value(expression).bits; bits != 0)
            made.bits = bits;
        made.may_be_error = is_builtin(expression, Builtin::retval) &&
                            is_pointer(types, {inner_id(types, value.type->id), 0});
    }

    bool is_text(const Expression& expression) const {
        const Value value = scope_.value(expression);
        const auto at = value.type ? scope_.memory(expression, value) : std::nullopt;
        if (!at || !at->type)
            return false;
        CType type = *at->type;
        if (is_array(*at->types, type))
            type = {plain(*at->types, type.id).target, 0};
        return type.pointers == 0 && is_character(*at->types, type.id);
    }

    void text_address(const Expression& expression, const Expression& text, Operand& made) const {
        const Value value = scope_.value(expression);
        const bool is_place = value.place == Value::Place::memory;
        if (is_place && !value.type) { // $comm
            made.chain = value.chain;
            made.room = value.elements;
            return verify_fits(text, made, made.room - 1); // it ends with a NUL always
        }
        const auto at = value.type ? scope_.memory(expression, value) : std::nullopt;
        CType type = at && at->type ? *at->type : CType{};
        const bool is_list = at && at->type && is_array(*at->types, type);
        if (is_list)
            type = {plain(*at->types, type.id).target, 0};
        if (!at || !at->type || type.pointers != 0 || !is_character(*at->types, type.id))
            fail(expression.position, fmt::format("{} is no text", made.name),
                 fmt::format("if it is a text's address, say so: (char *){}", made.name));
        made.chain = at->chain;
        if (is_list)
            made.room = plain(*at->types, at->type->id).count;
        else if (is_place)
            made.room = at->elements;
        if (made.room != 0)
            verify_fits(text, made, made.room);
    }

    void verify_fits(const Expression& text, const Operand& made, std::uint64_t longest) const {
        if (text.name.size() > longest)
            fail(text.position,
                 fmt::format("{} is never that: it has room for {} bytes", made.name, longest),
                 fmt::format("what is longer is cut there: \"{}\"",
                             escaped(text.name.substr(0, longest), '"')));
    }

    // At the return: out of the entry's fields.
    Chain kept(const Operand& made) const {
        const auto& insns = made.chain.insns();
        for (std::size_t n = insns.size(); n > 0; n--) {
            const Chain part = made.chain.first(n);
            const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
                return one.place && one.chain == part;
            });
            const bool reads =
                std::any_of(insns.begin() + static_cast<std::ptrdiff_t>(n), insns.end(),
                            [](const tl_insn& insn) { return insn.op == TL_OP_LOAD; });
            if (found == kept_.end() || reads || part.may_fault() || made.room != 0)
                continue;
            Chain chain(TL_OP_FIELD, *found->place);
            chain.narrow(found->size, part.is_signed());
            for (std::size_t i = n; i < insns.size(); i++)
                chain.append(static_cast<tl_op>(insns[i].op), insns[i].imm, insns[i].size);
            return chain;
        }
        fail(made.position,
             fmt::format("{} isn't kept until the return, where this is tested", made.name),
             listed_ ? "numbers in the list are, if no text is before them and no pointer is "
                       "followed to get them"
                     : fmt::format("only $arg1 to $arg{} are; what && joins to the rest and needs "
                                   "neither $retval nor $duration is tested at the entry",
                                   register_arguments));
    }

    // What is added wraps errors around, to below all addresses.
    static void put_errors_first(BoundCondition& check) {
        for (Operand* operand : {&check.left, &check.right}) {
            if (operand->kind == Kind::number)
                operand->number = {.bits = operand->number.bits + errno_max};
            else
                operand->chain.add(errno_max);
            operand->is_signed = false;
        }
    }

    static void arrange(BoundCondition& check) {
        const auto fixed = [](const Operand& operand) {
            return operand.kind == Kind::number || operand.kind == Kind::text;
        };
        if (check.left.kind == Kind::retval || fixed(check.right))
            return;
        if (!fixed(check.left) && check.right.kind != Kind::retval)
            return;
        std::swap(check.left, check.right);
        check.relation = mirrored(check.relation);
    }

    void verify(BoundCondition& check) const {
        Operand& left = check.left;
        Operand& right = check.right;
        if (right.kind == Kind::text)
            return verify_text(check);
        if (left.kind == Kind::duration || right.kind == Kind::duration)
            verify_duration(left, right);
        else if (right.number.unit == Unit::time)
            fail(right.position, "only $duration is compared with a time");
        if (right.kind != Kind::number)
            return;
        if (left.kind == Kind::retval)
            verify_retval(check.relation, right);
        else if (left.may_be_error)
            verify_pointer(check.relation, left, right);
        else if (left.is_signed)
            verify_signed(left, right);
        else
            verify_unsigned(check.relation, left, right);
    }

    void verify_signed(const Operand& left, const Operand& right) const {
        const auto number = static_cast<std::int64_t>(right.number.bits);
        const unsigned spare = 64 - left.bits;
        const bool fits = right.number.bits <= ~std::uint64_t{0} >> spare;
        const std::int64_t seen =
            fits ? static_cast<std::int64_t>(right.number.bits << spare) >> spare : number;
        if (!right.number.negative && seen < 0)
            fail_negative(right,
                          fmt::format("{} is signed, and this would be {}", left.name, seen));
        const std::int64_t most = std::numeric_limits<std::int64_t>::max() >> spare;
        if (number > most || number < -most - 1)
            fail_beyond(left, right, fmt::format("from {} to {}", -most - 1, most));
    }

    void verify_pointer(Relation relation, const Operand& left, const Operand& right) const {
        const auto number = static_cast<std::int64_t>(right.number.bits);
        const bool is_error = number < 0 && number >= -std::int64_t{errno_max};
        if (right.number.negative && !is_error)
            fail_beyond(left, right, fmt::format("an address, or from -{} to -1", errno_max));
        if (!right.number.negative && is_error && orders(relation))
            fail_negative(right, fmt::format("in {} this is the error {}", left.name, number));
    }

    [[noreturn]] void fail_negative(const Operand& right, std::string_view why) const {
        fail(right.position, why, "write it as a negative number if that is meant");
    }

    [[noreturn]] void fail_beyond(const Operand& left, const Operand& right,
                                  const std::string& range) const {
        fail(right.position, fmt::format("{} is never that: it is {}", left.name, range),
             right.number.negative && !left.is_signed ? sign_hint(left)
                                                      : "compare it with a number of these");
    }

    // How an unsigned value is made one that may be negative.
    static std::string sign_hint(const Operand& left) {
        const char* type = left.bits == 64   ? "long"
                           : left.bits == 32 ? "int"
                           : left.bits == 16 ? "short"
                           : left.bits == 8  ? "signed char"
                                             : nullptr;
        return type == nullptr
                   ? std::string(condition_hint)
                   : fmt::format("if its highest bit is a sign, say so: ({}){}", type, left.name);
    }

    void verify_text(const BoundCondition& check) const {
        if (check.left.kind != Kind::value)
            fail(check.left.position, fmt::format("{} is no text", check.left.name),
                 fmt::format("if it is a text's address, say so: (char *){}", check.left.name));
        if (orders(check.relation))
            fail(check.right.position, "texts are compared with == and != only");
    }

    void verify_duration(const Operand& left, const Operand& right) const {
        if (right.kind != Kind::number)
            fail(right.kind == Kind::duration ? left.position : right.position,
                 "$duration is compared with a time, as in 100us");
        if (right.number.unit != Unit::time)
            fail(right.position, "$duration is compared with a time: a number and ns, us, ms or s");
        if (right.number.negative)
            fail(right.position, "a duration is never negative");
    }

    // Nobody who writes 0xfffffff4, or -12 as 64 bits, wants it to be a large number.
    void verify_retval(Relation relation, Operand& right) const {
        const auto error = errno_of(right.number.bits);
        const std::uint64_t number = error ? -std::uint64_t{*error} : right.number.bits;
        if (orders(relation) && !right.number.negative && static_cast<std::int64_t>(number) < 0)
            fail_negative(right, fmt::format("$retval is signed, and this would be {}",
                                             static_cast<std::int64_t>(number)));
        right.number.bits = number;
    }

    void verify_unsigned(Relation relation, const Operand& left, const Operand& right) const {
        if (left.kind == Kind::value && left.bits < 64) {
            const std::uint64_t most = ~std::uint64_t{0} >> (64 - left.bits);
            if (right.number.negative || right.number.bits > most)
                fail_beyond(left, right, fmt::format("from 0 to {}", most));
        }
        if (right.number.negative || right.number.bits != 0 ||
            (relation != Relation::less && relation != Relation::at_least))
            return;
        fail(right.position, fmt::format("{} is unsigned, so it is never less than 0", left.name),
             left.kind == Kind::duration ? std::string(condition_hint)
             : left.bits < 64
                 ? sign_hint(left)
                 : fmt::format("{} is signed when it is compared with a negative number: "
                               "{} {} -1",
                               left.name, left.name, relation == Relation::less ? "<=" : ">"));
    }

    const Scope& scope_;
    std::span<const Kept> kept_;
    bool listed_;
};

} // namespace

BoundConditions bind_condition(const Condition& condition, const Scope& scope,
                               std::span<const Kept> kept, bool listed) {
    return Binder(scope, kept, listed).split(condition);
}

} // namespace trapline
