// SPDX-License-Identifier: GPL-2.0
// Changes a value of a JSON document instead of characters. For libFuzzer alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace trapline::fuzz {

using Json = nlohmann::ordered_json;
using Random = std::minstd_rand;

inline std::uint64_t near_or_at_an_edge(std::uint64_t number, Random& random) {
    switch (random() % 5) {
    case 0:
        return number + 1;
    case 1:
        return number - 1;
    case 2:
        return std::uint64_t{1} << random() % 64;
    case 3:
        return (std::uint64_t{1} << random() % 64) - 1;
    default:
        return random() % 70000;
    }
}

// By libFuzzer's own means, with some room to grow.
inline std::string mutated(std::string text) {
    constexpr std::size_t room = 16;
    const std::size_t size = text.size();
    text.resize(size + room);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    return text;
}

inline void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    if (value.is_structured()) {
        for (Json& element : value)
            collect(element, all);
    }
}

inline void erase_one(Json& container, Random& random) {
    auto at = container.begin();
    std::advance(at, random() % container.size());
    container.erase(at);
}

inline void change(Json& value, const std::vector<Json*>& all, Random& random) {
    // A copy first: what it is copied from may lie inside of it.
    const Json other = *all[random() % all.size()];
    const auto choice = random() % 4;
    if (choice == 0)
        value = other;
    else if (value.is_number_unsigned())
        value = near_or_at_an_edge(value.get<std::uint64_t>(), random);
    else if (value.is_string())
        value = mutated(value.get<std::string>());
    else if (value.is_boolean())
        value = !value.get<bool>();
    else if (value.is_structured() && !value.empty() && choice == 1)
        erase_one(value, random);
    else if (value.is_array() && !value.empty() && choice == 2)
        value.push_back(value[random() % value.size()]);
    else if (value.is_array())
        value.push_back(other);
    else
        value = nullptr;
}

inline void change_one_value(Json& document, Random& random) {
    std::vector<Json*> all;
    collect(document, all);
    change(*all[random() % all.size()], all, random);
}

inline std::string text_of(const Json& document, Random& random) {
    return document.dump(-1, ' ', random() % 2 == 0, Json::error_handler_t::replace);
}

} // namespace trapline::fuzz
