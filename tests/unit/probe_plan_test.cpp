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
                                "ffffffff81000540 t clone.part.1\n"
                                "ffffffff81000560 t clone.cold\n"
                                "ffffffff81000580 t based\n"
                                "ffffffff810005c0 t based.constprop.0\n"
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
        made.function("based", made.int_, {{"fd", made.int_}});
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
        return plan_probes(specs, {}, false, names, 1'000'000'000, Kallsyms(kallsyms),
                           Blacklist(blacklist), source);
    }

    SmallKernel made;
    Names names = Names::distinct;
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

TEST_F(ProbePlanning, WhatIsLeftOutIsSaid) {
    const int big =
        made.structure("big", {{"a", made.long_}, {"b", made.long_}, {"c", made.long_}}, 24);
    made.function("assembler", made.double_, {{"n", made.int_}, {"all", big}, {"r", made.double_}});
    source.types[""] = made.types();
    const ProbePlan made_plan = plan({"assembler"});
    EXPECT_EQ(made_plan.layouts[0].entry_fields.size(), 1U);
    const auto said = [](const std::string& what) {
        return what + " of assembler isn't shown: it is a structure in memory, or in no register "
                      "that is saved";
    };
    EXPECT_EQ(made_plan.notes, (Notes{said("all"), said("r"), said("the result")}));
}

TEST_F(ProbePlanning, TooManyProbes) {
    constexpr std::size_t most = TRAPLINE_PROBES_MAX / 4; // t* are four
    std::vector<ProbeSpec> specs(most, parse_probe("t*"));
    std::istringstream kallsyms(symbols);
    std::istringstream blacklist;
    const Kallsyms known(kallsyms);
    const Blacklist none(blacklist);
    const auto planned = [&] {
        return plan_probes(specs, {}, false, names, 1'000'000'000, known, none, source)
            .requests.size();
    };
    EXPECT_EQ(planned(), 4 * most);
    specs.push_back(parse_probe("t*"));
    try {
        planned();
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "too many probes: a session has at most 65533");
        EXPECT_EQ(error.hint(), "ask for fewer functions");
        EXPECT_EQ(error.exit_code(), Error::usage);
    }
}

TEST_F(ProbePlanning, AnInstructionNeedsNoTypes) {
    const ProbePlan made_plan = plan({"kernel:typed+4"});
    EXPECT_EQ(first_field(made_plan), "di");
    EXPECT_EQ(source.asked, 0U);
    EXPECT_TRUE(made_plan.notes.empty());
}

// What a plan asks for, by event, and the events' names.
Notes names_of(const ProbePlan& plan) {
    Notes all;
    for (const EventLayout& layout : plan.layouts)
        all.push_back(layout.name);
    return all;
}

TEST_F(ProbePlanning, ClonesOfAFunctionThatIsNotThereAreTraced) {
    const ProbePlan made_plan = plan({"clone if $arg1 > 3"});
    EXPECT_EQ(names_of(made_plan), (Notes{"clone.isra.0", "clone.part.1"}));
    EXPECT_EQ(made_plan.requests[1].symbol, "clone.part.1");
    ASSERT_EQ(made_plan.notes.size(), 2U);
    EXPECT_EQ(made_plan.notes[0], "clone if $arg1 > 3: the compiler made clone.isra.0, "
                                  "clone.part.1 of it, traced instead: parameters may be others");
}

TEST_F(ProbePlanning, ClonesBesideAFunctionAreTracedToo) {
    const ProbePlan made_plan = plan({"based"});
    EXPECT_EQ(names_of(made_plan), (Notes{"based", "based.constprop.0"}));
    EXPECT_EQ(first_field(made_plan, 0), "fd");
    EXPECT_EQ(first_field(made_plan, 1), "arg0");
    EXPECT_EQ(names_of(plan({"based.constprop.0"})), Notes{"based.constprop.0"});
    EXPECT_EQ(names_of(plan({"based#1"})), Notes{"based#1"}) << "that one";
    names = Names::one;
    EXPECT_EQ(names_of(plan({"based"})), Notes{"based"});
}

TEST_F(ProbePlanning, AClonesParametersAreNotKnownByName) {
    const ProbePlan made_plan = plan({"based(fd)"});
    EXPECT_EQ(names_of(made_plan), Notes{"based"});
    EXPECT_EQ(made_plan.notes.back(),
              "based(fd): left out, for want of what is asked for: based.constprop.0");
    EXPECT_THROW(plan({"clone(fd)"}), Error) << "there is nothing else";
}

