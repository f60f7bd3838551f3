// SPDX-License-Identifier: GPL-2.0
// A System.map's place in the running kernel: by which functions, and by how much it was moved.
#include "command/kernel_symbols.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

#include "util/error.h"

namespace {

using namespace trapline;

Kallsyms load(const std::string& text) {
    std::istringstream stream(text);
    return Kallsyms(stream);
}

const std::vector<Anchor> four{{"a", 0x1000}, {"b", 0x2000}, {"c", 0x3000}, {"d", 0x4000}};

std::string refusal(const std::vector<std::uint64_t>& addresses) {
    try {
        return fmt::format("{:#x}", slide_of(four, addresses));
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(SystemMapFile, RefusalsNameTheOption) {
    for (const auto& [path, why] : {std::pair{"/dev/null", "/dev/null holds no symbols"},
                                    std::pair{"/nowhere", "cannot read the kernel's symbols from "
                                                          "/nowhere: No such file or directory"}}) {
        try {
            open_system_map(path);
            FAIL() << path;
        } catch (const Error& error) {
            EXPECT_EQ(error.what(), fmt::format("--system-map: {}", why));
            EXPECT_NE(error.hint().find("/boot/System.map-$(uname -r)"), std::string::npos);
            EXPECT_EQ(error.hint().find("CONFIG_KALLSYMS"), std::string::npos);
        }
    }
}

TEST(Slide, IsTheSameForAll) {
    EXPECT_EQ(refusal({0x501000, 0x502000, 0x503000, 0x504000}), "0x500000");
    EXPECT_EQ(refusal({0x501000, 0, 0x503000, 0x504000}), "0x500000") << "one takes no trap";
    EXPECT_EQ(refusal({0x1000, 0x2000, 0x3000, 0x4000}), "0x0");
    EXPECT_EQ(refusal({0x501000, 0x502000, 0x503010, 0x504010}),
              "from a to c it is 0x2000, and in the kernel that runs 0x2010");
    EXPECT_EQ(refusal({0, 0x502000, 0x503000, 0}),
              "too few functions were found whose addresses could be compared");
}

TEST(Anchors, AreGlobalFunctionsOfTheirNamesAloneAndFarApart) {
    std::string map = "ffffffff81000000 T _stext\n";
    std::string hidden = "0000000000000000 T _stext\n";
    for (unsigned i = 1; i <= 160; i++) {
        map += fmt::format("{:016x} T f{}\n", 0xffffffff81000000 + 16 * i, i);
        hidden += fmt::format("{:016x} T f{}\n", 0, i);
    }
    for (const char* rest : {"ffffffff81001000 t local\n", "ffffffff81001010 T twice\n",
                             "ffffffff81001020 T twice\n", "ffffffff81001030 T in_a_module\n",
                             "ffffffff81002000 T _etext\n", "ffffffff81003000 T init\n"})
        map += rest;
    hidden += "0000000000000000 T in_a_module\n0000000000000000 T init\n"
              "0000000000000000 t in_a_module\t[mod]\n";
    const auto anchors =
        choose_anchors(load(map), load(hidden), [](std::string_view name) { return name == "f6"; });
    ASSERT_EQ(anchors.size(), 16U);
    EXPECT_EQ(anchors.front().name, "f5");
    EXPECT_EQ(anchors.front().address, 0xffffffff81000050U);
    for (std::size_t i = 0; i < anchors.size(); i++) {
        EXPECT_EQ(anchors[i].name[0], 'f') << anchors[i].name;
        const std::uint64_t before = i > 0 ? anchors[i - 1].address : 0;
        EXPECT_GE(anchors[i].address - before, 9 * 16U);
    }
}

} // namespace
