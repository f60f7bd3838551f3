// SPDX-License-Identifier: GPL-2.0
// Types and lines as DWARF has them, of objects that the tests' own compiler made.
#ifdef TRAPLINE_LIBDW

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "recording_fixture.h"
#include "spec/compile.h"
#include "spec/probe_set.h"
#include "types/btf_files.h"
#include "types/declaration.h"
#include "types/dwarf_files.h"
#include "types/source_lines.h"
#include "util/error.h"

namespace {

using namespace trapline;
using namespace trapline::test;

constexpr const char* program = TYPES_PROGRAM; // linked, as a vmlinux is
constexpr const char* object = TYPES_OBJECT;   // one.c alone, to be laid out, as a .ko is
constexpr const char* old_object = TYPES_OLD;  // the same in DWARF 3

// The functions that one.c has, as C declares them.
constexpr std::array<std::pair<const char*, const char*>, 5> declared{{
    {"read_it",
     "ssize read_it(struct outer *outer, const char *name, u32 count, enum shade shade)"},
    {"twice", "int twice(int a)"},
    {"format", "void format(const char *text, ...)"},
    {"follow", "_Bool follow(struct later *later, double part, union {...} *many)"},
    {"main", "int main(void)"},
}};

class Dwarf : public testing::TestWithParam<const char*> {
protected:
    Dwarf() : source(open_types({.btf = {}, .vmlinux = {GetParam()}}, "")) {
        types = source->types_of("", why);
        lines = source->lines_of("", why);
    }

    const Type& named(TypeKind kind, const char* name) {
        const auto id = types->find(kind, name, types->function("read_it").value());
        EXPECT_TRUE(id) << name;
        return types->at(id.value_or(void_type));
    }

