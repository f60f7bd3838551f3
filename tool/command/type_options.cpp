// SPDX-License-Identifier: GPL-2.0
// The part of command lines that says where types are taken from.
#include "command/type_options.h"

#include <vector>

#include "util/error.h"

namespace trapline {

namespace po = boost::program_options;

void add_type_options(po::options_description& options) {
    auto add = options.add_options();
    add("btf", po::value<std::vector<std::string>>()->value_name("FILE"),
        "take types from FILE's BTF, not the running kernel's; once more for each module's");
    add("vmlinux", po::value<std::vector<std::string>>()->value_name("FILE"),
        "take types and source lines from the DWARF of this kernel's vmlinux, or of a module's "
        ".ko; once for each");
}

TypeFiles type_files(const po::variables_map& given, const std::string& see_help) {
    const auto values = [&](const char* name) {
        return given.count(name) != 0 ? given[name].as<std::vector<std::string>>()
                                      : std::vector<std::string>();
    };
    TypeFiles files{.btf = values("btf"), .vmlinux = values("vmlinux")};
    if (!files.btf.empty() && !files.vmlinux.empty())
        throw UsageError("--btf and --vmlinux exclude each other: types come from one of them",
                         see_help);
    return files;
}

} // namespace trapline
