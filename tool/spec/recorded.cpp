// SPDX-License-Identifier: GPL-2.0
// What a program records: fields, and the instructions that store them.
#include "spec/recorded.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "spec/compile.h"
#include "spec/member.h"

namespace trapline {

namespace {

using Kind = Expression::Kind;
using Place = Value::Place;

constexpr std::uint64_t word_size = 8;
constexpr std::uint64_t elements_max = 64;
constexpr std::uint64_t ip6_size = 16;
constexpr std::uint64_t mac_size = 6;

tl_insn store(tl_op op, std::uint64_t imm, std::uint8_t size = 0, std::uint8_t flags = 0) {
    tl_insn insn{};
    insn.op = static_cast<std::uint8_t>(op);
    insn.imm = imm;
    insn.size = size;
    insn.flags = flags;
    return insn;
}

class Maker {
public:
    Maker(const Scope& scope, const ListItem& item, TypedFields& fields,
          std::vector<std::string>& left_out)
        : scope_(scope), item_(item), expression_(item.value), fields_(fields), left_out_(left_out),
          name_(item_name()) {}

    std::vector<Recorded> make() {
        std::vector<Recorded> made = fields();
        for (Recorded& one : made)
            one.position = expression_.position;
        return made;
    }

private:
    std::vector<Recorded> fields() {
        Value value = scope_.value(expression_);
        switch (item_.format) {
        case Format::none:
            return as_typed(std::move(value), name_);
        case Format::text:
        case Format::user_text:
            return {text(std::move(value))};
        case Format::bytes:
            return {bytes(std::move(value), item_.size, NumberForm::hex)};
        case Format::ip6:
            return {bytes(std::move(value), ip6_size, NumberForm::ip6)};
        case Format::mac:
            return {bytes(std::move(value), mac_size, NumberForm::mac)};
        case Format::depth:
            return inside(std::move(value));
        case Format::ip4:
            return {ip4(std::move(value))};
        default:
            return numbers(std::move(value));
        }
    }

    std::string item_name() const {
        std::string name(
            scope_.text().substr(expression_.position, expression_.end - expression_.position));
        std::replace(name.begin(), name.end(), '\t', ' ');
        if (name.size() > item_name_max)
            scope_.fail(expression_.position,
                        fmt::format("this has more than {} characters", item_name_max),
                        "it is its field's name too");
        return name;
    }

    [[noreturn]] void fail(std::string_view why, std::string_view hint) const {
        scope_.fail(expression_.position, why, hint);
    }

    // ---- without a format

    std::vector<Recorded> as_typed(Value value, const std::string& name) {
        if (!value.type)
            return {untyped(value, name)};
        const Types& types = *value.types;
        if (value.elements != 0)
            return elements(value, value.elements, name);
        if (is_array(types, *value.type) && value.place == Place::memory)
            return array(std::move(value), name);
        if (is_structure(types, *value.type) && !is_number(types, *value.type))
            return structure(value, name);
        return {scalar(std::move(value), name)};
    }

    Recorded untyped(const Value& value, const std::string& name) {
        if (value.elements != 0)
            return comm(value, name);
        Field field{.name = name};
        const Expression& root = expression_.root();
        if (root.kind == Kind::builtin && root.builtin >= Builtin::pid &&
            root.builtin <= Builtin::cpu) {
            field.size = 4;
            field.form = NumberForm::unsigned_;
        } else if (root.kind == Kind::builtin && root.builtin == Builtin::caller) {
            field.form = NumberForm::pointer;
        }
        return recorded_number(std::move(field), scope_.number(expression_, value).chain);
    }

    static Recorded comm(const Value& value, const std::string& name) {
        return {{.name = name, .type = FieldType::string},
                value.chain,
                store(TL_OP_STR, value.elements, 0, TL_INSN_ARRAY)};
    }

    bool leads_to_text(const Value& value) const {
        if (!is_pointer(*value.types, *value.type))
            return false;
        const CType target = target_of(*value.types, *value.type);
        return target.pointers == 0 && is_character(*value.types, target.id);
    }

