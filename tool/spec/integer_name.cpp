// SPDX-License-Identifier: GPL-2.0
// The many ways to write C's integer types.
#include "spec/integer_name.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace trapline {

namespace {

using Words = std::span<const std::string_view>;

std::ptrdiff_t count(Words words, std::string_view word) {
    return std::count(words.begin(), words.end(), word);
}

} // namespace

std::string integer_name(Words words) {
    const auto longs = count(words, "long");
    const auto shorts = count(words, "short");
    const auto chars = count(words, "char");
    const auto ints = count(words, "int");
    const auto unsigneds = count(words, "unsigned");
    const auto signeds = count(words, "signed");
    const auto all = longs + shorts + chars + ints + unsigneds + signeds;
    if (all == 0)
        return words.size() == 1 ? std::string(words.front() == "bool" ? "_Bool" : words.front())
                                 : std::string();
    if (all != static_cast<std::ptrdiff_t>(words.size()) || longs > 2 || shorts > 1 || chars > 1 ||
        ints > 1 || unsigneds + signeds > 1 || (longs > 0) + shorts + chars > 1 ||
        (chars == 1 && ints == 1))
        return {};
    const std::string sign = unsigneds == 1 ? "unsigned " : "";
    if (chars == 1)
        return (signeds == 1 ? "signed " : sign) + "char";
    if (shorts == 1)
        return "short " + sign + "int";
    if (longs == 2)
        return "long long " + sign + "int";
    if (longs == 1)
        return "long " + sign + "int";
    return sign + "int";
}

std::string_view clang_integer_name(std::string_view name) {
    static constexpr std::pair<std::string_view, std::string_view> names[] = {
        {"short int", "short"},         {"short unsigned int", "unsigned short"},
        {"long int", "long"},           {"long unsigned int", "unsigned long"},
        {"long long int", "long long"}, {"long long unsigned int", "unsigned long long"},
    };
    const auto* const found = std::find_if(std::begin(names), std::end(names),
                                           [&](const auto& one) { return one.first == name; });
    return found == std::end(names) ? name : found->second;
}

} // namespace trapline