    std::string why;
    std::unique_ptr<FileTypes> source;
    const Types* types = nullptr;
    const SourceLines* lines = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Files, Dwarf, testing::Values(program, object, old_object));

TEST_P(Dwarf, Functions) {
    for (const auto& [name, text] : declared) {
        if (GetParam() == program && std::string_view(name) == "twice")
            continue;
        const auto id = types->function(name);
        ASSERT_TRUE(id) << name;
        EXPECT_EQ(declaration(*types, *id, name), text);
    }
    EXPECT_EQ(types->function("doubled"), std::nullopt) << "inlined everywhere";
    EXPECT_EQ(types->function("reed_it"), std::nullopt);
    EXPECT_EQ(types->function("sink"), std::nullopt) << "a variable";
}

TEST_P(Dwarf, Structures) {
    const Type& outer = named(TypeKind::structure, "outer");
    EXPECT_EQ(outer.kind, TypeKind::structure);
    EXPECT_EQ(outer.size, 96U);
    ASSERT_EQ(outer.members.size(), 11U);
    const std::array<std::pair<const char*, std::uint64_t>, 11> members{{{"at", 0},
                                                                         {"", 64},
                                                                         {"low", 128},
                                                                         {"high", 131},
                                                                         {"name", 160},
                                                                         {"grid", 288},
                                                                         {"call", 512},
                                                                         {"text", 576},
                                                                         {"next", 640},
                                                                         {"flag", 704},
                                                                         {"large", 736}}};
    for (std::size_t i = 0; i < members.size(); i++) {
        EXPECT_EQ(outer.members[i].name, members[i].first);
        EXPECT_EQ(outer.members[i].bit_offset, members[i].second) << members[i].first;
        EXPECT_EQ(outer.members[i].bits, i == 2 ? 3U : i == 3 ? 29U : 0U);
    }
    const auto text = [&](std::size_t i) {
        return declaration(*types, outer.members[i].type, outer.members[i].name);
    };
    EXPECT_EQ(text(0), "struct point at");
    EXPECT_EQ(text(2), "unsigned int low");
    EXPECT_EQ(text(4), "char name[16]");
    EXPECT_EQ(text(5), "int grid[2][3]");
    EXPECT_EQ(size_of(*types, outer.members[5].type), 24U);
    EXPECT_EQ(text(6), "int (*call)(struct point *, ...)");
    EXPECT_EQ(text(7), "const char *const text");
    EXPECT_EQ(text(9), "_Bool flag");
    EXPECT_EQ(plain(*types, outer.members[9].type).kind, TypeKind::boolean);
    EXPECT_EQ(plain(*types, outer.members[1].type).kind, TypeKind::union_);
    const Type& later = types->at(plain(*types, outer.members[8].type).target);
    EXPECT_EQ(later.kind, TypeKind::forward);
    EXPECT_EQ(later.name, "later");
}

TEST_P(Dwarf, Enumerations) {
    const Type& shade = named(TypeKind::enumeration, "shade");
    EXPECT_TRUE(shade.is_signed);
    EXPECT_EQ(shade.size, 4U);
    ASSERT_EQ(shade.enumerators.size(), 3U);
    EXPECT_EQ(shade.enumerators[1].name, "LIGHT");
    EXPECT_EQ(shade.enumerators[1].value, 7U);
    EXPECT_EQ(shade.enumerators[2].value, static_cast<std::uint64_t>(-3));
    const Type& large = named(TypeKind::enumeration, "large");
    EXPECT_FALSE(large.is_signed);
    ASSERT_EQ(large.enumerators.size(), 1U);
    EXPECT_EQ(large.enumerators[0].value, 0x80000000U);
}

TEST_P(Dwarf, Numbers) {
    const Type& function = types->at(types->function("read_it").value());
    EXPECT_EQ(types->at(function.target).kind, TypeKind::alias);
    EXPECT_EQ(plain(*types, function.target).name, "long int");
    EXPECT_TRUE(plain(*types, function.target).is_signed);
    const Type& count = plain(*types, function.parameters[2].type);
    EXPECT_EQ(count.kind, TypeKind::integer);
    EXPECT_EQ(count.size, 4U);
    EXPECT_FALSE(count.is_signed);
    const Type& name = types->at(function.parameters[1].type);
    EXPECT_TRUE(is_constant(*types, name.target));
    EXPECT_TRUE(is_character(*types, name.target));
    const Type& follow = types->at(types->function("follow").value());
    EXPECT_EQ(plain(*types, follow.parameters[1].type).kind, TypeKind::floating);
    EXPECT_EQ(types->at(void_type).kind, TypeKind::none);
}

TEST_P(Dwarf, LinesOfAFile) {
    const auto found = lines->places("fixture/first.c", 109);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].function, "read_it");
    EXPECT_EQ(found[0].file, "drivers/fixture/first.c");
    EXPECT_GT(found[0].offset, 0U);
    EXPECT_EQ(lines->places("first.c", 109).size(), 1U);
    EXPECT_TRUE(lines->places("irst.c", 109).empty()) << "no whole name";
    EXPECT_TRUE(lines->places("other/first.c", 109).empty());

    EXPECT_TRUE(lines->places("first.c", 111).empty()) << "a comment";
    EXPECT_EQ(lines->near("first.c", 111).before, 109U);
    EXPECT_EQ(lines->near("first.c", 111).after, 112U);
    EXPECT_EQ(lines->near("first.c", 9999).after, 0U);
    EXPECT_TRUE(lines->has_file("first.c"));
    EXPECT_FALSE(lines->has_file("third.c"));

    // Of an inline function each that it went into.
    const auto inlined = lines->places("first.c", 102);
    ASSERT_EQ(inlined.size(), 2U);
    EXPECT_TRUE(std::any_of(inlined.begin(), inlined.end(),
                            [](const SourcePlace& one) { return one.function == "read_it"; }));
    EXPECT_TRUE(std::any_of(inlined.begin(), inlined.end(),
                            [](const SourcePlace& one) { return one.function == "main"; }));
}

TEST_P(Dwarf, LinesOfAFunction) {
    const auto all = lines->functions("read_it");
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].line, 106U);
    EXPECT_EQ(all[0].offset, 0U);
    const auto beginning = lines->places(all[0], 107);
    ASSERT_EQ(beginning.size(), 1U);
    EXPECT_EQ(beginning[0].offset, 0U);
    const auto second = lines->places(all[0], 109);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0].offset, lines->places("first.c", 109).front().offset);
    EXPECT_TRUE(lines->places(all[0], 118).empty()) << "of another function";
    EXPECT_EQ(lines->near(all[0], 111).after, 112U);
}

