// SPDX-License-Identifier: GPL-2.0
// Probes at places that the source names: FILE:LINE, FUNC:LINE, FUNC@FILE.
#include "spec/resolve.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "types/source_lines.h"
#include "util/error.h"

namespace {

using namespace trapline;

// Loaded 0x1000000 above where the file has it. There are two of twice(), and only here of once().
constexpr const char* kernel = "ffffffff82000000 T _stext\n"
                               "ffffffff82000100 t once\n"
                               "ffffffff82000200 t twice\n"
                               "ffffffff82000300 t twice\n"
                               "ffffffff82000400 t after\n";
constexpr std::uint64_t in_file = 0xffffffff81000000;

class MadeLines : public SourceLines {
public:
    std::vector<SourcePlace> all{{"once", in_file + 0x100, 0, "fs/a.c", 10},
                                 {"twice", in_file + 0x200, 0, "fs/a.c", 30},
                                 {"twice", in_file + 0x300, 0, "net/b.c", 40},
                                 {"after", in_file + 0x400, 0, "", 0},
                                 {"gone", in_file + 0x900, 0, "fs/a.c", 90}};
    // Of which line the code is, and where.
    std::vector<SourcePlace> code{{"once", in_file + 0x100, 0, "fs/a.c", 10},
                                  {"once", in_file + 0x100, 0x1c, "fs/a.c", 12},
                                  {"twice", in_file + 0x300, 0x8, "net/b.c", 42},
                                  {"once", in_file + 0x100, 0x20, "include/c.h", 5},
                                  {"twice", in_file + 0x200, 0x24, "include/c.h", 5}};

    std::vector<SourcePlace> functions(std::string_view name) const override {
        std::vector<SourcePlace> found;
        for (const SourcePlace& one : all)
            if (one.function == name)
                found.push_back(one);
        return found;
    }
    std::vector<SourcePlace> places(std::string_view file, unsigned line) const override {
        std::vector<SourcePlace> found;
        for (const SourcePlace& one : code)
            if (is_file(one.file, file) && one.line == line)
                found.push_back(one);
        return found;
    }
    std::vector<SourcePlace> places(const SourcePlace& function, unsigned line) const override {
        std::vector<SourcePlace> found = places(function.file, line);
        std::erase_if(found,
                      [&](const SourcePlace& one) { return one.address != function.address; });
        return found;
    }
    std::optional<Inlined> inlined(std::string_view name) const override {
        if (name == "nowhere_of_its_own")
            return Inlined{"fs/a.c", 70, {"once", "after"}};
        return name == "unused" ? std::optional(Inlined{}) : std::nullopt;
    }
    std::vector<std::string> clones(std::string_view name) const override {
        return name == "cloned" ? std::vector<std::string>{"cloned.isra.0"}
                                : std::vector<std::string>();
    }
    Near near(std::string_view file, unsigned) const override {
        return is_file("fs/a.c", file) ? Near{10, 12} : Near{};
    }
    Near near(const SourcePlace&, unsigned) const override { return {10, 12}; }
    // The last has declarations alone.
    bool has_file(std::string_view file) const override {
        return is_file("fs/a.c", file) || is_file("include/d.h", file);
    }
    std::vector<SourceAnchor> anchors(std::uint64_t) const override {
        return {{"unknown", in_file}, {"_stext", in_file}};
    }
};

class MadeSource : public TypeSource {
public:
    const Types* types_of(const std::string&, std::string& why_none) override {
        why_none = "none here";
        return nullptr;
    }
    const SourceLines* lines_of(const std::string&, std::string&) override { return &lines; }
    std::vector<std::string> modules_with_lines() const override { return {""}; }

    MadeLines lines;
};

class SourcePlaces : public testing::Test {
protected:
    ResolvedProbe resolved(const char* probe, const char* symbols = kernel, bool known = true) {
        std::istringstream kallsyms(symbols);
        std::istringstream none;
        spec = parse_probe(probe);
        return resolve(spec, Kallsyms(kallsyms), Blacklist(none), known ? &source : nullptr);
    }

