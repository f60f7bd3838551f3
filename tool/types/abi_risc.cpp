// SPDX-License-Identifier: GPL-2.0
// Where the calling conventions of arm64 (AAPCS64) and riscv64 (LP64) put arguments and results.
#include "types/abi_risc.h"

#include <algorithm>
#include <cstdint>

#include "util/error.h"

namespace trapline {

namespace {

constexpr unsigned registers_max = 8;
constexpr std::uint64_t word_size = 8;
constexpr std::uint64_t two_words = 2 * word_size; // what is larger goes by its address
constexpr unsigned same_floats_max = 4;            // of arm64's vector registers, for one value
constexpr unsigned stack_max = 65536;              // words: more is not looked at
constexpr unsigned depth_max = 16;

// A value, as far as it matters.
struct Shape {
    std::uint64_t size = 0; // bytes
    bool aligned = false;   // to two words, for it has a number of that size
    bool others = false;    // it has more than floating-point numbers of one size:
    std::uint64_t float_size = 0;
    unsigned floats = 0;

    // What arm64 passes in vector registers.
    bool is_vector() const { return !others && floats != 0 && floats <= same_floats_max; }
};

class Shaper {
public:
    explicit Shaper(const Types& types) : types_(types) {}

    Shape shape(TypeId id) {
        shape_ = {.size = size_of(types_, id)};
        if (shape_.size <= same_floats_max * two_words)
            add(id, 0);
        else
            shape_.others = true;
        return shape_;
    }

private:
    void add(TypeId id, unsigned depth) {
        if (depth > depth_max)
            throw Error("the types are damaged: one consists of itself");
        const Type& type = plain(types_, id);
        switch (type.kind) {
        case TypeKind::none:
            return;
        case TypeKind::array:
            return add_elements(type, depth);
        case TypeKind::structure:
            for (const Member& member : type.members)
                add(member.type, depth + 1);
            return;
        case TypeKind::union_:
            return add_alternatives(type, depth);
        case TypeKind::floating:
            shape_.others = shape_.others || (shape_.floats != 0 && shape_.float_size != type.size);
            shape_.float_size = type.size;
            shape_.floats++;
            break;
        default:
            shape_.others = true;
            break;
        }
        shape_.aligned = shape_.aligned || type.size == two_words;
    }

    void add_elements(const Type& array, unsigned depth) {
        const std::uint32_t count = size_of(types_, array.target) == 0 ? 0 : array.count;
        for (std::uint32_t i = 0; i < std::min(count, same_floats_max + 1); i++)
            add(array.target, depth + 1);
    }

    void add_alternatives(const Type& type, unsigned depth) {
        const unsigned before = shape_.floats;
        unsigned most = before;
        for (const Member& member : type.members) {
            shape_.floats = before;
            add(member.type, depth + 1);
            most = std::max(most, shape_.floats);
        }
        shape_.floats = most;
    }

    const Types& types_;
    Shape shape_;
};

unsigned words_of(std::uint64_t size) {
    return static_cast<unsigned>(
        std::min<std::uint64_t>((size + word_size - 1) / word_size, stack_max));
}

// Registers, then the stack, as words in a row.
class Words {
public:
    // A value in one place or the other: what comes behind it isn't put before it.
    ArgumentPlace whole(unsigned count, bool aligned) {
        if (aligned && next_ % 2 != 0)
            next_++;
        if (next_ < registers_max && next_ + count > registers_max)
            next_ = registers_max;
        return take(count);
    }

    // One that may be cut where registers end. Only on the stack it is aligned.
    ArgumentPlace split(unsigned count, bool aligned) {
        if (aligned && next_ > registers_max && next_ % 2 != 0)
            next_++;
        return take(count);
    }

private:
    ArgumentPlace take(unsigned count) {
        const ArgumentPlace place{.first = next_, .words = count};
        next_ = std::min(next_ + count, stack_max);
        return place;
    }

    unsigned next_ = 0; // the stack begins at an even one
};

} // namespace

CallPlaces call_places_aarch64(const Types& types, const Type& function) {
    Shaper shaper(types);
    Words words;
    CallPlaces places;
    const Shape result = shaper.shape(function.target);
    // What is larger lies where x8 pointed to at the entry.
    if (!result.is_vector() && result.size <= two_words)
        places.words = words_of(result.size);
    for (const Parameter& parameter : function.parameters) {
        const Shape shape = shaper.shape(parameter.type);
        ArgumentPlace& place = places.arguments.emplace_back();
        if (shape.size == 0 || shape.is_vector())
            continue;
        if (shape.size > two_words)
            place = {words.whole(1, false).first, 0, true};
        else
            place = words.whole(words_of(shape.size), shape.aligned);
    }
    return places;
}

CallPlaces call_places_riscv64(const Types& types, const Type& function) {
    Shaper shaper(types);
    Words words;
    CallPlaces places;
    const Shape result = shaper.shape(function.target);
    // Where a larger one is to be, the first argument says; whether a0 still does, nobody.
    if (result.size <= two_words)
        places.words = words_of(result.size);
    else
        words.split(1, false);
    for (const Parameter& parameter : function.parameters) {
        const Shape shape = shaper.shape(parameter.type);
        ArgumentPlace& place = places.arguments.emplace_back();
        if (shape.size == 0)
            continue;
        if (shape.size > two_words)
            place = {words.split(1, false).first, 0, true};
        else
            place = words.split(words_of(shape.size), shape.aligned);
    }
    return places;
}

} // namespace trapline
