// SPDX-License-Identifier: GPL-2.0
// The PROBE argument of the command line, taken apart.
#include "spec/probe_spec.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "spec/caret.h"
#include "spec/tokens.h"

namespace trapline {

namespace {

constexpr std::string_view hint =
    "a probe is FUNC, 'PATTERN*', MODULE:FUNC, kprobe:FUNC[+OFF], kretprobe:FUNC, 0xADDRESS, "
    "FUNC@FILE, FUNC:LINE, FILE:LINE, or a place from an oops: 'FUNC+0x1c/0x80 [MODULE]'; "
    "'(VALUE, ...)' and ' if CONDITION' may follow each";

bool is_symbol_character(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
           c == '.' || c == '$';
}

bool is_module_character(char c) {
    return is_symbol_character(c) || c == '-';
}

bool is_file_character(char c) {
    return is_module_character(c) || c == '/';
}

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

// Where in a PROBE its list and its condition are.
struct Parts {
    std::size_t place_end;
    std::optional<ArgumentList> arguments = std::nullopt;
    bool conditional = false;
    std::size_t begin = 0; // of the condition
    std::size_t end = 0;
};

// Where the list begins, if it comes before a condition's parentheses.
std::size_t find_list(std::string_view text) {
    const std::size_t open = text.find('(');
    for (std::size_t i = 1; i < open && i < text.size(); i++)
        if (is_blank(text[i - 1]) &&
            (text[i] == '/' || text.substr(i).starts_with("if ") ||
             text.substr(i).starts_with("if\t") || text.substr(i).starts_with("if(")))
            return std::string_view::npos;
    return open;
}

// Returns where the condition may begin.
std::size_t take_list(std::string_view text, Parts& parts) {
    const std::size_t open = find_list(text);
    if (open == std::string_view::npos)
        return 1;
    if (open > 0 && is_blank(text[open - 1]))
        throw bad_probe(text, text.find_last_not_of(" \t", open - 1) + 1,
                        "' ' is not expected here", std::string(hint));
    TokenReader tokens(text, open, text.size());
    parts.arguments = parse_argument_list(tokens);
    parts.place_end = open;
    const Token& token = tokens.token();
    const bool condition = token.text == "if" || token.is('/');
    const bool apart = token.position > 0 && is_blank(text[token.position - 1]);
    if (token.kind != Token::Kind::end && (!condition || !apart))
        tokens.fail("'=', ' if CONDITION' or the end is expected here", hint);
    return token.position;
}

// Behind the word "if", or between " /" and the last '/': an oops has no blank before its own.
Parts find_parts(std::string_view text) {
    Parts parts{.place_end = text.size()};
    const std::size_t from = take_list(text, parts);
    for (std::size_t i = from; i < text.size() && !parts.conditional; i++) {
        if (!is_blank(text[i - 1]))
            continue;
        const bool word = text.substr(i).starts_with("if") &&
                          (i + 2 == text.size() || is_blank(text[i + 2]) || text[i + 2] == '(');
        if (!word && text[i] != '/')
            continue;
        parts.conditional = true;
        parts.place_end = std::min(parts.place_end, i - 1);
        parts.begin = i + (word ? 2 : 1);
        parts.end = text.size();
        if (word)
            break;
        parts.end = text.rfind('/');
        if (parts.end == i)
            throw bad_probe(text, text.size(), "'/' is expected behind the condition",
                            std::string(hint));
        for (std::size_t behind = parts.end + 1; behind < text.size(); behind++) {
            if (!is_blank(text[behind]))
                throw bad_probe(text, behind, "nothing is expected behind the condition",
                                std::string(hint));
        }
    }
    while (parts.conditional && parts.place_end > 0 && is_blank(text[parts.place_end - 1]))
        parts.place_end--;
    return parts;
}

// Of the place: what comes before a condition.
class Parser {
public:
    Parser(std::string_view whole, std::size_t end, std::optional<trapline_probe_kind> kind)
        : whole_(whole), text_(whole.substr(0, end)), forced_(kind) {}

