// SPDX-License-Identifier: GPL-2.0
// Where arguments and results are, by AAPCS64 (arm64) and by riscv's LP64.
#include <gtest/gtest.h>

#include "made_btf.h"
#include "types/abi.h"

namespace {

using namespace trapline;
using namespace trapline::test;

using Place = std::pair<unsigned, unsigned>; // first word, words
using Places = std::vector<Place>;

class RiscAbi : public testing::Test {
protected:
    CallPlaces places(Abi abi, int result, const std::vector<int>& parameters) {
        const int id = btf__add_func_proto(made.get(), result);
        for (const int parameter : parameters)
            btf__add_func_param(made.get(), "p", parameter);
        types_ = made.types();
        return call_places(*types_, types_->at(static_cast<TypeId>(id)), abi);
    }

    Places arguments(Abi abi, const std::vector<int>& parameters) {
        Places all;
        for (const ArgumentPlace& place : places(abi, 0, parameters).arguments)
            all.emplace_back(place.first, place.words);
        return all;
    }

    int doubles(const char* name, unsigned count) {
        const int id = btf__add_struct(made.get(), name, count * 8);
        for (unsigned i = 0; i < count; i++)
            btf__add_field(made.get(), "d", made.double_, i * 64, 0);
        return id;
    }

    SmallKernel made;
    int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    int three =
        made.structure("three", {{"a", made.long_}, {"b", made.long_}, {"c", made.long_}}, 24);
    int mixed = made.structure("mixed", {{"a", made.long_}, {"b", made.double_}}, 16);
    int none = made.structure("none", {}, 0);
    int wide = btf__add_int(made.get(), "__int128", 16, BTF_INT_SIGNED);

private:
    std::unique_ptr<BtfTypes> types_;
};

TEST_F(RiscAbi, EightRegistersThenTheStack) {
    for (const Abi abi : {Abi::aarch64, Abi::riscv64}) {
        const Places found = arguments(abi, std::vector<int>(10, made.int_));
        for (unsigned n = 0; n < 10; n++)
            EXPECT_EQ(found.at(n), (Place{n, 1}));
    }
}

TEST_F(RiscAbi, StructuresOfMoreThanTwoWordsGoByTheirAddress) {
    for (const Abi abi : {Abi::aarch64, Abi::riscv64}) {
        EXPECT_EQ(arguments(abi, {two, made.int_}), (Places{{0, 2}, {2, 1}}));
        EXPECT_EQ(arguments(abi, {three, made.int_}), (Places{{0, 0}, {1, 1}}));
        EXPECT_EQ(arguments(abi, {none, made.int_}), (Places{{0, 0}, {0, 1}}));
        EXPECT_EQ(arguments(abi, {mixed, made.int_}), (Places{{0, 2}, {2, 1}}));
    }
}

TEST_F(RiscAbi, FloatingPointHasRegistersOfItsOwnOnArm64Only) {
    EXPECT_EQ(arguments(Abi::aarch64, {made.double_, made.int_}), (Places{{0, 0}, {0, 1}}));
    EXPECT_EQ(arguments(Abi::riscv64, {made.double_, made.int_}), (Places{{0, 1}, {1, 1}}));
    EXPECT_EQ(places(Abi::aarch64, made.double_, {}).words, 0U);
    EXPECT_EQ(places(Abi::riscv64, made.double_, {}).words, 1U);
    // Up to four of one kind.
    EXPECT_EQ(arguments(Abi::aarch64, {doubles("d2", 2), made.int_}), (Places{{0, 0}, {0, 1}}));
    EXPECT_EQ(arguments(Abi::aarch64, {doubles("d4", 4), made.int_}), (Places{{0, 0}, {0, 1}}));
    EXPECT_EQ(arguments(Abi::aarch64, {doubles("d5", 5), made.int_}), (Places{{0, 0}, {1, 1}}));
    EXPECT_EQ(arguments(Abi::riscv64, {doubles("r2", 2), made.int_}), (Places{{0, 2}, {2, 1}}));
}

TEST_F(RiscAbi, WhereRegistersEndArm64LeavesTheLastOneAndRiscvCuts) {
    std::vector<int> parameters(7, made.long_);
    parameters.insert(parameters.end(), {two, made.int_});
    Places found = arguments(Abi::aarch64, parameters);
    EXPECT_EQ(found.at(7), (Place{8, 2}));
    EXPECT_EQ(found.at(8), (Place{10, 1})) << "what follows isn't put before it";
    found = arguments(Abi::riscv64, parameters);
    EXPECT_EQ(found.at(7), (Place{7, 2}));
    EXPECT_EQ(found.at(8), (Place{9, 1}));
}

TEST_F(RiscAbi, IntegersOfTwoWords) {
    EXPECT_EQ(arguments(Abi::aarch64, {made.int_, wide, made.int_}),
              (Places{{0, 1}, {2, 2}, {4, 1}}));
    EXPECT_EQ(arguments(Abi::riscv64, {made.int_, wide, made.int_}),
              (Places{{0, 1}, {1, 2}, {3, 1}}));
    std::vector<int> parameters(9, made.int_);
    parameters.push_back(wide);
    for (const Abi abi : {Abi::aarch64, Abi::riscv64})
        EXPECT_EQ(arguments(abi, parameters).at(9), (Place{10, 2})) << "aligned on the stack";
}

TEST_F(RiscAbi, Results) {
    for (const Abi abi : {Abi::aarch64, Abi::riscv64}) {
        EXPECT_EQ(places(abi, 0, {}).words, 0U);
        EXPECT_EQ(places(abi, made.int_, {}).words, 1U);
        EXPECT_EQ(places(abi, two, {}).words, 2U);
        const CallPlaces in_memory = places(abi, three, {made.int_});
        EXPECT_EQ(in_memory.words, 0U);
        EXPECT_FALSE(in_memory.result_in_memory) << "nothing says where, at the return";
        // x8 says it at the entry, a0 on riscv.
        EXPECT_EQ(in_memory.arguments[0].first, abi == Abi::aarch64 ? 0U : 1U);
    }
}

} // namespace
