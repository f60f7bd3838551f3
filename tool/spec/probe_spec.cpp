// SPDX-License-Identifier: GPL-2.0
// The PROBE argument of the command line, taken apart.
#include "spec/probe_spec.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace {

constexpr std::string_view hint =
    "a probe is FUNC, MODULE:FUNC, kprobe:FUNC[+OFF], kretprobe:FUNC, or a place from an oops: "
    "'FUNC+0x1c/0x80 [MODULE]'";

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_symbol_character(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.' || c == '$';
}

bool is_module_character(char c) {
    return is_symbol_character(c) || c == '-';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

class Parser {
public:
    Parser(std::string_view text, std::optional<trapline_probe_kind> kind)
        : text_(text), forced_(kind) {}

    ProbeSpec parse() {
        spec_.text = text_;
        spec_.kind = forced_.value_or(TRAPLINE_CALL);
        parse_kind();
        parse_names();
        parse_number();
        parse_offset();
        parse_brackets();
        if (at_ < text_.size())
            fail(at_, fmt::format("'{}' is not expected here", escaped(text_.substr(at_, 1))));
        if (spec_.module.size() + spec_.function.size() + 2 > TRAPLINE_SYMBOL_MAX)
            fail(function_at_, "the name is too long");
        return std::move(spec_);
    }

private:
    // Shows the argument, made safe to print, with a caret under the character at `position`.
    [[noreturn]] void fail(std::size_t position, std::string_view why) const {
        const std::size_t column = escaped(text_.substr(0, position)).size();
        throw UsageError(
            fmt::format("bad probe: {}\n    {}\n    {:>{}}", why, escaped(text_), '^', column + 1),
            std::string(hint));
    }

    bool take(char c) {
        if (at_ == text_.size() || text_[at_] != c)
            return false;
        at_++;
        return true;
    }

    bool take_prefix(std::string_view prefix) {
        if (!text_.substr(at_).starts_with(prefix))
            return false;
        at_ += prefix.size();
        return true;
    }

    template <typename Predicate>
    std::string_view take_while(Predicate predicate) {
        const std::size_t from = at_;
        while (at_ < text_.size() && predicate(text_[at_]))
            at_++;
        return text_.substr(from, at_ - from);
    }

    void parse_kind() {
        if (take_prefix("kprobe:")) {
            if (forced_ == TRAPLINE_RETURN)
                fail(0, "kprobe: means the entry, --return the return");
            spec_.kind = TRAPLINE_ENTRY;
            explicit_ = "kprobe:";
        } else if (take_prefix("kretprobe:")) {
            if (forced_ == TRAPLINE_ENTRY)
                fail(0, "kretprobe: means the return, --entry the entry");
            spec_.kind = TRAPLINE_RETURN;
            explicit_ = "kretprobe:";
        }
    }

    void parse_names() {
        const std::size_t start = at_;
        const std::string_view first = take_while(is_module_character);
        if (at_ < text_.size() && text_[at_] == ':') {
            if (first.empty())
                fail(start, "a module's name is expected before ':'");
            spec_.module = first;
            at_++;
        } else {
            at_ = start;
        }
        function_at_ = at_;
        spec_.function = take_while(is_symbol_character);
        if (spec_.function.empty())
            fail(at_, "a function's name is expected here");
        if (is_digit(spec_.function[0]))
            fail(function_at_, "a function's name doesn't begin with a digit");
    }

    void parse_number() {
        if (!take('#'))
            return;
        const std::size_t from = at_;
        const std::uint64_t number = parse_digits(10);
        if (number == 0)
            fail(from, "functions of one name are counted from 1");
        if (number > UINT16_MAX)
            fail(from, "there are not so many functions of one name");
        spec_.number = static_cast<unsigned>(number);
    }

    void parse_offset() {
        const std::size_t plus = at_;
        if (!take('+'))
            return;
        if (spec_.kind == TRAPLINE_RETURN)
            fail(plus,
                 fmt::format("{} means a whole function's return, so there can't be an offset",
                             explicit_.empty() ? "--return" : explicit_));
        spec_.offset = parse_integer();
        spec_.has_offset = true;
        spec_.kind = TRAPLINE_ENTRY;
        const std::size_t slash = at_;
        if (!take('/'))
            return;
        spec_.oops_size = parse_integer();
        if (spec_.offset > *spec_.oops_size)
            fail(slash + 1, "the function's size is less than the offset in it");
    }

    // "[module]", or "[module 0123abcd]" from kernels that print build ids.
    void parse_brackets() {
        const std::size_t blank = at_;
        take_while(is_blank);
        const std::size_t bracket = at_;
        if (!take('[')) {
            if (at_ != text_.size())
                at_ = blank;
            return;
        }
        const std::string_view module = take_while(is_module_character);
        if (module.empty())
            fail(at_, "a module's name is expected in brackets");
        if (take(' '))
            take_while([](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
        if (!take(']'))
            fail(at_, "']' is expected here");
        if (!spec_.module.empty() && spec_.module != module)
            fail(bracket + 1, fmt::format("this contradicts '{}:'", spec_.module));
        spec_.module = module;
        take_while(is_blank);
    }

    std::uint64_t parse_integer() {
        if (take_prefix("0x") || take_prefix("0X"))
            return parse_digits(16);
        return parse_digits(10);
    }

    std::uint64_t parse_digits(int base) {
        std::uint64_t number = 0;
        const char* from = text_.data() + at_;
        const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), number, base);
        if (error == std::errc::invalid_argument || *from == '-')
            fail(at_, base == 16 ? "a hexadecimal digit is expected here"
                                 : "a number is expected here, decimal or 0x and hexadecimal");
        if (error != std::errc{})
            fail(at_, "the number is too large");
        at_ += static_cast<std::size_t>(end - from);
        return number;
    }

    std::string_view text_;
    std::optional<trapline_probe_kind> forced_;
    std::size_t at_ = 0;
    std::size_t function_at_ = 0;
    std::string_view explicit_; // "kprobe:" or "kretprobe:", if given
    ProbeSpec spec_;
};

} // namespace

ProbeSpec parse_probe(std::string_view text, std::optional<trapline_probe_kind> kind) {
    return Parser(text, kind).parse();
}

std::string event_name(const ProbeSpec& spec) {
    std::string name;
    if (!spec.module.empty() && spec.module != "kernel" && spec.module != "vmlinux")
        name = spec.module + ':';
    name += spec.function;
    if (spec.number != 0)
        name += fmt::format("#{}", spec.number);
    if (spec.offset != 0)
        name += fmt::format("+{:#x}", spec.offset);
    return name;
}

} // namespace trapline
