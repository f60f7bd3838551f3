// SPDX-License-Identifier: GPL-2.0
// Types as BTF has them, and BTF that is damaged.
#include "types/btf.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

#include "made_btf.h"
#include "recording_fixture.h"
#include "spec/compile.h"
#include "types/declaration.h"
#include "util/error.h"

namespace {

using namespace trapline;
using namespace trapline::test;

TEST(Btf, TypesOfAFunction) {
    const SmallKernel made;
    made.function("vfs_read", made.ssize_t_,
                  {{"file", made.file_pointer}, {"buf", made.buffer}, {"count", made.size_t_}});
    const auto types = made.types();

    const auto id = types->function("vfs_read");
    ASSERT_TRUE(id);
    const Type& function = types->at(*id);
    EXPECT_EQ(function.kind, TypeKind::function);
    EXPECT_FALSE(function.variadic);
    ASSERT_EQ(function.parameters.size(), 3U);
    EXPECT_EQ(function.parameters[0].name, "file");
    EXPECT_EQ(function.parameters[2].name, "count");
    EXPECT_EQ(types->at(function.target).name, "ssize_t");
    EXPECT_EQ(types->at(function.target).kind, TypeKind::alias);

    const Type& result = plain(*types, function.target);
    EXPECT_EQ(result.name, "long int");
    EXPECT_EQ(result.size, 8U);
    EXPECT_TRUE(result.is_signed);
    const Type& file = plain(*types, plain(*types, function.parameters[0].type).target);
    EXPECT_EQ(file.kind, TypeKind::structure);
    EXPECT_EQ(file.name, "file");
    ASSERT_EQ(file.members.size(), 2U);
    EXPECT_EQ(file.members[1].name, "f_pos");
    EXPECT_EQ(file.members[1].bit_offset, 64U);
    EXPECT_EQ(types->at(void_type).kind, TypeKind::none);
    EXPECT_EQ(types->function("vfs_raed"), std::nullopt);
    EXPECT_EQ(types->function("file"), std::nullopt) << "a type is no function";
}

TEST(Btf, FunctionsOfOneNameThatDiffer) {
    const SmallKernel made;
    const int same = made.function("same", made.int_, {{"a", made.int_}});
    btf__add_func(made.get(), "same", BTF_FUNC_STATIC, same);
    made.function("differ", made.int_, {{"a", made.int_}});
    made.function("differ", made.int_, {{"b", made.long_}});
    const auto types = made.types();
    EXPECT_TRUE(types->function("same"));
    EXPECT_EQ(types->function("differ"), std::nullopt);
}

TEST(Btf, EveryKindOfType) {
    const SmallKernel made;
    const int array = btf__add_array(made.get(), made.int_, made.short_, 6);
    const int nested = btf__add_array(made.get(), made.int_, array, 3);
    const int mode = btf__add_enum(made.get(), "mode", 4);
    btf__add_enum_value(made.get(), "OFF", 0);
    btf__add_enum_value(made.get(), "ALL", 0xffffffff);
    const int error = btf__add_enum(made.get(), "error", 4);
    btf__add_enum_value(made.get(), "NONE", 0);
    btf__add_enum_value(made.get(), "BAD", -1);
    const int wide = btf__add_enum64(made.get(), "wide", 8, false);
    btf__add_enum64_value(made.get(), "TOP", std::uint64_t{1} << 63);
    const int bits = btf__add_struct(made.get(), "bits", 4);
    btf__add_field(made.get(), "low", made.unsigned_, 0, 3);
    btf__add_field(made.get(), "high", made.unsigned_, 3, 29);
    const int either = btf__add_union(made.get(), nullptr, 8);
    btf__add_field(made.get(), "a", made.long_, 0, 0);
    const int ahead = btf__add_fwd(made.get(), "later", BTF_FWD_STRUCT);
    const int user = made.pointer(btf__add_type_tag(made.get(), "user", made.char_));
    const auto types = made.types();
    const auto at = [&](int id) -> const Type& { return types->at(static_cast<TypeId>(id)); };
    const auto size = [&](int id) { return size_of(*types, static_cast<TypeId>(id)); };

    EXPECT_EQ(at(array).count, 6U);
    EXPECT_EQ(size(array), 12U);
    EXPECT_EQ(size(nested), 36U);
    EXPECT_FALSE(at(mode).is_signed);
    EXPECT_EQ(at(mode).enumerators[1].value, 0xffffffffU);
    EXPECT_TRUE(at(error).is_signed);
    EXPECT_EQ(at(error).enumerators[1].value, ~std::uint64_t{0});
    EXPECT_EQ(at(wide).enumerators[0].value, std::uint64_t{1} << 63);
    EXPECT_EQ(at(bits).members[1].bit_offset, 3U);
    EXPECT_EQ(at(bits).members[1].bits, 29U);
    EXPECT_EQ(at(either).kind, TypeKind::union_);
    EXPECT_EQ(at(either).name, "");
    EXPECT_EQ(at(ahead).kind, TypeKind::forward);
    EXPECT_EQ(at(made.bool_).kind, TypeKind::boolean);
    EXPECT_EQ(at(made.double_).kind, TypeKind::floating);
    EXPECT_TRUE(is_user(*types, at(user).target));
    EXPECT_FALSE(is_user(*types, at(made.buffer).target));
    EXPECT_TRUE(is_constant(*types, at(made.text).target));
    EXPECT_FALSE(is_constant(*types, at(made.buffer).target));
    EXPECT_TRUE(is_character(*types, at(made.text).target));
    EXPECT_TRUE(is_character(*types, static_cast<TypeId>(made.unsigned_char)));
    EXPECT_FALSE(is_character(*types, static_cast<TypeId>(made.u8))) << "a number by its name";
    EXPECT_EQ(types->find(TypeKind::structure, "file"), static_cast<TypeId>(made.file));
    EXPECT_EQ(types->find(TypeKind::enumeration, "wide"), static_cast<TypeId>(wide));
    EXPECT_EQ(types->find(TypeKind::alias, "size_t"), static_cast<TypeId>(made.size_t_));
    EXPECT_EQ(types->find(TypeKind::union_, "file"), std::nullopt);
}

TEST(Btf, AModulesTypesBuildOnTheKernels) {
    const SmallKernel made;
    made.function("vfs_read", made.ssize_t_, {});
    MadeBtf module(made);
    const int local = module.structure("local", {{"file", made.file_pointer}}, 8);
    module.function("local_open", made.int_, {{"l", module.pointer(local)}});
    const auto kernel = made.types();
    const auto types = module.types(kernel.get());

    const auto id = types->function("local_open");
    ASSERT_TRUE(id);
    const Type& own = plain(*types, plain(*types, types->at(*id).parameters[0].type).target);
    EXPECT_EQ(own.name, "local");
    EXPECT_EQ(plain(*types, plain(*types, own.members[0].type).target).name, "file");
    EXPECT_EQ(types->function("vfs_read"), std::nullopt) << "that is no function of the module";
}

TEST(Btf, WhatIsNoBtfIsRefused) {
    const SmallKernel made;
    std::vector<std::byte> bytes = made.bytes();
    const auto error = [](std::span<const std::byte> data) {
        return error_of([&] { const BtfTypes types(data, nullptr, "FILE"); });
    };
    EXPECT_EQ(error({}).substr(0, 25), "FILE: no BTF, or damaged,");
    EXPECT_EQ(error(std::span(bytes).first(20)).substr(0, 25), "FILE: no BTF, or damaged,");
    EXPECT_EQ(error(std::span(bytes).first(bytes.size() / 2)).substr(0, 25),
              "FILE: no BTF, or damaged,");
    bytes[4] = std::byte{25}; // the header's length
    EXPECT_EQ(error(bytes), "FILE: no BTF, or damaged");
    bytes[0] = std::byte{0};
    EXPECT_EQ(error(bytes).substr(0, 25), "FILE: no BTF, or damaged,");
}

TEST(Btf, TypesThatMakeNoSense) {
    const SmallKernel made;
    const int self = btf__add_typedef(made.get(), "self", btf__type_cnt(made.get()));
    const int nowhere = made.pointer(100000);
    const int outside = btf__add_struct(made.get(), "outside", 4);
    btf__add_field(made.get(), "a", made.int_, 32, 8);
    const int huge =
        btf__add_array(made.get(), made.int_,
                       btf__add_array(made.get(), made.int_, made.long_, 1U << 31), 1U << 31);
    const int not_a_type = btf__add_func(made.get(), "f", BTF_FUNC_STATIC, made.int_);
    const auto types = made.types();
    const auto at = [&](int id) { return static_cast<TypeId>(id); };

    EXPECT_EQ(error_of([&] { plain(*types, at(self)); }),
              "the types are damaged: one consists of itself");
    EXPECT_EQ(error_of([&] { types->at(types->at(at(nowhere)).target); }),
              "made is damaged: type 100000 is referred to, and is not there");
    EXPECT_EQ(error_of([&] { types->at(at(outside)); }).substr(0, 16), "made is damaged:");
    EXPECT_EQ(error_of([&] { size_of(*types, at(huge)); }),
              "the types are damaged: one is larger than memory");
    EXPECT_EQ(error_of([&] { types->at(at(not_a_type)); }).substr(0, 16), "made is damaged:");
    EXPECT_EQ(error_of([&] { types->function("f"); }).substr(0, 16), "made is damaged:");
}

// What isn't needed is not decoded, so it may be anything.
TEST(Btf, ADamagedTypeThatNobodyNeedsHarmsNobody) {
    const SmallKernel made;
    const int outside = btf__add_struct(made.get(), "outside", 4);
    btf__add_field(made.get(), "a", made.int_, 32, 8);
    const int led_to =
        made.structure("led_to", {{"other", made.pointer(outside)}, {"number", made.long_}}, 16);
    made.function("typed", made.int_, {{"all", made.pointer(led_to)}, {"fd", made.int_}});
    made.function("harmed", made.int_, {{"all", outside}});
    const auto types = made.types();
    const std::string damaged =
        "made is damaged: type " + std::to_string(outside) + " has a member outside of itself";
    const auto compiled = [&](const std::string& text) {
        const ProbeSpec spec = parse_probe(text);
        TypedFields fields;
        return compile_probe(spec, 1, 1'000'000'000,
                             KnownTypes{types.get(), types->function(spec.function), {}}, fields);
    };

    const EventLayout layout = compiled("typed").layout;
    ASSERT_EQ(layout.entry_fields.size(), 2U);
    EXPECT_EQ(layout.entry_fields[0].name, "all");
    EXPECT_EQ(layout.entry_fields[1].name, "fd");
    EXPECT_EQ(compiled("typed(all->number, fd)").layout.entry_fields.size(), 3U) << "and faults";
    EXPECT_EQ(declaration(*types, *types->function("typed"), "typed"),
              "int typed(struct led_to *all, int fd)");
    EXPECT_EQ(error_of([&] { compiled("typed(all->other->a)"); }), damaged);
    EXPECT_EQ(error_of([&] { compiled("harmed"); }), damaged);
}

// Any byte may be anything: an error or another type, and nothing worse.
TEST(Btf, DamagedBytes) {
    const SmallKernel made;
    made.function("f", made.ssize_t_, {{"file", made.file_pointer}, {"text", made.text}});
    const std::vector<std::byte> whole = made.bytes();
    std::mt19937 random(1);
    unsigned refused = 0;
    unsigned taken = 0;
    for (std::size_t i = 0; i < 4 * whole.size(); i++) {
        std::vector<std::byte> bytes = whole;
        bytes[i % bytes.size()] = static_cast<std::byte>(random());
        try {
            const BtfTypes types(bytes, nullptr, "damaged");
            for (TypeId id = 0; id <= static_cast<TypeId>(made.file_pointer); id++)
                size_of(types, id);
            types.function("f");
            taken++;
        } catch (const Error&) {
            refused++;
        }
    }
    EXPECT_GT(refused, 0U);
    EXPECT_GT(taken, 0U);
}

class BtfFiles : public testing::Test {
protected:
    void write(const std::string& name, const std::vector<std::byte>& bytes) const {
        std::ofstream(directory_ + "/" + name)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
    }

private:
    const TempDir dir_;

protected:
    const std::string directory_ = dir_.path().string();
};

TEST_F(BtfFiles, ReadWhenNeeded) {
    const SmallKernel made;
    made.function("vfs_read", made.ssize_t_, {});
    MadeBtf module(made);
    module.function("local_open", made.int_, {});
    write("vmlinux", made.bytes());
    write("local", module.bytes());
    write("broken", {std::byte{1}});
    KernelBtf source(directory_);
    std::string why;

    const Types* kernel = source.types_of("", why);
    ASSERT_NE(kernel, nullptr);
    EXPECT_TRUE(kernel->function("vfs_read"));
    const Types* local = source.types_of("local", why);
    ASSERT_NE(local, nullptr);
    EXPECT_TRUE(local->function("local_open"));
    std::filesystem::remove(directory_ + "/local");
    EXPECT_EQ(source.types_of("local", why), local) << "once";
    EXPECT_EQ(source.types_of("other", why), nullptr);
    EXPECT_EQ(why, "the module other has no BTF");
    EXPECT_EQ(source.types_of("broken", why), nullptr);
    EXPECT_EQ(why.substr(0, 40), (directory_ + "/broken: no BTF, or damaged").substr(0, 40));
}

TEST_F(BtfFiles, AKernelWithout) {
    KernelBtf source(directory_);
    std::string why;
    EXPECT_EQ(source.types_of("", why), nullptr);
    EXPECT_EQ(why, "this kernel has no BTF");
    EXPECT_EQ(source.types_of("ext4", why), nullptr);
    EXPECT_EQ(why, "this kernel has no BTF");
}

} // namespace
