// SPDX-License-Identifier: GPL-2.0
// Compiled probes: what they hold is what types and lines said.
#include "spec/probe_set.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "made_btf.h"
#include "made_elf.h"
#include "recording_fixture.h"
#include "spec/compile.h"
#include "spec/function_types.h"
#include "spec/source_finder.h"
#include "util/error.h"

namespace {

using namespace trapline;
using namespace trapline::test;

class MadeFiles : public FileTypes {
public:
    explicit MadeFiles(const SmallKernel& made) : types(made.types()) {}

    const Types* types_of(const std::string& module, std::string& why_none) override {
        why_none = "none here";
        return module.empty() ? types.get() : nullptr;
    }
    std::vector<KernelBuild> builds() const override { return {{"", "6.1.0-made", "0123abcd"}}; }

    std::unique_ptr<BtfTypes> types;
};

// Of which the compiler made another function.
class ClonedLines : public SourceLines {
public:
    std::vector<SourcePlace> functions(std::string_view name) const override {
        if (name != "thin.constprop.0")
            return {};
        return {{"thin.constprop.0", 0xffffffff81000100, 0, "a.c", 10}};
    }
    std::vector<std::string> clones(std::string_view name) const override {
        return name == "thin" ? std::vector<std::string>{"thin.constprop.0"}
                              : std::vector<std::string>();
    }
    std::vector<SourcePlace> places(std::string_view, unsigned) const override { return {}; }
    std::vector<SourcePlace> places(const SourcePlace&, unsigned) const override { return {}; }
    Near near(std::string_view, unsigned) const override { return {}; }
    Near near(const SourcePlace&, unsigned) const override { return {}; }
    bool has_file(std::string_view) const override { return true; }
    std::vector<SourceAnchor> anchors(std::uint64_t) const override { return {}; }
};

class ClonedFiles : public MadeFiles {
public:
    using MadeFiles::MadeFiles;

    const SourceLines* lines_of(const std::string&, std::string&) override { return &lines; }
    std::vector<std::string> modules_with_lines() const override { return {""}; }

    ClonedLines lines;
};

class ProbeSets : public testing::Test {
protected:
    ProbeSets() {
        const int mode = btf__add_enum(made.get(), "mode", 4);
        btf__add_enum_value(made.get(), "OFF", 0);
        btf__add_enum_value(made.get(), "ALL", 0xffffffff);
        made.function("opened", made.int_,
                      {{"file", made.file_pointer}, {"name", made.text}, {"mode", mode}});
        made.function("other", made.int_, {{"number", made.short_}});
    }

