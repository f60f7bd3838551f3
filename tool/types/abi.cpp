// SPDX-License-Identifier: GPL-2.0
// Where x86-64's calling convention puts a function's arguments and result.
#include "types/abi.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "types/abi_risc.h"
#include "util/error.h"

namespace trapline {

namespace {

constexpr unsigned registers_max = 6;
constexpr std::uint64_t word_size = 8;
constexpr std::uint64_t words_max = 2;     // of a value in registers
constexpr std::uint64_t stack_max = 65536; // words: more is not looked at
constexpr unsigned depth_max = 16;

enum class Class : std::uint8_t { nothing, general, vector };

// A value's words by what is in them, or that it lies in memory.
struct Classes {
    std::array<Class, words_max> words{};
    bool memory = false;
};

void merge(Classes& classes, std::uint64_t word, Class kind) {
    if (word >= words_max)
        classes.memory = true;
    else if (classes.words[word] != Class::general)
        classes.words[word] = kind;
}

class Classifier {
public:
    explicit Classifier(const Types& types) : types_(types) {}

    Classes classify(TypeId id) {
        const std::uint64_t size = size_of(types_, id);
        Classes classes;
        if (size > words_max * word_size)
            classes.memory = true;
        else
            add(id, 0, classes, 0);
        return classes;
    }

private:
    void add(TypeId id, std::uint64_t offset, Classes& classes, unsigned depth) {
        if (depth > depth_max)
            throw Error("the types are damaged: one consists of itself");
        const Type& type = plain(types_, id);
        switch (type.kind) {
        case TypeKind::integer:
        case TypeKind::boolean:
        case TypeKind::pointer:
        case TypeKind::enumeration:
            return add_scalar(type.size, offset, Class::general, classes);
        case TypeKind::floating:
            // long double and what is larger go by the stack.
            if (type.size > word_size)
                classes.memory = true;
            else
                add_scalar(type.size, offset, Class::vector, classes);
            return;
        case TypeKind::array: {
            const std::uint64_t size = size_of(types_, type.target);
            const std::uint64_t count = size == 0 ? 0 : type.count;
            for (std::uint64_t i = 0; i < count && offset + i * size < words_max * word_size; i++)
                add(type.target, offset + i * size, classes, depth + 1);
            return;
        }
        case TypeKind::structure:
        case TypeKind::union_:
            for (const Member& member : type.members) {
                if (member.bits != 0)
                    merge(classes, (offset * 8 + member.bit_offset) / 64, Class::general);
                else
                    add(member.type, offset + member.bit_offset / 8, classes, depth + 1);
            }
            return;
        default:
            return;
        }
    }

    // What is packed so that it isn't aligned makes the whole value go by memory.
    static void add_scalar(std::uint64_t size, std::uint64_t offset, Class kind, Classes& classes) {
        if (size == 0 || size > words_max * word_size) {
            classes.memory = classes.memory || size != 0;
            return;
        }
        if (offset % std::min(size, words_max * word_size) != 0)
            classes.memory = true;
        for (std::uint64_t word = offset / word_size; word <= (offset + size - 1) / word_size;
             word++)
            merge(classes, word, kind);
    }

    const Types& types_;
};

unsigned count(const Classes& classes, Class kind) {
    return static_cast<unsigned>(std::count(classes.words.begin(), classes.words.end(), kind));
}

CallPlaces call_places_x86_64(const Types& types, const Type& function) {
    Classifier classifier(types);
    CallPlaces places;
    unsigned general = 0;
    unsigned stack = 0;
    const Classes result = classifier.classify(function.target);
    places.result_in_memory = result.memory;
    if (result.memory)
        general = 1; // the result's place comes before the first argument
    else if (count(result, Class::vector) == 0)
        places.words = count(result, Class::general);
    for (const Parameter& parameter : function.parameters) {
        const Classes classes = classifier.classify(parameter.type);
        const std::uint64_t size = size_of(types, parameter.type);
        const unsigned wanted = count(classes, Class::general);
        ArgumentPlace& place = places.arguments.emplace_back();
        if (!classes.memory && count(classes, Class::vector) != 0) {
            // The kernel has none outside of what it builds for floating point; what else the
            // value has is not shown.
            if (general + wanted <= registers_max)
                general += wanted;
            continue;
        }
        if (!classes.memory && general + wanted <= registers_max) {
            place = {.first = general, .words = wanted};
            general += wanted;
            continue;
        }
        const auto words =
            static_cast<unsigned>(std::min((size + word_size - 1) / word_size, stack_max));
        place = {.first = registers_max + stack, .words = words};
        stack = std::min(stack + words, static_cast<unsigned>(stack_max));
    }
    return places;
}

} // namespace

CallPlaces call_places(const Types& types, const Type& function, Abi abi) {
    switch (abi) {
    case Abi::x86_64:
        break;
    case Abi::aarch64:
        return call_places_aarch64(types, function);
    case Abi::riscv64:
        return call_places_riscv64(types, function);
    }
    return call_places_x86_64(types, function);
}

} // namespace trapline
