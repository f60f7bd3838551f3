// SPDX-License-Identifier: GPL-2.0
// Places that are named by the source, in the running kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spec/probe_spec.h"
#include "symbols/kallsyms.h"
#include "types/source_lines.h"
#include "types/type.h"

namespace trapline {

// A place in the file of a kernel or a module.
struct PlaceInFile {
    std::string module; // empty: the kernel image
    SourcePlace place;
};

class SourceFinder {
public:
    // `types` null: no lines are known.
    SourceFinder(const ProbeSpec& spec, TypeSource* types) : spec_(spec), types_(types) {}

    // The one place that the probe names by FILE or LINE. Error, with the way out, if there is
    // none, or several.
    PlaceInFile find() const;

    // Functions of that name whose source is known.
    std::vector<PlaceInFile> functions(const std::string& name) const;

    // What the compiler made of a function that isn't there by its name.
    std::vector<std::string> clones(const std::string& name) const;

    // Throws, with the way out, if the compiler made others of it.
    void fail_if_cloned(const std::string& name) const;

    // Throws, with the way out, if the function was inlined wherever it is called, as far as files
    // tell; for what isn't there by its name.
    void fail_if_inlined(const std::string& name) const;

    // Where in the running kernel a function of a file begins. None: that can't be told.
    std::optional<std::uint64_t> loaded_at(const PlaceInFile& place,
                                           const Kallsyms& kallsyms) const;

    // The source of a function that runs. None: it isn't known.
    std::optional<PlaceInFile> source_of(const Symbol& symbol, const Kallsyms& kallsyms) const;

private:
    [[noreturn]] void fail(std::string_view why, std::string hint) const;
    [[noreturn]] void fail_not_there() const;
    [[noreturn]] void fail_several(const std::vector<PlaceInFile>& found) const;
    [[noreturn]] void fail_no_code(const SourceLines::Near& near, const std::string& what) const;
    std::vector<std::string> modules() const;
    const SourceLines& lines_of(const std::string& module) const;
    PlaceInFile function_in_file() const;
    PlaceInFile line_of_function() const;
    PlaceInFile line_of_file() const;

    const ProbeSpec& spec_;
    TypeSource* types_;
};

} // namespace trapline