    // What a kernel without types makes of a PROBE.
    static CompiledProbe compiled(TypeSource& source, const char* text) {
        const ProbeSpec spec = parse_probe(text);
        TypedFields fields;
        KnownTypes known = function_types(source, "", spec.function, true, std::nullopt);
        if (spec.offset != 0)
            known.function = std::nullopt;
        return compile_probe(spec, 7, 2'000'000'000, known, fields);
    }

    std::string refusal(const std::string& text) {
        try {
            parse_set(text, "set.tlp");
        } catch (const Error& error) {
            EXPECT_NE(error.hint(), "");
            return error.what();
        }
        return "none";
    }

    SmallKernel made;
};

TEST_F(ProbeSets, AreWhatTypesWouldHaveMade) {
    for (const char* probe :
         {"opened", "opened(file->f_pos, name) if mode == ALL && $duration > 3us",
          "opened(((struct file *)$arg1)->f_mode)", "kprobe:opened", "kretprobe:opened",
          "opened+0x5(%rdi) if %rsi != 0", "other if number < 3 && $retval < 0"}) {
        MadeFiles files(made);
        const CompiledSet made_set = compile_set({probe}, files);
        const ProbeSet set = parse_set(set_text(made_set.set), "set.tlp");
        ASSERT_EQ(set.probes, std::vector<std::string>{probe});
        ASSERT_EQ(set.builds.size(), 1U);
        EXPECT_EQ(set.builds[0].release, "6.1.0-made");
        EXPECT_EQ(set.builds[0].id, "0123abcd");

        SavedSource saved(set.images);
        const CompiledProbe here = compiled(files, probe);
        const CompiledProbe there = compiled(saved, probe);
        const auto same = [](const std::vector<tl_insn>& a, const std::vector<tl_insn>& b) {
            return a.size() == b.size() &&
                   std::memcmp(a.data(), b.data(), a.size() * sizeof(tl_insn)) == 0;
        };
        EXPECT_TRUE(same(here.entry, there.entry)) << probe;
        EXPECT_TRUE(same(here.ret, there.ret)) << probe;
        const auto fields = [](const EventLayout& layout) {
            std::string out;
            for (const auto* list : {&layout.entry_fields, &layout.return_fields})
                for (const Field& field : *list) {
                    out += field.name + ":" + std::to_string(static_cast<int>(field.form)) + ":" +
                           std::to_string(field.size);
                    for (const auto& value :
                         field.enumeration ? field.enumeration->values : std::vector<EnumValue>())
                        out += "=" + value.name + std::to_string(value.value);
                    out += ' ';
                }
            return out;
        };
        EXPECT_EQ(fields(here.layout), fields(there.layout)) << probe;
        EXPECT_EQ(here.layout.named, there.layout.named);
    }
}

TEST_F(ProbeSets, HoldNoMoreThanIsNeeded) {
    MadeFiles files(made);
    const std::string text = set_text(compile_set({"other"}, files).set);
    EXPECT_NE(text.find("short int"), std::string::npos);
    EXPECT_EQ(text.find("f_pos"), std::string::npos);
}

TEST_F(ProbeSets, RefusedWhereTheyAreCompiled) {
    MadeFiles files(made);
    const std::pair<const char*, const char*> unknown_here[] = {
        {"open*", "probe 'open*': a pattern can't be compiled"},
        {"0xffffffff81000000", "probe '0xffffffff81000000': an address can't be compiled"}};
    for (const auto& [probe, why] : unknown_here) {
        try {
            compile_set({probe}, files);
            FAIL() << probe;
        } catch (const UsageError& error) {
            EXPECT_EQ(std::string(error.what()), why);
            EXPECT_EQ(error.hint(),
                      "only the kernel that runs knows which functions that is: name them");
        }
    }
    EXPECT_THROW(compile_set({"opened(nothing)"}, files), UsageError);
    EXPECT_THROW(compile_set({"opened("}, files), UsageError);
    EXPECT_THROW(compile_set({"fs/open.c:12"}, files), Error);
    const auto note_of = [&](const char* probe) {
        const CompiledSet untyped = compile_set({probe}, files);
        return untyped.notes.size() == 1 ? untyped.notes[0] : std::string("no note");
    };
    const std::string unknown = "these types have no function of this name: its arguments are raw, "
                                "and whether there is one is found out where it is traced";
    EXPECT_EQ(note_of("assembly"), "assembly: " + unknown);
    EXPECT_EQ(note_of("openned"), "openned: did you mean opened? " + unknown);
    // Of a module whose types aren't known raw arguments can be had; but not of one that it isn't
    // in.
    EXPECT_EQ(note_of("elsewhere:assembly"), "none here: no types, arguments are raw, of assembly");
    // Which isn't in a module that has one of that name too.
    EXPECT_EQ(note_of("elsewhere:opened"),
              "elsewhere:opened: of elsewhere there are no types of it; without 'elsewhere:' it is "
              "the kernel's own function: its arguments are raw, and whether there is one is found "
              "out where it is traced");
    for (const char* kind : {"kprobes", "kproeb", "kprobee"}) {
        try {
            compile_set({std::string(kind) + ":opened"}, files);
            FAIL() << kind;
        } catch (const Error& error) {
            EXPECT_EQ(error.hint(), "did you mean kprobe:opened?");
        }
    }
    EXPECT_EQ(note_of("openned+4"), "openned+4: did you mean opened? " + unknown);
    try {
        compile_set({"openned(name)"}, files);
        FAIL() << "it has no parameters";
    } catch (const Error& error) {
        EXPECT_NE(error.hint().find("did you mean opened?"), std::string::npos) << error.hint();
    }
    EXPECT_EQ(note_of("kernel:opened"), "no note");
}

TEST_F(ProbeSets, PlacesInClonesAreOfTheCloneAlone) {
    ClonedFiles files(made);
    EXPECT_EQ(compile_set({"thin"}, files).notes.front(),
              "thin: the compiler made thin.constprop.0 of it, traced instead: parameters may be "
              "others");
    for (const std::string probe : {"thin+4", "thin#1", "thin:1", "thin@a.c"}) {
        try {
            compile_set({probe}, files);
            FAIL() << probe;
        } catch (const Error& error) {
            EXPECT_EQ(error.what(), "probe '" + probe +
                                        "': there is no function thin of its own: the compiler "
                                        "made thin.constprop.0 of it");
            EXPECT_EQ(error.hint(), "name that, or a line of it: thin.constprop.0, FILE:LINE");
        }
    }
}

TEST_F(ProbeSets, DamageIsSeen) {
    MadeFiles files(made);
    const std::string text = set_text(compile_set({"opened"}, files).set);
    EXPECT_EQ(refusal(text), "none");
    EXPECT_EQ(refusal(""), "set.tlp: no compiled probes");
    EXPECT_EQ(refusal("#!/bin/sh\n"), "set.tlp: no compiled probes");
    EXPECT_EQ(refusal(text.substr(0, text.size() - 5)), "set.tlp: damaged");
    std::string changed = text;
    changed.replace(changed.find("f_mode") == std::string::npos ? changed.find("mode")
                                                                : changed.find("f_mode"),
                    1, "X");
    EXPECT_EQ(refusal(changed), "set.tlp: damaged: its sum is wrong");
    std::string later = text;
    later.replace(later.find("\"format\":1"), 10, "\"format\":2");
    EXPECT_EQ(refusal(later), "set.tlp: compiled by a version of trapline that does it otherwise "
                              "(format 2, not 1)");
    // Any byte: no crash, and never taken for whole.
    for (std::size_t at = 0; at < text.size(); at += 7) {
        std::string broken = text;
        broken[at] = static_cast<char>(broken[at] ^ 0x15);
        EXPECT_NE(refusal(broken), "none") << at;
    }
}

// With a sum that is right, as of somebody who means harm.
TEST_F(ProbeSets, WrongContentsAreRefused) {
    ProbeSet set;
    set.probes = {"f"};
    set.builds = {{"", "6.1", "00"}};
    Type& outer = set.images[""].types.types[1];
    outer.kind = TypeKind::structure;
    outer.size = 4;
    outer.members.push_back({"far", 2, 64, 8});
    EXPECT_EQ(refusal(set_text(set)), "set.tlp: damaged: a member is outside of its structure");
    outer.members.clear();
    EXPECT_EQ(refusal(set_text(set)), "none");
    set.images[""].types.functions["f"] = 1;
    EXPECT_EQ(refusal(set_text(set)), "set.tlp: damaged: f is no function");
    set.images[""].types.functions["f"] = 77;
    EXPECT_NE(refusal(set_text(set)).find("have no type 77"), std::string::npos);
    set.images[""].types.functions.clear();
    outer.name = "a\x1b[31m";
    EXPECT_EQ(refusal(set_text(set)), "set.tlp: damaged: a name is wrong");
    outer.name.clear();
    set.builds.clear();
    EXPECT_EQ(refusal(set_text(set)), "set.tlp: damaged: it says of no kernel");
    set.builds = {{"", "6.1", "00"}};
    set.probes.clear();
    EXPECT_EQ(refusal(set_text(set)), "set.tlp: damaged: there is no probe in it");
}

TEST_F(ProbeSets, OfAnotherKernelAreRefused) {
    const TempDir sys;
    std::filesystem::create_directories(sys.path() / "kernel");
    std::ofstream(sys / "kernel/notes", std::ios::binary)
        << build_id_note(std::string("\x01\x23\xab\xcd", 4));
    ProbeSet set;
    set.builds = {{"", "6.1.0-made", "0123abcd"}};
    EXPECT_NO_THROW(check_set(set, "set.tlp", sys.path().string()));
    set.builds[0].id = "0123abce";
    try {
        check_set(set, "set.tlp", sys.path().string());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what())
                      .find("set.tlp was compiled for another kernel: 6.1.0-made (build id "
                            "0123abce), and this is "),
                  0U);
        EXPECT_NE(error.hint().find("--force"), std::string::npos);
    }
    set.builds[0].id.clear();
    EXPECT_THROW(check_set(set, "set.tlp", sys.path().string()), Error);
    set.builds = {{"", "6.1.0-made", "0123abcd"}, {"mod", "6.1.0-made", "77"}};
    EXPECT_NO_THROW(check_set(set, "set.tlp", sys.path().string())) << "it isn't loaded";
    std::filesystem::create_directories(sys.path() / "module/mod/notes");
    std::ofstream(sys / "module/mod/notes/.note.gnu.build-id", std::ios::binary)
        << build_id_note("abcd");
    EXPECT_THROW(check_set(set, "set.tlp", sys.path().string()), Error);
    EXPECT_THROW(check_set(set, "set.tlp", sys / "nowhere"), Error);
}

} // namespace
