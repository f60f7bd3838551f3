// SPDX-License-Identifier: GPL-2.0
// The kernel's functions: which of them can be probed, and why the others can't.
#include "spec/function_list.h"

#include <algorithm>
#include <fnmatch.h>
#include <iterator>

namespace trapline {

namespace {

bool is_module_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

// A shell's pattern. Most names differ from it in what comes before its first wildcard.
class NamePattern {
public:
    explicit NamePattern(const std::string& glob)
        : glob_(glob), plain_(glob.substr(0, glob.find_first_of("*?[\\"))),
          prefix_(glob == plain_ + "*") {}

    bool matches(std::string_view name) const {
        if (!name.starts_with(plain_))
            return false;
        return prefix_ || fnmatch(glob_.c_str(), std::string(name).c_str(), 0) == 0;
    }

private:
    std::string glob_;
    std::string plain_;
    bool prefix_; // and nothing else
};

} // namespace

// A colon may be a glob's own: [[:digit:]].
FunctionGlob parse_function_glob(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view module = text.substr(0, colon);
    if (colon == std::string_view::npos || module.empty() ||
        !std::all_of(module.begin(), module.end(), is_module_character))
        return {.module = {}, .name = std::string(text)};
    return {.module = std::string(module), .name = std::string(text.substr(colon + 1))};
}

std::string plain_part(std::string_view glob) {
    std::string text;
    std::copy_if(glob.begin(), glob.end(), std::back_inserter(text),
                 [](char c) { return std::string_view("*?[]\\").find(c) == std::string::npos; });
    return text;
}

Kallsyms load_symbols(const FunctionGlob& glob, const std::string& path) {
    const NamePattern pattern(glob.name);
    return {path,
            [&](std::string_view name) { return pattern.matches(name) || Obstacles::needs(name); }};
}

FunctionCount list_functions(const FunctionGlob& glob, const Kallsyms& kallsyms,
                             const Blacklist& blacklist, const VisitFunction& visit) {
    const Obstacles obstacles(kallsyms, blacklist);
    const NamePattern pattern(glob.name);
    FunctionCount count;
    kallsyms.for_each_function(
        glob.module, [&](std::string_view name) { return pattern.matches(name); },
        [&](const NumberedFunction& function) {
            const Obstacle obstacle = obstacles.find(function.symbol, function.symbol.address);
            (obstacle == Obstacle::none ? count.probed : count.refused)++;
            visit(function, obstacle);
        });
    return count;
}

} // namespace trapline
