// SPDX-License-Identifier: GPL-2.0
// From PROBEs to requests: whose types are known, and what is said of those that aren't.
#include "command/probe_plan.h"

#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "made_btf.h"

namespace {

using namespace trapline;
using namespace trapline::test;

constexpr const char* symbols = "ffffffff81000000 T _stext\n"
                                "ffffffff81000100 t typed\n"
                                "ffffffff81000200 t assembler\n"
                                "ffffffff81000300 t twice\n"
                                "ffffffff81000400 t twice\n"
                                "ffffffff81000500 t clone.isra.0\n"
                                "ffffffff81000600 t damaged\n"
                                "ffffffffa0000000 t in_module\t[mod]\n"
                                "ffffffffa0000100 t typed\t[other]\n";

class MadeSource : public TypeSource {
public:
    const Types* types_of(const std::string& module, std::string& why_none) override {
        asked++;
        const auto found = types.find(module);
        why_none = "there are none here";
        return found == types.end() ? nullptr : found->second.get();
    }

    std::map<std::string, std::unique_ptr<BtfTypes>> types;
    unsigned asked = 0;
};

class ProbePlanning : public testing::Test {
protected:
    ProbePlanning() {
        made.function("typed", made.int_, {{"fd", made.int_}});
        made.function("twice", made.int_, {{"fd", made.int_}});
        made.function("damaged", made.int_,
                      {{
                           "fd",
                           made.pointer(1),
                       },
                       {"x", 100000}});
        source.types[""] = made.types();
        MadeBtf module(made);
        module.function("in_module", made.int_, {{"own", made.text}});
        source.types["mod"] = module.types(source.types[""].get());
    }

    ProbePlan plan(std::initializer_list<const char*> texts) {
        std::vector<ProbeSpec> specs;
        for (const char* text : texts)
            specs.push_back(parse_probe(text));
        std::istringstream kallsyms(symbols);
        std::istringstream blacklist;
        return plan_probes(specs, {}, false, 1'000'000'000, Kallsyms(kallsyms),
                           Blacklist(blacklist), source);
    }

    SmallKernel made;
    MadeSource source;
};

std::string first_field(const ProbePlan& plan, std::size_t at = 0) {
    return plan.layouts[at].entry_fields[0].name;
}

using Notes = std::vector<std::string>;

TEST_F(ProbePlanning, TypesOfTheKernelAndOfAModule) {
    const ProbePlan made_plan = plan({"kernel:typed", "in_module"});
    EXPECT_EQ(first_field(made_plan, 0), "fd");
    EXPECT_EQ(first_field(made_plan, 1), "own");
    EXPECT_TRUE(made_plan.notes.empty());
}

TEST_F(ProbePlanning, WhatIsNotKnownIsSaidOnceForEachReason) {
    const ProbePlan made_plan =
        plan({"assembler", "clone.isra.0", "kprobe:assembler", "twice#2", "other:typed"});
    for (std::size_t i = 0; i < made_plan.layouts.size(); i++) {
        EXPECT_EQ(first_field(made_plan, i), "arg0");
        EXPECT_FALSE(made_plan.layouts[i].named);
    }
    EXPECT_EQ(made_plan.notes,
              (Notes{"assembly, or changed by the compiler: no types, arguments are raw, of "
                     "assembler, clone.isra.0",
                     "several functions have one name: no types, arguments are raw, of twice",
                     "there are none here: no types, arguments are raw, of typed"}));
}

// Casts find the kernel's types where a module has none, and where the function isn't known.
TEST_F(ProbePlanning, AListOfWhatHasNoTypesOfItsOwn) {
    const ProbePlan made_plan = plan({"other:typed(((struct file *)$arg1)->f_pos, $pid)",
                                      "assembler(((struct file *)%rdi)->f_pos)",
                                      "kernel:typed+4(((struct file *)%rax)->f_pos)"});
    EXPECT_EQ(first_field(made_plan, 0), "((struct file *)$arg1)->f_pos");
    EXPECT_EQ(made_plan.layouts[0].entry_fields[1].name, "$pid");
    EXPECT_EQ(first_field(made_plan, 1), "((struct file *)%rdi)->f_pos");
    EXPECT_EQ(first_field(made_plan, 2), "((struct file *)%rax)->f_pos");
    EXPECT_TRUE(made_plan.layouts[2].named);
    EXPECT_EQ(made_plan.notes.size(), 2U);
}

TEST_F(ProbePlanning, WhereConditionsAreTested) {
    const ProbePlan made_plan =
        plan({"kernel:typed(fd)", "kernel:typed if fd > 3", "kernel:typed if $retval == fd",
              "in_module if own == \"a\""});
    EXPECT_FALSE(made_plan.tested[0].at_entry || made_plan.tested[0].at_return);
    EXPECT_TRUE(made_plan.tested[1].at_entry && !made_plan.tested[1].at_return);
    EXPECT_TRUE(!made_plan.tested[2].at_entry && made_plan.tested[2].at_return);
    EXPECT_TRUE(made_plan.tested[3].at_entry);
    EXPECT_EQ(made_plan.requests[0].entry_program.size(), 3U) << "load, store, accept";
}

TEST_F(ProbePlanning, DamagedTypesAreNoReasonNotToTrace) {
    const ProbePlan made_plan = plan({"damaged"});
    EXPECT_EQ(first_field(made_plan), "arg0");
    EXPECT_EQ(made_plan.notes, Notes{"made is damaged: type 100000 is referred to, and is not "
                                     "there: no types, arguments are raw, of damaged"});
}

TEST_F(ProbePlanning, AnInstructionNeedsNoTypes) {
    const ProbePlan made_plan = plan({"kernel:typed+4"});
    EXPECT_EQ(first_field(made_plan), "di");
    EXPECT_EQ(source.asked, 0U);
    EXPECT_TRUE(made_plan.notes.empty());
}

} // namespace
