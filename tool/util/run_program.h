// SPDX-License-Identifier: GPL-2.0
// Runs a program of the system's and hears what it says.
#pragma once

#include <string>
#include <vector>

namespace trapline {

struct Finished {
    int status = 127; // as a shell would give it; 127: there is no such program
    std::string text; // what it said
};

enum class Heard { output, errors };

// `words`: its name, looked for where the system's programs are whatever $PATH says, for we may be
// root; and its arguments. It speaks English, and what isn't heard is thrown away.
Finished run_program(std::vector<std::string> words, Heard heard);

} // namespace trapline