    Recorded scalar(Value value, const std::string& name) {
        const bool text = leads_to_text(value);
        value = scope_.number(expression_, std::move(value));
        if (text)
            return recorded_text(name, std::move(value.chain));
        if (value.type->pointers != 0)
            return recorded_number({.name = name, .form = NumberForm::pointer},
                                   std::move(value.chain));
        auto field = fields_.number(*value.types, value.type->id, name);
        if (!field)
            fail(fmt::format("{} is no number", name), "name what it consists of");
        return recorded_number(std::move(*field), std::move(value.chain));
    }

    std::vector<Recorded> array(Value value, const std::string& name) {
        const std::uint64_t count = into_first(value, name);
        return elements(value, count, name);
    }

    // Makes an array's value its first element's; returns how many there are.
    std::uint64_t into_first(Value& value, const std::string& name) const {
        const Type& type = plain(*value.types, value.type->id);
        value.type = CType{type.target, 0};
        if (type.count == 0)
            fail(fmt::format("how many elements {} has isn't known", name),
                 fmt::format("name one, {}[0], or some, {}[0:4]", name, name));
        return type.count;
    }

    // Text, bytes, or a field for each.
    std::vector<Recorded> elements(const Value& first, std::uint64_t count,
                                   const std::string& name) {
        const Types& types = *first.types;
        const CType type = *first.type;
        if (type.pointers == 0 && is_character(types, type.id))
            return {char_array(first, count, name)};
        if (type.pointers == 0 && plain(types, type.id).kind == TypeKind::integer &&
            size_of(types, type) == 1)
            return {byte_field(first.chain, std::min<std::uint64_t>(count, TL_STR_MAX), name,
                               NumberForm::hex)};
        return each(first, count, name, [this](Value element, const std::string& its_name) {
            return as_typed(std::move(element), its_name);
        });
    }

    // What `make` makes of each element, by its name.
    template <class Make>
    std::vector<Recorded> each(const Value& first, std::uint64_t count, const std::string& name,
                               Make make) const {
        if (count > elements_max)
            fail(fmt::format("{} has {} elements, and {} can be recorded", name, count,
                             elements_max),
                 "name some of them, as in [0:4]");
        std::vector<Recorded> all;
        const bool slice = expression_.kind == Kind::slice && name == name_;
        const std::string base = slice ? base_name() : name;
        const std::uint64_t begin = slice ? expression_.number.bits : 0;
        for (std::uint64_t i = 0; i < count; i++) {
            Value element = first;
            element.elements = 0;
            element.chain.add(i * size_of(*first.types, *first.type));
            for (Recorded& one : make(std::move(element), fmt::format("{}[{}]", base, begin + i)))
                all.push_back(std::move(one));
        }
        return all;
    }

    // Of a slice, what it is one of.
    std::string base_name() const {
        const Expression& of = expression_.operand.front();
        return std::string(scope_.text().substr(of.position, of.end - of.position));
    }

    static Recorded char_array(const Value& value, std::uint64_t count, const std::string& name) {
        const bool all = count <= text_size;
        return {{.name = name, .type = FieldType::string},
                value.chain,
                store(TL_OP_STR, all ? count : text_size, 0, all ? TL_INSN_ARRAY : 0)};
    }

    // Its members that are numbers or text, and of those that are structures too, down to a depth.
    std::vector<Recorded> structure(const Value& value, const std::string& name,
                                    std::uint64_t depth = 1) {
        std::vector<Recorded> all;
        const bool led_to = expression_.kind == Kind::dereference && name == name_;
        add_members(value, led_to ? base_name() + "->" : name + ".", depth, all);
        if (all.empty())
            fail(fmt::format("{} has no members that are numbers or text", name),
                 "name what is inside of them");
        return all;
    }

    void add_members(const Value& value, const std::string& before, std::uint64_t depth,
                     std::vector<Recorded>& all) {
        const Types& types = *value.types;
        for (const Member& member : named_members(types, defined(types, value.type->id))) {
            const std::string name = before + member.name;
            if (value.place == Place::words && member.bits != 0) {
                left_out_.push_back(name);
                continue;
            }
            const Value inner = Scope::inside(value, member);
            if (auto one = simple(inner, name))
                all.push_back(std::move(*one));
            else if (depth > 1 && is_structure(types, *inner.type))
                add_members(inner, name + ".", depth - 1, all);
            else
                left_out_.push_back(name);
        }
    }

