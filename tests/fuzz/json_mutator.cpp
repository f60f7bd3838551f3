// SPDX-License-Identifier: GPL-2.0
// Changes values in a description instead of characters, so that most of what is tried gets
// past the JSON parser. For libFuzzer alone.
#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.h"
#include "trace/description.h"
#include "util/error.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

using namespace trapline;
using Json = nlohmann::ordered_json;

namespace {

using Random = std::minstd_rand;

constexpr std::string_view begin = "\n/* trapline: ";
constexpr std::string_view end = "*/";

void collect(Json& value, std::vector<Json*>& all) {
    all.push_back(&value);
    if (value.is_structured()) {
        for (Json& element : value)
            collect(element, all);
    }
}

std::uint64_t interesting(std::uint64_t number, Random& random) {
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

std::string mutated(std::string text) {
    constexpr std::size_t room = 16;
    const std::size_t size = text.size();
    text.resize(size + room);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    return text;
}

void erase_one(Json& container, Random& random) {
    auto at = container.begin();
    std::advance(at, random() % container.size());
    container.erase(at);
}

void change(Json& value, const std::vector<Json*>& all, Random& random) {
    // A copy first: what it is copied from may lie inside of it.
    const Json other = *all[random() % all.size()];
    const auto choice = random() % 4;
    if (choice == 0)
        value = other;
    else if (value.is_number_unsigned())
        value = interesting(value.get<std::uint64_t>(), random);
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

bool accepted(const std::string& json) {
    try {
        parse_description(json);
        return true;
    } catch (const Error&) {
        return false;
    }
}

// Most often what is refused gives way to something that was not: one step away from what is
// accepted is where the checks are.
Json to_change(std::string json, Random& random) {
    constexpr std::size_t most = 64;
    static std::vector<std::string> good;
    if (accepted(json)) {
        if (good.size() < most)
            good.push_back(json);
        else
            good[random() % most] = json;
    } else if (!good.empty() && random() % 4 != 0) {
        json = good[random() % good.size()];
    }
    return Json::parse(json, nullptr, false);
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
    Random random(seed);
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::size_t from = text.find(begin);
    const std::size_t to = from == std::string::npos ? from : text.find(end, from + begin.size());
    if (to == std::string::npos || random() % 4 == 0)
        return LLVMFuzzerMutate(data, size, max);
    const std::size_t json = from + begin.size();
    Json document = to_change(text.substr(json, to - json), random);
    if (document.is_discarded())
        return LLVMFuzzerMutate(data, size, max);
    for (auto times = random() % 3 + 1; times > 0; times--) {
        std::vector<Json*> all;
        collect(document, all);
        change(*all[random() % all.size()], all, random);
    }
    const std::string out =
        text.substr(0, json) +
        document.dump(-1, ' ', random() % 2 == 0, Json::error_handler_t::replace) + text.substr(to);
    if (out.size() > max)
        return LLVMFuzzerMutate(data, size, max);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
