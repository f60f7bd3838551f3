// SPDX-License-Identifier: GPL-2.0
// The command line: where types come from, and compiled probes.
#include <fstream>
#include <gtest/gtest.h>

#include "command/compile_probes.h"
#include "command/list.h"
#include "command/record_options.h"
#include "command/trace_options.h"
#include "recording_fixture.h"
#include "util/error.h"

namespace {

using namespace trapline;
using namespace trapline::test;

std::string refusal(const std::vector<std::string>& arguments) {
    try {
        parse_trace_options(arguments);
    } catch (const Error& error) {
        return error.what();
    }
    return "none";
}

TEST(TypeOptions, FilesOfOneKind) {
    const RunOptions none = parse_trace_options({"f"}).run;
    EXPECT_TRUE(none.types.empty());
    EXPECT_EQ(none.set, nullptr);
    const RunOptions dwarf =
        parse_trace_options({"--vmlinux", "a", "--vmlinux=b", "f", "--", "x", "--btf"}).run;
    EXPECT_EQ(dwarf.types.vmlinux, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(parse_record_options({"--btf", "a", "f"}).run.types.btf,
              std::vector<std::string>{"a"});
    EXPECT_EQ(refusal({"--vmlinux", "a", "--btf", "b", "f"}),
              "--btf and --vmlinux exclude each other: types come from one of them");
    EXPECT_EQ(parse_list_options({"--args", "--btf", "a"}).types.btf,
              std::vector<std::string>{"a"});
    EXPECT_THROW(parse_list_options({"--btf", "a"}), UsageError);
}

TEST(TypeOptions, CompiledProbes) {
    const TempDir made;
    ProbeSet set;
    set.probes = {"one", "kprobe:two+0x4"};
    set.builds = {{"", "6.1", "00"}};
    const std::string path = made / "set.tlp";
    std::ofstream(path) << set_text(set);

    const RunOptions options = parse_trace_options({"@" + path, "--force"}).run;
    ASSERT_EQ(options.probes.size(), 2U);
    EXPECT_EQ(options.probes[0].function, "one");
    EXPECT_EQ(options.probes[1].offset, 4U);
    ASSERT_NE(options.set, nullptr);
    EXPECT_EQ(options.set->path, path);
    EXPECT_TRUE(options.force);
    EXPECT_EQ(parse_trace_options({"--entry", "@" + path}).run.probes[0].kind, TRAPLINE_ENTRY);

    EXPECT_EQ(refusal({"@" + path, "three"}),
              "@" + path + " stands alone: no other PROBE can be besides it");
    EXPECT_EQ(refusal({"three", "@" + path}),
              "@" + path + " stands alone: no other PROBE can be besides it");
    EXPECT_EQ(refusal({"@" + path, "--btf", "a"}),
              "@" + path + " has types of its own: no --btf or --vmlinux can be besides it");
    EXPECT_EQ(refusal({"--force", "one"}), "--force is for compiled probes: @SET");
    EXPECT_EQ(refusal({"@" + (made / "none")}),
              "cannot open " + (made / "none") + ": No such file or directory");
}

// "why | hint"
std::string compile_refusal(const std::vector<std::string>& arguments) {
    try {
        compile_command(arguments);
    } catch (const UsageError& error) {
        return std::string(error.what()) + " | " + error.hint();
    }
    return "none";
}

TEST(TypeOptions, OfCompile) {
    EXPECT_EQ(compile_refusal({"-o", "set.tlp", "f"}),
              "compile needs the types of the kernel that is to be traced | name a file that has "
              "them: --vmlinux FILE, or --btf FILE");
    EXPECT_EQ(compile_refusal({"--btf", "a", "f"}),
              "compile needs a file to write to: -o SET | see: trapline compile --help");
    EXPECT_EQ(compile_refusal({"--btf", "a", "-o", "", "f"}),
              "compile needs a file to write to: -o SET | see: trapline compile --help");
    EXPECT_EQ(compile_refusal({"--btf", "a", "-o", "set.tlp"}).substr(0, 36),
              "which function? no PROBE is given | ");
    std::vector<std::string> many(65534, "f");
    many.insert(many.begin(), {"--btf", "a", "-o", "set.tlp"});
    EXPECT_EQ(compile_refusal(many), "too many probes: a session has at most 65533 | ");
}

TEST(TypeOptions, TooManyProbes) {
    std::vector<std::string> twice(32766, "f"); // their entries, and their calls
    twice.emplace_back("--begin");
    std::vector<std::string> with_triggers = twice;
    with_triggers.insert(with_triggers.end(), {"--until", "g", "--until", "h"});
    twice.emplace_back("g");
    EXPECT_EQ(refusal(twice), "too many probes: a session has at most 65533");
    EXPECT_EQ(error_of([&] { parse_record_options(with_triggers); }),
              "too many probes: a session has at most 65533");
    with_triggers.resize(with_triggers.size() - 2);
    EXPECT_EQ(parse_record_options(with_triggers).triggers.size(), 1U);
}

} // namespace
