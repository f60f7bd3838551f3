// SPDX-License-Identifier: GPL-2.0
// Where arguments and results are, by the x86-64 ABI's rules.
#include "types/abi.h"

#include <gtest/gtest.h>

#include "made_btf.h"

namespace {

using namespace trapline;
using namespace trapline::test;

using Place = std::pair<unsigned, unsigned>; // first word, words

class Abi : public testing::Test {
protected:
    CallPlaces places(int result, std::initializer_list<MadeBtf::Named> parameters) {
        const int id = made.function("f", result, parameters);
        types_ = made.types();
        return call_places(*types_, types_->at(static_cast<TypeId>(id)));
    }

    std::vector<Place> arguments(std::initializer_list<MadeBtf::Named> parameters) {
        std::vector<Place> all;
        for (const ArgumentPlace& place : places(0, parameters).arguments)
            all.emplace_back(place.first, place.words);
        return all;
    }

    SmallKernel made;

private:
    std::unique_ptr<BtfTypes> types_;
};

using Places = std::vector<Place>;

TEST_F(Abi, RegistersThenTheStack) {
    EXPECT_EQ(arguments({{"a", made.int_},
                         {"b", made.bool_},
                         {"c", made.text},
                         {"d", made.size_t_},
                         {"e", made.long_},
                         {"f", made.u8},
                         {"g", made.int_},
                         {"h", made.long_}}),
              (Places{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}}));
}

TEST_F(Abi, FloatingPointTakesNoneOfThem) {
    EXPECT_EQ(arguments({{"a", made.double_}, {"b", made.int_}}), (Places{{0, 0}, {0, 1}}));
    const CallPlaces returned = places(made.double_, {});
    EXPECT_EQ(returned.words, 0U);
    EXPECT_FALSE(returned.result_in_memory);
}

TEST_F(Abi, StructuresOfTwoWordsAndMore) {
    const int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    const int three =
        made.structure("three", {{"a", made.long_}, {"b", made.long_}, {"c", made.long_}}, 24);
    const int mixed = made.structure("mixed", {{"a", made.long_}, {"b", made.double_}}, 16);
    const int none = made.structure("none", {}, 0);
    const int packed = btf__add_struct(made.get(), "packed", 9);
    btf__add_field(made.get(), "a", made.char_, 0, 0);
    btf__add_field(made.get(), "b", made.long_, 8, 0);

    EXPECT_EQ(arguments({{"a", two}, {"b", three}, {"c", made.int_}}),
              (Places{{0, 2}, {6, 3}, {2, 1}}));
    EXPECT_EQ(arguments({{"a", mixed}, {"b", made.int_}}), (Places{{0, 0}, {1, 1}}));
    EXPECT_EQ(arguments({{"a", none}, {"b", made.int_}}), (Places{{0, 0}, {0, 1}}));
    EXPECT_EQ(arguments({{"a", packed}, {"b", made.int_}}), (Places{{6, 2}, {0, 1}}));
    // What doesn't fit into the registers that are left goes by the stack whole, and what
    // follows may still fit.
    EXPECT_EQ(arguments({{"a", two}, {"b", two}, {"c", made.int_}, {"d", two}, {"e", made.int_}}),
              (Places{{0, 2}, {2, 2}, {4, 1}, {6, 2}, {5, 1}}));
}

TEST_F(Abi, Results) {
    const int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    const int three =
        made.structure("three", {{"a", made.long_}, {"b", made.long_}, {"c", made.long_}}, 24);
    EXPECT_EQ(places(0, {}).words, 0U);
    EXPECT_EQ(places(made.int_, {}).words, 1U);
    EXPECT_EQ(places(two, {}).words, 2U);
    const CallPlaces in_memory = places(three, {{"a", made.int_}});
    EXPECT_TRUE(in_memory.result_in_memory);
    EXPECT_EQ(in_memory.arguments[0].first, 1U) << "behind the result's place";
}

TEST_F(Abi, AnArrayInAStructure) {
    const int array = btf__add_array(made.get(), made.int_, made.int_, 4);
    const int holder = made.structure("holder", {{"a", array}}, 16);
    EXPECT_EQ(arguments({{"a", holder}, {"b", made.int_}}), (Places{{0, 2}, {2, 1}}));
}

} // namespace
