// SPDX-License-Identifier: GPL-2.0
// trapline: the commands' front door.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <vector>

#include "command/compile_probes.h"
#include "command/doctor.h"
#include "command/explain.h"
#include "command/list.h"
#include "command/mark.h"
#include "command/record.h"
#include "command/status.h"
#include "command/trace.h"
#include "report/report.h"
#include "shared/trapline.h"
#include "util/error.h"

namespace {

struct Command {
    std::string_view name;
    std::string_view summary;
    int (*run)(const std::vector<std::string>& arguments);
};

constexpr Command commands[] = {
    {"trace", "show what kernel functions are asked and answer, as it happens",
     trapline::trace_command},
    {"record", "write to disk what kernel functions are asked and answer",
     trapline::record_command},
    {"report", "show what was recorded", trapline::report_command},
    {"explain", "show how the kernel is made to stop at a probe", trapline::explain_command},
    {"list", "list the functions that can be probed", trapline::list_command},
    {"compile", "prepare probes for a kernel that has no debug information",
     trapline::compile_command},
    {"status", "show who traces now, and what became of the hits", trapline::status_command},
    {"mark", "put a text into what is being traced or recorded", trapline::mark_command},
    {"doctor", "say what stands in the way of tracing, and what removes it",
     trapline::doctor_command},
};

void print_help(std::FILE* to) {
    std::fputs("Usage: trapline COMMAND [OPTION]...\n"
               "\n"
               "Traces kernel functions with kprobes: no recompile, no reboot, no BPF.\n"
               "\n"
               "Commands:\n",
               to);
    for (const Command& command : commands)
        std::fprintf(to, "  %-10s %s\n", command.name.data(), command.summary.data());
    std::fputs("\n"
               "trapline COMMAND --help says more; trapline --version the version.\n"
               "A first trace: sudo trapline trace vfs_read -- cat /etc/hostname\n",
               to);
}

int run(const std::vector<std::string>& words) {
    if (words.empty()) {
        print_help(stderr);
        return trapline::Error::usage;
    }
    if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
        print_help(stdout);
        return 0;
    }
    if (words[0] == "--version") {
        std::puts("trapline " TRAPLINE_VERSION);
        return 0;
    }
    for (const Command& command : commands)
        if (words[0] == command.name)
            return command.run({words.begin() + 1, words.end()});
    throw trapline::UsageError("there is no command '" + words[0] + "'", "see: trapline --help");
}

void complain(const char* what, const std::string& hint) {
    std::fputs(trapline::complaint(what, hint).c_str(), stderr);
}

} // namespace

// Else a file of our own would become what we print to.
void hold_standard_descriptors() {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            std::_Exit(trapline::Error::failed);
}

int main(int argc, char** argv) {
    hold_standard_descriptors();
    try {
        return run({argv + 1, argv + argc});
    } catch (const trapline::Error& error) {
        complain(error.what(), error.hint());
        return error.exit_code();
    } catch (const std::exception& error) {
        complain(error.what(), {});
        return trapline::Error::failed;
    }
}
