// SPDX-License-Identifier: GPL-2.0
// `trapline compile`: makes a file of probes for a kernel that has no debug information.
#include "command/compile_probes.h"

#include <boost/program_options.hpp>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "command/run_options.h"
#include "command/type_options.h"
#include "spec/probe_set.h"
#include "util/command_line.h"
#include "util/error.h"
#include "util/escape.h"

namespace trapline {

namespace po = boost::program_options;

namespace {

constexpr const char* see_help = "see: trapline compile --help";

po::options_description shown_options() {
    po::options_description options("Options", 100, 60);
    auto add = options.add_options();
    add("output,o", po::value<std::string>()->value_name("FILE"), "write them to FILE");
    add_type_options(options);
    add("help,h", "show this");
    return options;
}

std::string help_text() {
    std::ostringstream out;
    out << "Usage: trapline compile --vmlinux FILE|--btf FILE -o SET PROBE...\n"
           "\n"
           "Looks up all that PROBEs need of types and source lines, and writes it to SET: for\n"
           "trapline trace @SET, and record, on a machine that has neither. The types are those "
           "of\n"
           "that machine's kernel. Nothing is traced here.\n"
           "\n"
        << probe_help(ProbeForms::compiled) << "\n"
        << shown_options();
    return out.str();
}

void write_text(const std::string& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    if (!file)
        throw errno_error("cannot write " + path, errno);
    file << text << std::flush;
    if (!file)
        throw errno_error("cannot write " + path, errno);
}

// Whole, or not at all; a device, a pipe or what a link leads to is written as it is.
void write_file(const std::string& path, const std::string& text) {
    std::error_code error;
    const auto status = std::filesystem::symlink_status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        return write_text(path, text);
    const std::string made = fmt::format("{}.{}.new", path, getpid());
    try {
        write_text(made, text);
        std::filesystem::rename(made, path);
    } catch (const std::filesystem::filesystem_error& failed) {
        std::filesystem::remove(made, error);
        throw errno_error("cannot write " + path, failed.code().value());
    } catch (const Error&) {
        std::filesystem::remove(made, error);
        throw;
    }
}

} // namespace

int compile_command(const std::vector<std::string>& arguments) {
    const po::variables_map given =
        parse_command_line(arguments, shown_options(), "probe", see_help);
    if (given.count("help") != 0) {
        std::fputs(help_text().c_str(), stdout);
        return 0;
    }
    const TypeFiles files = type_files(given, see_help);
    if (files.empty())
        throw UsageError("compile needs the types of the kernel that is to be traced",
                         "name a file that has them: --vmlinux FILE, or --btf FILE");
    if (given.count("output") == 0 || given["output"].as<std::string>().empty())
        throw UsageError("compile needs a file to write to: -o SET", see_help);
    if (given.count("probe") == 0)
        throw UsageError("which function? no PROBE is given",
                         "for example: trapline compile -o set.tlp --vmlinux vmlinux vfs_read");
    const std::string path = given["output"].as<std::string>();
    const auto& probes = given["probe"].as<std::vector<std::string>>();
    if (probes.size() > TRAPLINE_PROBES_MAX)
        throw UsageError(
            fmt::format("too many probes: a session has at most {}", TRAPLINE_PROBES_MAX));

    const CompiledSet compiled = compile_set(probes, *open_types(files, ""));
    for (const std::string& note : compiled.notes)
        std::fputs(fmt::format("trapline: {}\n", without_controls(note)).c_str(), stderr);
    write_file(path, set_text(compiled.set));
    const KernelBuild& build = compiled.set.builds.front();
    std::fputs(fmt::format("trapline: {} in {}, for the kernel {} (build id {})\n",
                           probes.size() == 1 ? "1 probe" : fmt::format("{} probes", probes.size()),
                           path, build.release.empty() ? "(unknown)" : build.release,
                           build.id.empty() ? "unknown" : build.id)
                   .c_str(),
               stderr);
    return 0;
}

} // namespace trapline
