// SPDX-License-Identifier: GPL-2.0
// The kernel's functions: which of them can be probed, and why the others can't.
#include "spec/function_list.h"

#include <algorithm>
#include <fnmatch.h>

namespace trapline {

namespace {

bool is_module_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

// From one symbol of the kernel image to another.
class Span {
public:
    Span(const Kallsyms& kallsyms, std::string_view begin, std::string_view end) {
        const auto first = kallsyms.find(begin, "kernel");
        const auto last = kallsyms.find(end, "kernel");
        if (first.empty() || last.empty())
            return;
        begin_ = first.front().address;
        end_ = last.front().address;
    }

    bool known() const { return begin_ != end_; }
    bool holds(std::uint64_t address) const { return address >= begin_ && address < end_; }

private:
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

class Judge {
public:
    Judge(const Kallsyms& kallsyms, const Blacklist& blacklist)
        : blacklist_(blacklist), text_(kallsyms, "_stext", "_etext"),
          init_text_(kallsyms, "_sinittext", "_einittext"),
          init_(kallsyms, "__init_begin", "__init_end") {}

    std::string_view reason(const Symbol& symbol) const {
        if (symbol.is_padding())
            return "padding before a function";
        if (symbol.module.empty() && symbol.address != 0) {
            // Of what only unloading needs, too: a built-in is never unloaded.
            if (init_text_.holds(symbol.address) || init_.holds(symbol.address))
                return "ran at boot, and its memory was given back since";
            if (text_.known() && !text_.holds(symbol.address))
                return "outside of the kernel's text";
        }
        if (blacklist_.find(symbol.address, symbol.name))
            return "blacklisted: handling a kprobe may need it";
        if (symbol.is_cold_part())
            return "the cold part of a function: it is jumped to, not called";
        return {};
    }

private:
    const Blacklist& blacklist_;
    Span text_;
    Span init_text_;
    Span init_;
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

FunctionCount list_functions(const FunctionGlob& glob, const Kallsyms& kallsyms,
                             const Blacklist& blacklist, const VisitFunction& visit) {
    const Judge judge(kallsyms, blacklist);
    const bool all = glob.name == "*";
    FunctionCount count;
    std::string name; // for its NUL
    kallsyms.for_each_function(glob.module, [&](const NumberedFunction& function) {
        if (!all) {
            name = function.symbol.name;
            if (fnmatch(glob.name.c_str(), name.c_str(), 0) != 0)
                return;
        }
        const std::string_view reason = judge.reason(function.symbol);
        (reason.empty() ? count.probed : count.refused)++;
        visit(function, reason);
    });
    return count;
}

} // namespace trapline
