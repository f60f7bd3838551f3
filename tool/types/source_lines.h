// SPDX-License-Identifier: GPL-2.0
// Where the source's lines are in a kernel's or a module's code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trapline {

// A place in the code of a function. Addresses are the file's, not the running kernel's.
struct SourcePlace {
    std::string function;      // its symbol
    std::uint64_t address = 0; // of the function
    std::uint64_t offset = 0;  // in it, bytes
    std::string file;          // whose the line is, as the compiler was given it: "fs/open.c"
    unsigned line = 0;         // in the file
};

struct SourceAnchor {
    std::string symbol;
    std::uint64_t address = 0;
};

class SourceLines {
public:
    SourceLines() = default;
    SourceLines(const SourceLines&) = delete;
    SourceLines& operator=(const SourceLines&) = delete;
    virtual ~SourceLines() = default;

    // The beginnings of all functions of that name, by address. All throw Error for damage.
    virtual std::vector<SourcePlace> functions(std::string_view name) const = 0;

    // What the compiler made of a function that has no code of its own name: NAME.isra.0, ...
    virtual std::vector<std::string> clones(std::string_view /*name*/) const { return {}; }

    // A function of that name that was inlined wherever it is called, and has no code of its own.
    struct Inlined {
        std::string file;
        unsigned line = 0;
        std::vector<std::string> into; // symbols of some that have its code
    };
    virtual std::optional<Inlined> inlined(std::string_view /*name*/) const { return std::nullopt; }

    // The first code of that line in each function that has code of it, by address; `file` as for
    // is_file(). With `function`: in that one alone, wherever its source is.
    virtual std::vector<SourcePlace> places(std::string_view file, unsigned line) const = 0;
    virtual std::vector<SourcePlace> places(const SourcePlace& function, unsigned line) const = 0;

    // The nearest lines before and after it that have code, as above; 0: there is none.
    struct Near {
        unsigned before = 0;
        unsigned after = 0;
    };
    virtual Near near(std::string_view file, unsigned line) const = 0;
    virtual Near near(const SourcePlace& function, unsigned line) const = 0;

    // Whether the source has a file of that name at all.
    virtual bool has_file(std::string_view file) const = 0;

    // Symbols that are loaded as far from `address` as they are in the file.
    virtual std::vector<SourceAnchor> anchors(std::uint64_t address) const = 0;
};

// Whether `path` is `file`, or ends in it at a whole name: "fs/open.c" is "/usr/src/fs/open.c".
bool is_file(std::string_view path, std::string_view file);

} // namespace trapline