    std::string refusal(const char* probe, const char* symbols = kernel, bool known = true) {
        try {
            resolved(probe, symbols, known);
        } catch (const Error& error) {
            hint = error.hint();
            return error.what();
        }
        return "none";
    }

    MadeSource source;
    ProbeSpec spec;
    std::string hint;
};

TEST(SourceNames, Precedence) {
    const auto parsed = [](const char* text) {
        const ProbeSpec spec = parse_probe(text);
        return std::string(spec.module) + "|" + spec.function + "|" + spec.file + "|" +
               (spec.line ? std::to_string(*spec.line) : "");
    };
    EXPECT_EQ(parsed("fs/open.c:12"), "||fs/open.c|12");
    EXPECT_EQ(parsed("open.c:12"), "||open.c|12");
    EXPECT_EQ(parsed("./fs:12"), "||./fs|12") << "a '/' is enough";
    EXPECT_EQ(parsed("/usr/src/open.c:12"), "||/usr/src/open.c|12");
    EXPECT_EQ(parsed("vfs_read:12"), "|vfs_read||12");
    EXPECT_EQ(parsed("vfs_read:0"), "|vfs_read||0");
    EXPECT_EQ(parsed("ext4:ext4_sync_file"), "ext4|ext4_sync_file||") << "no number: a module";
    EXPECT_EQ(parsed("ext4:ext4_sync_file:3"), "ext4|ext4_sync_file||3");
    EXPECT_EQ(parsed("vfs_read@read_write.c"), "|vfs_read|read_write.c|");
    EXPECT_EQ(parsed("ext4:f@fs/ext4/a-b.c"), "ext4|f|fs/ext4/a-b.c|");
    EXPECT_EQ(parsed("f.isra.0:12"), "||f.isra.0|12") << "a '.' makes it a file";
    EXPECT_EQ(parsed("f.isra.0"), "|f.isra.0||");
    EXPECT_EQ(parsed("m:f.isra.0:12"), "m|f.isra.0||12") << "no file has a module";
    EXPECT_EQ(parsed("kprobe:m:open.c:12"), "m|open.c||12");
    EXPECT_EQ(parsed("kprobe:fs/open.c:12"), "||fs/open.c|12");
    EXPECT_EQ(parsed("vfs_read@fs/a.c(count) if count > 3"), "|vfs_read|fs/a.c|");
    EXPECT_EQ(parsed("fs/a.c:7 if pid == 1"), "||fs/a.c|7");
    EXPECT_EQ(parse_probe("fs/a.c:7").kind, TRAPLINE_ENTRY);
    EXPECT_EQ(parse_probe("f@fs/a.c").kind, TRAPLINE_CALL);
    EXPECT_EQ(parse_probe("f@fs/a.c+0x10").offset, 0x10U);
    EXPECT_EQ(event_name(parse_probe("fs/a.c:7")), "fs/a.c:7");
    EXPECT_EQ(event_name(parse_probe("vfs_read:7")), "vfs_read:7");
    EXPECT_EQ(event_name(parse_probe("m:f@fs/a.c+0x10")), "m:f@fs/a.c+0x10");
}

TEST(SourceNames, Refused) {
    for (const char* text : {"fs/a.c:0", "kretprobe:fs/a.c:7", "kretprobe:f:7", "f@", "f:7+4",
                             "f:99999999999", "f:7x", "f@a.c:7", ":7", "m:fs/a.c:7"})
        EXPECT_THROW(parse_probe(text), UsageError) << text;
    EXPECT_THROW(parse_probe("f:7", TRAPLINE_RETURN), UsageError);
}

TEST_F(SourcePlaces, FileLine) {
    const ResolvedProbe probe = resolved("fs/a.c:12");
    EXPECT_EQ(probe.symbol, "once");
    EXPECT_EQ(probe.offset, 0x1cU);
    EXPECT_EQ(probe.address, 0xffffffff8200011cU);
    EXPECT_EQ(resolved("a.c:10").address, 0xffffffff82000100U);
    const ResolvedProbe second = resolved("net/b.c:42");
    EXPECT_EQ(second.address, 0xffffffff82000308U) << "the second of that name";
    EXPECT_FALSE(second.only);
}

TEST_F(SourcePlaces, FunctionLine) {
    EXPECT_EQ(resolved("once:2").address, 0xffffffff8200011cU);
    EXPECT_EQ(resolved("once:0").offset, 0U);
    EXPECT_EQ(refusal("twice:2"), "probe 'twice:2': 2 functions have this place:\n"
                                  "    twice  fs/a.c:30\n"
                                  "    twice  net/b.c:40");
    EXPECT_EQ(hint, "choose one: FILE:LINE, with the line counted in the file");
}

TEST_F(SourcePlaces, FunctionOfAFile) {
    const ResolvedProbe probe = resolved("twice@net/b.c");
    EXPECT_EQ(probe.address, 0xffffffff82000300U);
    EXPECT_EQ(probe.file_address, in_file + 0x300);
    EXPECT_FALSE(probe.only);
    EXPECT_EQ(resolved("twice@a.c+0x4").address, 0xffffffff82000204U);
    EXPECT_EQ(refusal("twice@c.c"), "probe 'twice@c.c': c.c defines no function twice");
    EXPECT_EQ(hint, "it is in fs/a.c:30, net/b.c:40");
    EXPECT_EQ(refusal("twice@.c"), "probe 'twice@.c': .c defines no function twice");
}

// The kernel that runs has two of them, neither where the file has this one.
TEST_F(SourcePlaces, SeveralOfWhichNoneIsTheFiles) {
    const char* moved = "ffffffff82000000 T _stext\n"
                        "ffffffff82000220 t twice\n"
                        "ffffffff82000320 t twice\n";
    EXPECT_EQ(refusal("twice@net/b.c", moved),
              "probe 'twice@net/b.c': which of 2 functions named twice it is can't be told");
    EXPECT_EQ(hint, "choose one: twice#1 for the first by address, and so on");
}

TEST_F(SourcePlaces, WhatIsNotThere) {
    EXPECT_EQ(refusal("fs/a.c:11"), "probe 'fs/a.c:11': line 11 of fs/a.c has no code");
    EXPECT_EQ(hint, "the nearest that have: 10 and 12");
    EXPECT_EQ(refusal("once:1"), "probe 'once:1': line 1 of once, fs/a.c:11, has no code");
    EXPECT_EQ(hint, "the nearest that have: 2");
    EXPECT_EQ(refusal("include/c.h:5"), "probe 'include/c.h:5': 2 functions have this place:\n"
                                        "    once+0x20  include/c.h:5\n"
                                        "    twice+0x24  include/c.h:5");
    EXPECT_EQ(hint, "choose one: FUNC+OFFSET, as it stands there");
    EXPECT_EQ(refusal("gone@fs/a.c"),
              "probe 'gone@fs/a.c': gone at fs/a.c:90 is not in the running kernel");
    EXPECT_EQ(refusal("nowhere:3"), "probe 'nowhere:3': there is no function nowhere of its own");
    EXPECT_EQ(refusal("fs/b.c:7"),
              "probe 'fs/b.c:7': no file fs/b.c was compiled into what --vmlinux names");
    EXPECT_EQ(hint, "its path is as in the kernel's source, or the end of it: fs/open.c, open.c");
    EXPECT_EQ(refusal("d.h:7"), "probe 'd.h:7': line 7 of d.h has no code");
    EXPECT_EQ(hint, "it was inlined elsewhere or optimised away");
    EXPECT_EQ(resolved("after:0").address, 0xffffffff82000400U);
    EXPECT_EQ(refusal("after:3"), "probe 'after:3': where after was written isn't known");
    EXPECT_EQ(hint, "probe an instruction of it: FUNC+OFFSET");
}

TEST_F(SourcePlaces, WhatWasInlinedEverywhere) {
    for (const std::string probe :
         {"nowhere_of_its_own", "nowhere_of_its_own:3", "nowhere_of_its_own@fs/a.c"}) {
        EXPECT_EQ(refusal(probe.c_str()),
                  "probe '" + probe +
                      "': nowhere_of_its_own (fs/a.c:70) is inlined wherever it is called: there "
                      "is no code of its own to be trapped");
        EXPECT_EQ(hint, "probe what it was inlined into: once, after; or a line of it: "
                        "fs/a.c:LINE, from 70 on");
    }
    EXPECT_EQ(refusal("unused"), "probe 'unused': unused is inlined wherever it is called: there "
                                 "is no code of its own to be trapped");
    EXPECT_EQ(hint, "probe a line of it: FILE:LINE");
    EXPECT_EQ(refusal("nowhere"), "probe 'nowhere': there is no function nowhere in this kernel");
    EXPECT_EQ(refusal("nowhere_of_its_own", kernel, false),
              "probe 'nowhere_of_its_own': there is no function nowhere_of_its_own in this kernel");
}

TEST_F(SourcePlaces, WhatTheCompilerMadeClonesOf) {
    EXPECT_EQ(refusal("cloned:3"), "probe 'cloned:3': there is no function cloned of its own: the "
                                   "compiler made cloned.isra.0 of it");
    EXPECT_EQ(hint, "name that, or a line of it: cloned.isra.0, FILE:LINE");
}

TEST_F(SourcePlaces, WithoutDwarf) {
    for (const char* probe : {"fs/a.c:12", "once:2", "twice@fs/a.c"}) {
        EXPECT_EQ(refusal(probe, kernel, false),
                  std::string("probe '") + probe +
                      "': files and lines of the source are known from DWARF alone");
        EXPECT_EQ(hint, "name a vmlinux that has it: --vmlinux FILE");
    }
}

TEST_F(SourcePlaces, WhereAddressesAreHidden) {
    const char* hidden = "0000000000000000 T _stext\n"
                         "0000000000000000 t once\n"
                         "0000000000000000 t twice\n"
                         "0000000000000000 t twice\n";
    EXPECT_EQ(resolved("once:2", hidden).offset, 0x1cU);
    EXPECT_NE(refusal("twice@fs/a.c", hidden).find("hides the addresses"), std::string::npos);
}

TEST_F(SourcePlaces, FunctionsOfOneNameAreToldApartByTheirFiles) {
    EXPECT_EQ(refusal("twice"), "probe 'twice': 2 functions have this name:\n"
                                "    twice#1  0xffffffff82000200  kernel  fs/a.c:30\n"
                                "    twice#2  0xffffffff82000300  kernel  net/b.c:40");
    EXPECT_EQ(hint, "choose one: twice@FILE; or twice#1 for the first by address, and so on");
    EXPECT_EQ(resolved("twice#2").file_address, in_file + 0x300);
    EXPECT_EQ(refusal("twice", kernel, false), "probe 'twice': 2 functions have this name:\n"
                                               "    twice#1  0xffffffff82000200  kernel\n"
                                               "    twice#2  0xffffffff82000300  kernel");
}

TEST(SourceFiles, WholeNamesFromTheEnd) {
    EXPECT_TRUE(is_file("fs/open.c", "fs/open.c"));
    EXPECT_TRUE(is_file("/usr/src/fs/open.c", "fs/open.c"));
    EXPECT_TRUE(is_file("fs/open.c", "open.c"));
    EXPECT_TRUE(is_file("fs/open.c", "./open.c"));
    EXPECT_TRUE(is_file("/usr/src/open.c", "/usr/src/open.c"));
    EXPECT_FALSE(is_file("fs/open.c", "pen.c"));
    EXPECT_FALSE(is_file("fs/open.c", "ufs/open.c"));
    EXPECT_FALSE(is_file("fs/open.c", ""));
}

} // namespace
