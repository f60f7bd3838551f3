// SPDX-License-Identifier: GPL-2.0
// What the names of expressions mean at a probe's place.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spec/expression.h"
#include "spec/value.h"
#include "types/abi.h"
#include "types/type.h"

namespace trapline {

// What a probe sees of the function.
enum class View : std::uint8_t { call, entry, instruction, ret };

// Types that expressions may use; without a function, those of its parameters aren't known.
struct KnownTypes {
    const Types* types = nullptr; // null: none are known
    std::optional<TypeId> function;
    std::string why_none; // why no function is known
};

// All throws are UsageErrors with a caret in `text`, the whole PROBE, or Errors if types are
// damaged.
class Scope {
public:
    Scope(std::string_view text, View view, const KnownTypes& known);

    // With the bare names of builtins as builtins. Throws for what can't be had at the place;
    // `call`: how a call is traced that has it.
    Expression bound(Expression expression, std::string_view call = "FUNC(...)") const;

    // Whether it is a bare name that stands for nothing here, but may be a constant's: true, NULL,
    // an enum's value.
    bool is_constant(const Expression& expression) const;

    static bool is_literal(std::string_view name); // true, false, NULL

    // That constant, where it is compared with `other`, a bound one. Throws for what is none.
    Number named_constant(const Expression& name, const Expression& other) const;

    // Of a bound one. A value at the place that it stands at.
    Value value(const Expression& expression) const;

    // As a number in the chain: loaded, if it lies in memory, and of all bits of its type.
    Value number(const Expression& expression) const;
    Value number(const Expression& expression, Value value) const;

    // As an address in memory, of an array or a structure or of what a pointer points to. None:
    // it is neither.
    std::optional<Value> memory(const Expression& expression, Value value) const;

    // A member of a structure.
    static Value inside(Value outer, const Member& member);

    // For a bare name that stands for nothing.
    [[noreturn]] void fail_unknown(const Expression& name) const;
    [[noreturn]] void fail(std::size_t position, std::string_view why, std::string_view hint) const;
    std::string_view text() const { return text_; }
    View view() const { return view_; }
    const KnownTypes& known() const { return known_; }

private:
    const Type* function() const;
    std::optional<std::size_t> parameter(std::string_view name) const;
    void check_view(const Expression& root, std::string_view call) const;
    std::string no_parameters_hint() const;

    Value root_value(const Expression& root) const;
    Value parameter_value(std::size_t index, const Expression& root) const;
    Value argument_value(unsigned which) const;
    Value result_value() const;
    Value builtin_value(const Expression& root) const;
    Value member_value(const Expression& expression) const;
    Value element_value(const Expression& expression) const;
    Value dereferenced(const Expression& expression) const;
    Value address_value(const Expression& expression) const;
    Value cast_value(const Expression& expression) const;
    Value calculated(const Expression& expression) const;

    CType find_type(const TypeName& name) const;
    std::string similar_types(const std::string& name, std::span<const TypeKind> wanted,
                              TypeId near) const;
    Value decayed(Value value) const;
    Value pointed(const Expression& at, const Value& pointer) const;

    std::string_view text_;
    View view_;
    const KnownTypes& known_;
    CallPlaces places_;
};

} // namespace trapline
