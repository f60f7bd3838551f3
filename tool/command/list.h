// SPDX-License-Identifier: GPL-2.0
// `trapline list`: the functions that can be probed.
#pragma once

#include <string>
#include <vector>

#include "spec/function_list.h"
#include "symbols/blacklist.h"
#include "symbols/kallsyms.h"
#include "types/type_files.h"
#include "util/error.h"

namespace trapline {

struct ListOptions {
    std::string glob = "*"; // as typed
    bool all = false;       // those that can't be probed, too
    bool args = false;      // prototypes instead of names
    TypeFiles types;        // for that
    bool help = false;
};

// `arguments`: those behind the word "list". UsageError names the offending one.
ListOptions parse_list_options(const std::vector<std::string>& arguments);

// A function's line, as it is shown. `name`: its own, or its prototype.
void append_function(std::string& out, const std::string& name, const NumberedFunction& function,
                     Obstacle obstacle, bool addresses_hidden);

// "vfs_read", "name#2".
std::string listed_name(const NumberedFunction& function);

// "ssize_t vfs_read(struct file *file, ...)"; where its types aren't known "vfs_read(?)".
std::string prototype(const NumberedFunction& function, const Kallsyms& kallsyms,
                      TypeSource& types);

// Error, with exit status 1, for a list that is empty, with names that may have been meant.
Error nothing_listed(const ListOptions& options, const FunctionCount& count,
                     const Kallsyms& kallsyms);

// `arguments`: those behind the word "list". Returns the exit status; throws Error.
int list_command(const std::vector<std::string>& arguments);

} // namespace trapline
