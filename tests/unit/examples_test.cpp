// SPDX-License-Identifier: GPL-2.0
// Every PROBE that the manual pages, the lab and README.md show in single quotes is one.
#include <algorithm>
#include <array>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "recording_fixture.h"
#include "spec/probe_spec.h"
#include "util/error.h"

namespace {

using namespace trapline;
using namespace trapline::test;

// What opens a quote has this before it, and what closes one this behind it; an apostrophe hasn't.
constexpr std::string_view before_quote = " \t\n(*`";
constexpr std::string_view behind_quote = " \t\n)*`.,:;";

// What else is quoted, by the word before it: shell commands.
bool is_command(std::string_view before) {
    constexpr std::array<std::string_view, 3> words{" -c ", " -- ", " echo "};
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return before.ends_with(word); });
}

bool is_probe(std::string_view quoted) {
    constexpr std::array<std::string_view, 6> marks{"(", " if ", " /", "$", "+", "@"};
    if (quoted.find("*_") != quoted.npos)
        return false; // *'*_PROBE_*()'*, not an example
    return std::any_of(marks.begin(), marks.end(),
                       [&](std::string_view mark) { return quoted.find(mark) != quoted.npos; });
}

// As a reader sees it: scdoc's backslashes and line breaks gone.
std::string shown(std::string_view quoted, bool scdoc) {
    std::string out;
    for (std::size_t i = 0; i < quoted.size(); i++) {
        if (scdoc && quoted[i] == '\\' && i + 1 < quoted.size())
            i++;
        if (quoted[i] == '\t' && out.ends_with(' '))
            continue;
        out += quoted[i] == '\n' ? ' ' : quoted[i];
    }
    return out;
}

std::vector<std::string> examples(const std::string& text, bool scdoc) {
    std::vector<std::string> all;
    for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 1)) {
        const std::size_t end = text.find('\'', at + 1);
        if (end == text.npos)
            break;
        const std::string_view quoted = std::string_view(text).substr(at + 1, end - at - 1);
        const bool opens = at == 0 || before_quote.find(text[at - 1]) != before_quote.npos;
        const bool closes =
            end + 1 == text.size() || behind_quote.find(text[end + 1]) != behind_quote.npos;
        if (!opens || !closes || quoted.empty() ||
            std::count(quoted.begin(), quoted.end(), '\n') > 1)
            continue;
        if (is_probe(quoted) && !is_command(std::string_view(text).substr(0, at)))
            all.push_back(shown(quoted, scdoc));
        at = end;
    }
    return all;
}

TEST(Examples, AreProbes) {
    const std::filesystem::path top = TRAPLINE_SOURCE_DIR;
    std::vector<std::filesystem::path> files{top / "README.md"};
    for (const char* directory : {"docs", "docs/lab"})
        for (const auto& entry : std::filesystem::directory_iterator(top / directory))
            if (entry.path().extension() == ".scd" ||
                (entry.path().extension() == ".md" && std::string_view(directory) == "docs/lab"))
                files.push_back(entry.path());
    std::size_t count = 0;
    for (const auto& file : files) {
        for (const std::string& example :
             examples(contents(file.string()), file.extension() == ".scd")) {
            count++;
            EXPECT_EQ(error_of([&] { parse_probe(example); }), "") << file;
        }
    }
    EXPECT_GT(count, 55U) << "that many there were: are they still found?";
}

TEST(Examples, AreFound) {
    using Examples = std::vector<std::string>;
    const std::string text =
        "The kernel's: *'f(\\*file)'*, *'g(((struct a\n\t\\*)$arg1)->\\_b)'*. It isn't '.'\n"
        "*'*_PROBE_*()'*\n"
        "    trace 'h if a == 1' 'i+4' -- sh -c 'x; echo $y'\n";
    EXPECT_EQ(examples(text, true),
              (Examples{"f(*file)", "g(((struct a *)$arg1)->_b)", "h if a == 1", "i+4"}));
    EXPECT_EQ(examples("'f(\\*file)'", false), Examples{"f(\\*file)"});
}

} // namespace