    std::vector<Recorded> inside(Value value) {
        if (item_.size == 0)
            scope_.fail(item_.format_position, "how deep isn't said", "say it: :depth[2]");
        if (!value.type || !is_structure(*value.types, *value.type))
            scope_.fail(item_.format_position, fmt::format("{} is no structure", name_),
                        fmt::format("what a pointer leads to has a * before it: *{}:{}", name_,
                                    item_.format_text));
        return structure(value, name_, item_.size);
    }

    std::optional<Recorded> simple(const Value& value, const std::string& name) {
        const Types& types = *value.types;
        if (is_array(types, *value.type)) {
            const Type& type = plain(types, value.type->id);
            if (value.place != Place::memory || type.count == 0 ||
                !is_character(types, type.target))
                return std::nullopt;
            return char_array(value, type.count, name);
        }
        const std::uint64_t size = size_of(types, *value.type);
        if (!is_number(types, *value.type) || (size & (size - 1)) != 0 || size > 8)
            return std::nullopt;
        return scalar(value, name);
    }

    // ---- with one

    // Of an array or a slice, each.
    std::vector<Recorded> numbers(Value value) {
        std::uint64_t count = value.type ? value.elements : 0;
        if (value.type && count == 0 && value.place == Place::memory &&
            is_array(*value.types, *value.type))
            count = into_first(value, name_);
        if (count == 0)
            return {one_number(std::move(value), name_)};
        return each(value, count, name_, [this](Value element, const std::string& its_name) {
            return std::vector<Recorded>{one_number(std::move(element), its_name)};
        });
    }

    Recorded one_number(Value value, const std::string& name) {
        switch (item_.format) {
        case Format::be16:
        case Format::be32:
            return big_endian(std::move(value), name, item_.format == Format::be16 ? 2 : 4);
        case Format::symbol:
            return symbolic(std::move(value), name);
        default:
            return formatted(std::move(value), name);
        }
    }

    Recorded formatted(Value value, const std::string& name) {
        value = scope_.number(expression_, std::move(value));
        Field field{.name = name};
        if (value.type)
            field.size = static_cast<std::uint8_t>(size_of(*value.types, *value.type));
        switch (item_.format) {
        case Format::hex:
            field.form = NumberForm::hex;
            break;
        case Format::signed_:
            field.form = NumberForm::signed_;
            break;
        case Format::character:
            field.form = NumberForm::character;
            field.size = 1;
            break;
        case Format::error:
            field.form = NumberForm::error;
            break;
        default:
            field.form = NumberForm::unsigned_;
            break;
        }
        Recorded made = recorded_number(std::move(field), std::move(value.chain));
        made.whole = item_.format != Format::character;
        return made;
    }

    // What is no address wherever it is read: a number of the task, or of nanoseconds.
    bool is_counted(const Value& value) const {
        const Expression& root = expression_.root();
        return !value.type && root.kind == Kind::builtin && root.builtin >= Builtin::duration &&
               root.builtin <= Builtin::cpu && root.builtin != Builtin::comm;
    }

    Recorded symbolic(Value value, const std::string& name) {
        if (is_counted(value) || value.bits != 0)
            scope_.fail(item_.format_position,
                        fmt::format("{} is {}", name,
                                    value.bits != 0 ? "a bitfield, and no address" : "no address"),
                        "a symbol is found by a pointer, or a number as long as one");
        value = scope_.number(expression_, std::move(value));
        if (value.type && size_of(*value.types, *value.type) != word_size)
            scope_.fail(item_.format_position,
                        fmt::format("{} has {} bytes, and an address {}", name,
                                    size_of(*value.types, *value.type), word_size),
                        "a symbol is found by a pointer, or a number as long as one");
        const bool returned_to =
            expression_.kind == Kind::builtin && expression_.builtin == Builtin::caller;
        return recorded_number(
            {.name = name, .form = returned_to ? NumberForm::caller : NumberForm::symbol},
            std::move(value.chain));
    }

