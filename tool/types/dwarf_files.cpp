// SPDX-License-Identifier: GPL-2.0
// Types and lines from files with DWARF.
#include "types/dwarf_files.h"

#include <fmt/format.h>
#include <map>

#include "types/dwarf_file.h"
#include "types/dwarf_lines.h"
#include "types/dwarf_types.h"
#include "util/error.h"

namespace trapline {

namespace {

struct Known {
    explicit Known(const std::string& path) : file(path), types(file), lines(file) {}

    DwarfFile file;
    DwarfTypes types;
    DwarfLines lines;
};

class DwarfFiles : public FileTypes {
public:
    DwarfFiles(const std::vector<std::string>& paths, const std::string& sys) {
        for (const std::string& path : paths) {
            auto known = std::make_unique<Known>(path);
            const KernelBuild build = build_of_file(path);
            if (!sys.empty())
                check_runs(build, path, sys);
            if (!files_.emplace(build.module, std::move(known)).second)
                throw Error(fmt::format("{}: another file has the types of {} too", path,
                                        build.module.empty() ? "the kernel" : build.module),
                            "name one");
            builds_.push_back(build);
        }
    }

    const Types* types_of(const std::string& module, std::string& why_none) override {
        const Known* known = find(module, why_none);
        return known == nullptr ? nullptr : &known->types;
    }

    const SourceLines* lines_of(const std::string& module, std::string& why_none) override {
        const Known* known = find(module, why_none);
        return known == nullptr ? nullptr : &known->lines;
    }

    std::vector<std::string> modules_with_lines() const override {
        std::vector<std::string> modules;
        for (const KernelBuild& build : builds_)
            modules.push_back(build.module);
        return modules;
    }

    std::vector<KernelBuild> builds() const override { return builds_; }

private:
    const Known* find(const std::string& module, std::string& why_none) const {
        const auto found = files_.find(module);
        if (found != files_.end())
            return found->second.get();
        why_none = module.empty() ? "--vmlinux names no file of the kernel"
                                  : fmt::format("--vmlinux names no file of the module {}", module);
        return nullptr;
    }

    std::map<std::string, std::unique_ptr<Known>> files_; // by module
    std::vector<KernelBuild> builds_;
};

} // namespace

std::unique_ptr<FileTypes> open_dwarf(const std::vector<std::string>& paths,
                                      const std::string& sys) {
    return std::make_unique<DwarfFiles>(paths, sys);
}

} // namespace trapline