TEST_P(Dwarf, Anchors) {
    const SourcePlace function = lines->functions("read_it").at(0);
    bool found = false;
    for (const SourceAnchor& anchor : lines->anchors(function.address)) {
        found = found || (anchor.symbol == "read_it" && anchor.address == function.address);
        if (GetParam() == program) {
            EXPECT_NE(anchor.symbol, "twice") << "there are two";
        }
    }
    EXPECT_TRUE(found || GetParam() != object);
}

TEST(DwarfFiles, FunctionsOfOneName) {
    std::string why;
    const auto source = open_types({.btf = {}, .vmlinux = {program}}, "");
    const Types& types = *source->types_of("", why);
    EXPECT_EQ(types.function("twice"), std::nullopt);
    const auto all = source->lines_of("", why)->functions("twice");
    ASSERT_EQ(all.size(), 2U);
    for (const SourcePlace& one : all) {
        const bool first = one.file == "drivers/fixture/first.c";
        EXPECT_EQ(one.line, first ? 116U : 200U);
        const auto id = types.function_at(one.address);
        ASSERT_TRUE(id);
        EXPECT_EQ(declaration(types, *id, "twice"),
                  first ? "int twice(int a)" : "long int twice(long int b, struct later *later)");
    }
    EXPECT_EQ(types.function_at(all[0].address + 1), std::nullopt);
}

TEST(DwarfFiles, AFunctionOfWhichThereIsACloneAlone) {
    std::string why;
    const auto source = open_types({.btf = {}, .vmlinux = {program}}, "");
    const SourceLines& lines = *source->lines_of("", why);
    EXPECT_EQ(lines.clones("cloned"), std::vector<std::string>{"cloned.isra.0"});
    EXPECT_TRUE(lines.clones("clone").empty());
    EXPECT_TRUE(lines.functions("cloned").empty());
    EXPECT_FALSE(lines.inlined("cloned"));
    const CompiledSet compiled = compile_set({"cloned if $arg1 > 3"}, *source);
    ASSERT_FALSE(compiled.notes.empty());
    EXPECT_EQ(compiled.notes.front(),
              "cloned if $arg1 > 3: the compiler made cloned.isra.0 of it, traced instead: "
              "parameters may be others");
    EXPECT_THROW(compile_set({"cloned(a)"}, *source), Error) << "its parameters aren't known";
    EXPECT_THROW(compile_set({"cloned+4"}, *source), Error) << "which one is meant isn't said";
    try {
        compile_set({"doubled"}, *source);
        FAIL() << "inlined everywhere";
    } catch (const Error& error) {
        EXPECT_EQ(
            std::string(error.what()),
            "probe 'doubled': doubled (drivers/fixture/first.c:100) is inlined wherever it is "
            "called: there is no code of its own to be trapped");
    }
}

TEST(DwarfFiles, WhatIsDeclaredIsFoundElsewhere) {
    std::string why;
    const auto source = open_types({.btf = {}, .vmlinux = {program}}, "");
    const Types& types = *source->types_of("", why);
    const auto whole = types.find(TypeKind::structure, "later", types.function("follow").value());
    ASSERT_TRUE(whole);
    EXPECT_EQ(types.at(*whole).members.at(1).name, "inside");
    EXPECT_EQ(types.find(TypeKind::structure, "latest", void_type), std::nullopt);
}

