// SPDX-License-Identifier: GPL-2.0
// The command line: where types come from, and compiled probes.
#include <fstream>
#include <gtest/gtest.h>

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

} // namespace