    Recorded big_endian(Value value, const std::string& name, std::uint8_t size) {
        if (value.type &&
            (!is_number(*value.types, *value.type) || size_of(*value.types, *value.type) != size))
            scope_.fail(item_.format_position,
                        fmt::format("{} is no number of {} bytes", name, size),
                        fmt::format("say what is meant: (u{0}){1}, or *(u{0} *){1} for what it "
                                    "leads to",
                                    size * 8, name));
        value = scope_.number(expression_, std::move(value));
        value.chain.append(TL_OP_SWAP, 0, size);
        return recorded_number({.name = name, .size = size, .form = NumberForm::unsigned_},
                               std::move(value.chain));
    }

    // Where it lies in memory.
    Value place(Value value) const {
        auto found = scope_.memory(expression_, std::move(value));
        if (!found)
            fail(fmt::format("{} is no address, and lies in no memory", name_),
                 fmt::format(":{} shows what is in memory", item_.format_text));
        return std::move(*found);
    }

    Recorded text(Value value) {
        const bool is_place = value.place == Place::memory;
        const Value at = place(std::move(value));
        std::uint64_t room = at.elements;
        if (is_place && at.type && at.elements == 0 && is_array(*at.types, *at.type))
            room = size_of(*at.types, *at.type);
        const std::uint64_t most = item_.size != 0 ? item_.size : text_size;
        const bool all = is_place && room != 0 && room <= most;
        return {{.name = name_, .type = FieldType::string},
                at.chain,
                store(item_.format == Format::user_text ? TL_OP_STR_USER : TL_OP_STR,
                      all ? room : most, 0, all ? TL_INSN_ARRAY : 0)};
    }

    Recorded bytes(Value value, std::uint64_t size, NumberForm form) {
        const Value at = place(std::move(value));
        if (size == 0 && at.type) {
            const TypeKind kind =
                at.type->pointers != 0 ? TypeKind::pointer : plain(*at.types, at.type->id).kind;
            if (kind != TypeKind::none && kind != TypeKind::function)
                size = size_of(*at.types, *at.type) * std::max<std::uint64_t>(at.elements, 1);
        } else if (size == 0) {
            size = at.elements;
        }
        if (size == 0)
            scope_.fail(item_.format_position, "how many bytes isn't known", "say it: :hex[16]");
        if (size > TL_STR_MAX)
            scope_.fail(
                item_.format_position,
                fmt::format("{} has {} bytes, and {} can be recorded", name_, size, TL_STR_MAX),
                fmt::format("say how many: :hex[{}]", TL_STR_MAX));
        return byte_field(at.chain, size, name_, form);
    }

    static Recorded byte_field(const Chain& chain, std::uint64_t size, const std::string& name,
                               NumberForm form) {
        return {{.name = name, .type = FieldType::bytes, .form = form},
                chain,
                store(TL_OP_BYTES, size)};
    }

    Recorded ip4(Value value) {
        const bool is_untyped = !value.type;
        const bool is_word = value.type && is_number(*value.types, *value.type) &&
                             size_of(*value.types, *value.type) == 4;
        if (is_word || !value.type) {
            value = scope_.number(expression_, std::move(value));
        } else {
            value = place(std::move(value));
            value.chain.load(4, false);
        }
        Recorded made = recorded_number({.name = name_, .size = 4, .form = NumberForm::ip4},
                                        std::move(value.chain));
        made.whole = !is_untyped; // half of it is kept
        return made;
    }

    const Scope& scope_;
    const ListItem& item_;
    const Expression& expression_;
    TypedFields& fields_;
    std::vector<std::string>& left_out_;
    std::string name_;
};

} // namespace

Recorded recorded_number(Field field, Chain chain) {
    const tl_insn put = store(TL_OP_PUT, 0, field.size);
    return {std::move(field), std::move(chain), put};
}

Recorded recorded_text(std::string name, Chain address) {
    return {{.name = std::move(name), .type = FieldType::string},
            std::move(address),
            store(TL_OP_STR, text_size)};
}

std::vector<Recorded> recorded_item(const Scope& scope, const ListItem& item, TypedFields& fields,
                                    std::vector<std::string>& left_out) {
    return Maker(scope, item, fields, left_out).make();
}

} // namespace trapline