#ifdef TYPES_BTF
// A PROBE's fields and programs.
std::string compiled(const Types& types, const ProbeSpec& spec) {
    TypedFields fields;
    const KnownTypes known{&types, types.function(spec.function), {}};
    const CompiledProbe probe = compile_probe(spec, 1, 1'000'000'000, known, fields);
    std::string out;
    for (const auto* list : {&probe.layout.entry_fields, &probe.layout.return_fields})
        for (const Field& field : *list) {
            out += field.name + ':' + std::to_string(static_cast<int>(field.form)) + ':' +
                   std::to_string(field.size) + ' ';
            if (field.enumeration)
                for (const EnumValue& value : field.enumeration->values)
                    out += value.name + '=' + std::to_string(value.value) + ' ';
        }
    for (const auto* insns : {&probe.entry, &probe.ret})
        out.append(reinterpret_cast<const char*>(insns->data()), insns->size() * sizeof(tl_insn));
    return out;
}

TEST(DwarfFiles, TheSameProbesAsOfBtf) {
    std::string why;
    const auto dwarf = open_types({.btf = {}, .vmlinux = {object}}, "");
    const auto btf = open_types({.btf = {TYPES_BTF}, .vmlinux = {}}, "");
    // Without enums: gcc's BTF doesn't tell their signs.
    for (const char* text :
         {"twice", "format", "follow", "main", "kretprobe:read_it",
          "read_it(outer->at, outer->low, outer->high, outer->name, outer->small, outer->flag)",
          "read_it(((struct point *)$arg1)->y, (u32)$arg3, *name) if outer->high < 3",
          "read_it(name) = $retval if $retval < 0 && count > 3"}) {
        const ProbeSpec spec = parse_probe(text);
        const std::string of_dwarf = compiled(*dwarf->types_of("", why), spec);
        EXPECT_GT(of_dwarf.size(), sizeof(tl_insn)) << text;
        EXPECT_EQ(compiled(*btf->types_of("", why), spec), of_dwarf) << text;
    }
}

// What one.c says, by the compiler's BTF and by its DWARF.
TEST(DwarfFiles, TheSameAsBtf) {
    std::string why;
    const auto dwarf = open_types({.btf = {}, .vmlinux = {object}}, "");
    const auto btf = open_types({.btf = {TYPES_BTF}, .vmlinux = {}}, "");
    const Types& of_dwarf = *dwarf->types_of("", why);
    const Types& of_btf = *btf->types_of("", why);
    for (const auto& [name, text] : declared) {
        const auto a = of_btf.function(name);
        const auto b = of_dwarf.function(name);
        ASSERT_TRUE(a && b) << name;
        EXPECT_EQ(declaration(of_btf, *a, name), declaration(of_dwarf, *b, name));
    }
    const Type& a = of_btf.at(of_btf.find(TypeKind::structure, "outer", void_type).value());
    const Type& b = of_dwarf.at(of_dwarf.find(TypeKind::structure, "outer", void_type).value());
    ASSERT_EQ(a.members.size(), b.members.size());
    EXPECT_EQ(a.size, b.size);
    for (std::size_t i = 0; i < a.members.size(); i++) {
        EXPECT_EQ(a.members[i].name, b.members[i].name);
        EXPECT_EQ(a.members[i].bit_offset, b.members[i].bit_offset) << a.members[i].name;
        EXPECT_EQ(a.members[i].bits, b.members[i].bits) << a.members[i].name;
        if (a.members[i].name == "grid")
            continue; // gcc's BTF has the dimensions the wrong way round
        EXPECT_EQ(declaration(of_btf, a.members[i].type, "m"),
                  declaration(of_dwarf, b.members[i].type, "m"));
    }
}
#endif

TEST(DwarfFiles, Refused) {
    const TempDir made;
    const std::string text = made.path().string() + "/text";
    std::ofstream(text) << "no ELF file at all\n";
    const auto refusal = [](const std::string& path) {
        try {
            open_types({.btf = {}, .vmlinux = {path}}, "");
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("none");
    };
    EXPECT_NE(refusal(text).find(text + ": no ELF file, or damaged"), std::string::npos)
        << refusal(text);
    EXPECT_NE(refusal(made.path().string() + "/missing").find("No such file"), std::string::npos);
    EXPECT_EQ(refusal(TYPES_NAKED), std::string(TYPES_NAKED) + ": there is no DWARF in it");
    EXPECT_THROW(open_types({.btf = {}, .vmlinux = {program, program}}, ""), Error);
}

TEST_P(Dwarf, AFunctionThatWasInlinedEverywhere) {
    const auto doubled = lines->inlined("doubled");
    ASSERT_TRUE(doubled);
    EXPECT_EQ(doubled->file, "drivers/fixture/first.c");
    EXPECT_EQ(doubled->line, 100U);
    std::vector<std::string> into = doubled->into;
    std::sort(into.begin(), into.end());
    EXPECT_EQ(into, (std::vector<std::string>{"main", "read_it"}));
    EXPECT_FALSE(lines->inlined("read_it"));
    EXPECT_FALSE(lines->inlined("twice"));
    EXPECT_FALSE(lines->inlined("nowhere"));
}

} // namespace

#endif
