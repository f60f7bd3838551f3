// SPDX-License-Identifier: GPL-2.0
// Changes values in a description instead of characters, so that most of what is tried gets
// past the JSON parser. For libFuzzer alone.
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "json_values.h"
#include "trace/description.h"
#include "util/error.h"

using namespace trapline;
using namespace trapline::fuzz;

namespace {

constexpr std::string_view begin = "\n/* trapline: ";
constexpr std::string_view end = "*/";

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
    for (auto times = random() % 3 + 1; times > 0; times--)
        change_one_value(document, random);
    const std::string out = text.substr(0, json) + text_of(document, random) + text.substr(to);
    if (out.size() > max)
        return LLVMFuzzerMutate(data, size, max);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