TEST_F(ProbePlanning, AllFunctionsOfAName) {
    EXPECT_THROW(plan({"twice"}), Error);
    names = Names::all;
    const ProbePlan made_plan = plan({"twice", "typed"});
    EXPECT_EQ(names_of(made_plan), (Notes{"twice#1", "twice#2", "typed#1", "typed#2"}));
    EXPECT_EQ(made_plan.requests[0].address, 0xffffffff81000300U);
    EXPECT_EQ(made_plan.requests[1].address, 0xffffffff81000400U);
    EXPECT_EQ(made_plan.requests[3].symbol, "other:typed");
    EXPECT_EQ(made_plan.notes[0], "twice: 2 functions have this name, all are traced");
}

TEST_F(ProbePlanning, APatternIsAllThatMatchAndHaveWhatIsAskedFor) {
    EXPECT_EQ(names_of(plan({"t*"})), (Notes{"typed#1", "twice#1", "twice#2", "typed#2"}));
    EXPECT_EQ(names_of(plan({"kernel:cl[no]ne*"})), (Notes{"clone.isra.0", "clone.part.1"}))
        << "no cold parts";
    const ProbePlan made_plan = plan({"kernel:?[ays]*d(fd)"});
    EXPECT_EQ(names_of(made_plan), (Notes{"typed#1", "based"}));
    EXPECT_THROW(plan({"kernel:a*(fd)"}), Error) << "none has it";
}

TEST_F(ProbePlanning, APatternThatMatchesNothing) {
    try {
        plan({"typd*"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "probe 'typd*': no function matches");
        EXPECT_NE(error.hint().find("did you mean typed"), std::string::npos) << error.hint();
    }
}

TEST_F(ProbePlanning, AnAddressIsAFunctionOrAnInstructionOfOne) {
    const ProbePlan made_plan = plan({"0xffffffff81000200", "0xffffffff81000404(%rdi)"});
    EXPECT_EQ(names_of(made_plan), (Notes{"assembler", "twice#2+0x4"}));
    EXPECT_EQ(made_plan.requests[0].kind, TRAPLINE_CALL);
    EXPECT_EQ(made_plan.requests[1].kind, TRAPLINE_ENTRY);
    EXPECT_EQ(made_plan.requests[1].offset, 4U);
    EXPECT_THROW(plan({"0x1000"}), Error);
    try {
        plan({"kretprobe:0xffffffff81000404"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()),
                  "probe 'kretprobe:0xffffffff81000404': a return is a whole function's, and that "
                  "is 0x4 bytes into twice");
        EXPECT_EQ(error.hint(), "trace kretprobe:twice");
    }
}

std::string refused(const ProbePlan& plan, std::initializer_list<int> errors, Notes* notes) {
    std::vector<Verdict> verdicts;
    for (const int error : errors)
        verdicts.push_back({.error = error, .text = error ? "why" : ""});
    try {
        Notes said = refusals(plan, verdicts);
        if (notes)
            *notes = said;
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

TEST_F(ProbePlanning, OfAPatternTheKernelMayRefuseSome) {
    const ProbePlan made_plan = plan({"kernel:tw*", "assembler"});
    Notes notes;
    EXPECT_EQ(refused(made_plan, {EINVAL, 0, 0}, &notes), "");
    EXPECT_EQ(notes, Notes{"kernel:tw*: left out, 1 of 2 probes: twice#1 (why)"});
    EXPECT_EQ(refused(made_plan, {EINVAL, EILSEQ, 0}, nullptr),
              "cannot plant kernel:tw*: twice#1, twice#2 (why)");
    EXPECT_EQ(refused(made_plan, {0, 0, EINVAL}, nullptr), "cannot plant assembler: why");
    EXPECT_EQ(refused(made_plan, {0, ENOMEM, 0}, nullptr), "cannot plant kernel:tw* (twice#2): why")
        << "that isn't the place's fault";
}

TEST_F(ProbePlanning, WithoutItsClonesAFunctionIsTracedAllTheSame) {
    Notes notes;
    EXPECT_EQ(refused(plan({"based"}), {0, EINVAL}, &notes), "");
    EXPECT_EQ(notes, Notes{"based: left out, 1 of 1 probes: based.constprop.0 (why)"});
}

} // namespace