    ProbeSpec parse() {
        spec_.text = whole_;
        if (whole_.starts_with('@'))
            throw bad_probe(whole_, 0, "compiled probes are no probe",
                            "trapline trace @SET, and record, take them alone");
        spec_.kind = forced_.value_or(TRAPLINE_CALL);
        parse_kind();
        if (text_.substr(at_).starts_with("0x")) {
            spec_.address = parse_integer();
        } else if (!parse_file_line()) {
            parse_names();
            parse_place();
        }
        const std::size_t next = text_.find_first_not_of(" \t", at_);
        if (next != std::string_view::npos && text_[next] == '=')
            throw bad_probe(whole_, next, "what is printed of the return stands behind a list",
                            "as in vfs_read() = $retval, 'vfs_read(count) = $retval'\n" +
                                std::string(quotes_hint));
        if (at_ < text_.size())
            fail(at_, fmt::format("'{}' is not expected here", shown(text_.substr(at_, 1))));
        if (spec_.module.size() + spec_.function.size() + spec_.file.size() + 2 >
            TRAPLINE_SYMBOL_MAX)
            fail(function_at_, "the name is too long");
        return std::move(spec_);
    }

private:
    [[noreturn]] void fail(std::size_t position, std::string_view why) const {
        throw bad_probe(whole_, position, why, std::string(hint));
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

    bool at_line() const {
        return at_ + 1 < text_.size() && text_[at_] == ':' && is_digit(text_[at_ + 1]);
    }

    // What has '.' or '/' in it is a file, if a number is behind it.
    bool parse_file_line() {
        const std::size_t start = at_;
        const std::string_view file = take_while(is_file_character);
        if (!at_line() || file.find_first_of("./") == std::string_view::npos) {
            at_ = start;
            return false;
        }
        spec_.file = file;
        parse_line();
        return true;
    }

    void parse_line() {
        const std::size_t colon = at_++;
        const std::uint64_t line = parse_digits(10);
        if (line > INT32_MAX || (line == 0 && spec_.function.empty()))
            fail(colon + 1, "no file has such a line");
        if (spec_.kind == TRAPLINE_RETURN)
            fail(colon, fmt::format("{} means a whole function's return, so there can't be a line",
                                    explicit_.empty() ? "--return" : explicit_));
        spec_.line = static_cast<unsigned>(line);
        spec_.kind = TRAPLINE_ENTRY;
    }

    // Behind a function's name.
    void parse_place() {
        constexpr std::string_view narrowed = "#+@:";
        if (spec_.pattern && at_ < text_.size() && narrowed.find(text_[at_]) != narrowed.npos)
            fail(at_, "a pattern means whole functions, by their names");
        if (at_line())
            return parse_line();
        if (take('@')) {
            spec_.file = take_while(is_file_character);
            if (spec_.file.empty())
                fail(at_, "the file that has the function is expected behind '@'");
            return parse_offset();
        }
        parse_number();
        parse_offset();
        parse_brackets();
    }

    void parse_names() {
        const std::size_t start = at_;
        const std::string_view first = take_while(is_module_character);
        if (at_ < text_.size() && text_[at_] == ':' && !at_line()) {
            if (first.empty())
                fail(start, "a module's name is expected before ':'");
            spec_.module = first;
            at_++;
        } else {
            at_ = start;
        }
        function_at_ = at_;
        spec_.function = take_name();
        if (spec_.function.empty())
            fail(at_, "a function's name is expected here");
        if (is_digit(spec_.function[0]))
            fail(function_at_, "a function's name doesn't begin with a digit");
    }

    // A pattern's brackets follow it at once, a module's don't.
    std::string_view take_name() {
        const std::size_t from = at_;
        while (true) {
            take_while(is_symbol_character);
            const std::size_t wild = at_;
            if (take('[')) {
                at_ = std::min(text_.find(']', at_ + 1), text_.size());
                if (!take(']'))
                    fail(wild, "']' is expected behind this");
            } else if (!take('*') && !take('?')) {
                return text_.substr(from, at_ - from);
            }
            spec_.pattern = true;
        }
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

    std::string_view whole_;
    std::string_view text_;
    std::optional<trapline_probe_kind> forced_;
    std::size_t at_ = 0;
    std::size_t function_at_ = 0;
    std::string_view explicit_; // "kprobe:" or "kretprobe:", if given
    ProbeSpec spec_;
};

} // namespace

ProbeSpec parse_probe(std::string_view text, std::optional<trapline_probe_kind> kind) {
    Parts parts = find_parts(text);
    ProbeSpec spec = Parser(text, parts.place_end, kind).parse();
    spec.arguments = std::move(parts.arguments);
    if (parts.conditional)
        spec.condition = parse_condition(text, parts.begin, parts.end);
    return spec;
}

std::string event_name(const ProbeSpec& spec) {
    std::string name;
    if (!spec.module.empty() && spec.module != "kernel" && spec.module != "vmlinux")
        name = spec.module + ':';
    name += spec.function;
    if (!spec.file.empty())
        name += (spec.function.empty() ? "" : "@") + spec.file;
    if (spec.line)
        return name + fmt::format(":{}", *spec.line);
    if (spec.number != 0)
        name += fmt::format("#{}", spec.number);
    if (spec.offset != 0)
        name += fmt::format("+{:#x}", spec.offset);
    return name;
}

} // namespace trapline
