// SPDX-License-Identifier: GPL-2.0
// Programs and layouts made of a function's types, run on a mock machine.
#include "typed_fixture.h"

#include "util/error.h"

using namespace trapline;
using namespace trapline::test;

namespace {

TEST_F(TypedCompile, NamesAndTypesOfParameters) {
    const CompiledProbe probe = compile("vfs_read", made.ssize_t_,
                                        {{"file", made.file_pointer},
                                         {"buf", made.buffer},
                                         {"count", made.size_t_},
                                         {"flags", made.unsigned_long},
                                         {"fd", made.int_},
                                         {"on", made.bool_}});
    EXPECT_TRUE(probe.layout.named);
    EXPECT_EQ(described(probe.layout.entry_fields),
              "file:pointer:8 buf:pointer:8 count:unsigned:8 flags:hex:8 fd:signed:4 on:bool:1");
    EXPECT_EQ(described(probe.layout.return_fields), "return:signed:8");
    const FieldValues values =
        run(probe, {1, 2, 3, 4, 0xdeadbeeffffffffe, 0xffffffffffffff01}, -__u64{2});
    ASSERT_EQ(values.entry.size(), 6U);
    EXPECT_EQ(values.entry[2].number, 3U);
    EXPECT_EQ(values.entry[4].number, -__u64{2}) << "the upper half is nobody's";
    EXPECT_EQ(values.entry[5].number, 1U);
    EXPECT_EQ(values.ret[0].number, -__u64{2});
    EXPECT_TRUE(probe.left_out.empty());
}

TEST_F(TypedCompile, ParametersWithoutNames) {
    const CompiledProbe probe =
        compile("f", 0, {{nullptr, made.int_}, {"b", made.short_}, {nullptr, made.u8}});
    EXPECT_EQ(described(probe.layout.entry_fields), "arg0:signed:4 b:signed:2 arg2:unsigned:1");
    EXPECT_EQ(described(probe.layout.return_fields), "") << "void";
}

// gcc has "long unsigned int" for it, clang "unsigned long"; a cast may say either.
TEST_F(TypedCompile, IntegersAsClangCallsThem) {
    const MadeBtf clang;
    const int long_ = btf__add_int(clang.get(), "long", 8, BTF_INT_SIGNED);
    btf__add_int(clang.get(), "unsigned long", 8, 0);
    btf__add_int(clang.get(), "short", 2, BTF_INT_SIGNED);
    btf__add_int(clang.get(), "unsigned short", 2, 0);
    btf__add_int(clang.get(), "long long", 8, BTF_INT_SIGNED);
    btf__add_int(clang.get(), "unsigned long long", 8, 0);
    const auto function = static_cast<TypeId>(clang.function("f", 0, {{"n", long_}}));
    const auto types = clang.types();
    TypedFields fields;
    const auto compiled = [&](const std::string& probe) {
        return compile_probe(parse_probe(probe), 1, 1, KnownTypes{types.get(), function, {}},
                             fields);
    };
    EXPECT_EQ(
        described(compiled("f((long)n, (long int)n, (unsigned long)n, (short)n, (unsigned short "
                           "int)n, (long long)n, (unsigned long long int)n)")
                      .layout.entry_fields),
        "(long)n:signed:8 (long int)n:signed:8 (unsigned long)n:hex:8 (short)n:signed:2 "
        "(unsigned short int)n:unsigned:2 (long long)n:signed:8 "
        "(unsigned long long int)n:unsigned:8");
    EXPECT_THROW(compiled("f((int)n)"), UsageError) << "there is none here";
}

TEST_F(TypedCompile, EachEnd) {
    const CompiledProbe entry = compile("kprobe:f", made.int_, {{"a", made.int_}});
    EXPECT_EQ(described(entry.layout.entry_fields), "a:signed:4");
    EXPECT_TRUE(entry.ret.empty());
    const CompiledProbe ret = compile("kretprobe:f", made.int_, {{"a", made.int_}});
    EXPECT_TRUE(ret.entry.empty());
    EXPECT_EQ(described(ret.layout.return_fields), "return:signed:4");
    EXPECT_EQ(run(ret, {}, 0x12345678fffffff4).ret[0].number, -__u64{12});
    const CompiledProbe offset = compile("kprobe:f+5", made.int_, {{"a", made.int_}});
    EXPECT_FALSE(offset.layout.named);
    EXPECT_EQ(offset.layout.entry_fields[0].name, "di") << "what is where inside isn't known";
}

TEST_F(TypedCompile, TextOfEitherHalf) {
    mock.kernel.store(kernel_text, std::string("kernel") + '\0');
    mock.user.store(user_text, std::string("user") + '\0');
    const CompiledProbe probe =
        compile("f", 0, {{"a", made.text}, {"b", made.text}, {"c", made.int_}, {"d", made.buffer}});
    EXPECT_EQ(described(probe.layout.entry_fields), "a:string b:string c:signed:4 d:pointer:8");
    FieldValues values = run(probe, {kernel_text, user_text, 5, 6});
    EXPECT_EQ(values.entry[0].text, "kernel");
    EXPECT_EQ(values.entry[1].text, "user");
    EXPECT_EQ(values.entry[2].number, 5U);
    EXPECT_EQ(values.entry[3].number, 6U) << "not constant: it may be about to be written";
    values = run(probe, {0, 0xffff888000000000, 5, 6});
    EXPECT_EQ(values.entry[0].state, FieldValue::State::null);
    EXPECT_EQ(values.entry[1].state, FieldValue::State::fault);
    mock.user.store(user_text, std::string(4000, 'x'));
    values = run(probe, {user_text, user_text});
    EXPECT_EQ(values.entry[0].state, FieldValue::State::cut);
    EXPECT_EQ(values.entry[0].text.size(), text_size);
}

TEST_F(TypedCompile, BytesAreNoText) {
    const int bytes = made.pointer(made.constant(made.u8));
    EXPECT_EQ(described(compile("f", 0, {{"mac", bytes}}).layout.entry_fields), "mac:pointer:8");
}

TEST_F(TypedCompile, ReturnedTypes) {
    const int mode = btf__add_enum(made.get(), "mode", 4);
    btf__add_enum_value(made.get(), "ON", 1);
    EXPECT_EQ(described(compile("f", made.file_pointer, {}).layout.return_fields),
              "return:pointer:8");
    EXPECT_EQ(described(compile("f", made.bool_, {}).layout.return_fields), "return:bool:1");
    EXPECT_EQ(described(compile("f", made.unsigned_, {}).layout.return_fields),
              "return:unsigned:4");
    const CompiledProbe probe = compile("f", mode, {{"m", mode}});
    EXPECT_EQ(described(probe.layout.return_fields), "return:enum:4");
    ASSERT_TRUE(probe.layout.return_fields[0].enumeration);
    EXPECT_EQ(probe.layout.return_fields[0].enumeration->values[0].name, "ON");
    EXPECT_EQ(probe.layout.return_fields[0].enumeration, probe.layout.entry_fields[0].enumeration);
    const CompiledProbe floating = compile("f", made.double_, {{"d", made.double_}});
    EXPECT_TRUE(floating.layout.return_fields.empty());
    EXPECT_EQ(floating.left_out, (std::vector<std::string>{"d", "the result"}));
}

TEST_F(TypedCompile, Structures) {
    const int one = made.structure("kuid_t", {{"val", made.unsigned_}}, 4);
    const int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    const int three =
        made.structure("three", {{"a", made.long_}, {"b", made.long_}, {"c", made.long_}}, 24);
    const int bytes = btf__add_array(made.get(), made.int_, made.u8, 3);
    const int odd = made.structure("odd", {{"a", bytes}}, 3);
    CompiledProbe probe =
        compile("f", two, {{"uid", one}, {"t", two}, {"big", three}, {"odd", odd}});
    EXPECT_EQ(described(probe.layout.entry_fields), "uid:unsigned:4 t:hex:8 t+8:hex:8 odd:hex:8");
    EXPECT_EQ(probe.left_out, std::vector<std::string>{"big"});
    EXPECT_EQ(described(probe.layout.return_fields), "return:hex:8 return+8:hex:8");
    const FieldValues values = run(probe, {1000, 2, 3, 4}, 5, 6);
    EXPECT_EQ(values.entry[2].number, 3U);
    EXPECT_EQ(values.entry[3].number, 4U);
    EXPECT_EQ(values.ret[0].number, 5U);
    EXPECT_EQ(values.ret[1].number, 6U);

    probe = compile("f", three, {{"a", made.int_}});
    EXPECT_EQ(described(probe.layout.return_fields), "return:pointer:8");
    EXPECT_EQ(run(probe, {1, 77}).entry[0].number, 77U) << "behind the place for the result";
}

TEST_F(TypedCompile, MoreThanSixParameters) {
    mock.kernel.store_u64(kernel_text + 4096, 0x1fffffff9);
    const std::initializer_list<MadeBtf::Named> eight = {
        {"a", made.int_}, {"b", made.int_}, {"c", made.int_}, {"d", made.int_},
        {"e", made.int_}, {"f", made.int_}, {"g", made.int_}, {"h", made.text}};
    const CompiledProbe probe = compile("f", 0, eight);
    EXPECT_EQ(described(probe.layout.entry_fields),
              "a:signed:4 b:signed:4 c:signed:4 d:signed:4 e:signed:4 f:signed:4 g:signed:4 "
              "h:string faults:faults");
    const FieldValues values = run(probe, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(values.entry[6].number, -__u64{7});
    mock = {};
    const FieldValues unreadable = run(probe, {1, 2, 3, 4, 5, 6});
    EXPECT_EQ(unreadable.entry[5].number, 6U);
    EXPECT_EQ(unreadable.entry[6].state, FieldValue::State::number_fault);
    EXPECT_EQ(unreadable.entry[7].state, FieldValue::State::fault);
}

// Conditions see arguments as their types have them, at either end.
TEST_F(TypedCompile, ConditionsOnTypedArguments) {
    const std::initializer_list<MadeBtf::Named> parameters = {
        {"a", made.unsigned_}, {"b", made.int_}, {"c", made.long_}, {"t", made.text}};
    const __u64 minus_3 = 0x55555555fffffffd;
    const auto records = [&](const std::string& text) {
        run(compile(text, made.long_, parameters), {0x7700000005, minus_3, 9, 0}, 4);
        return !rejected_;
    };
    EXPECT_TRUE(records("f if $arg1 == 5"));
    EXPECT_TRUE(records("f if $arg2 == -3"));
    EXPECT_TRUE(records("f if $arg2 < $arg1"));
    EXPECT_FALSE(records("f if $arg2 > $arg1"));
    EXPECT_TRUE(records("f if $retval == 5 || $arg1 == 5"));
    EXPECT_TRUE(records("f if $retval == 5 || $arg2 == -3"));
    EXPECT_TRUE(records("f if $retval == 5 || $arg3 == 9"));
    EXPECT_FALSE(records("f if $retval == 5 || $arg2 == 3"));
    EXPECT_TRUE(records("f if $retval < $arg1"));
    EXPECT_THROW(records("f if $retval == 5 || $arg4 == 0"), UsageError) << "its text is kept";
}

// Of a function that returns this, and takes an int and a structure's address.
class TypedResults : public TypedCompile {
protected:
    CompiledProbe compiled(int type, const std::string& condition) {
        return compile("f if " + condition, type, {{"n", made.int_}, {"p", made.file_pointer}});
    }

    bool records(int type, const std::string& condition, __u64 result, __u64 n = 0, __u64 p = 0) {
        run(compiled(type, condition), {n, p}, result);
        return !rejected_;
    }

    // "why | hint"
    std::string refusal(int type, const std::string& condition) {
        try {
            compiled(type, condition);
        } catch (const UsageError& error) {
            const std::string what = error.what();
            return what.substr(11, what.find('\n') - 11) + " | " + error.hint();
        }
        return "accepted";
    }
};

// What is shown of it is what is compared.
TEST_F(TypedResults, AreComparedAsTheirTypesHaveThem) {
    const __u64 minus_2 = 0xfffffffe; // of an int
    EXPECT_TRUE(records(made.int_, "$retval < 0", 0xfffe7960));
    EXPECT_TRUE(records(made.int_, "$retval == -100000", 0xfffe7960));
    EXPECT_FALSE(records(made.int_, "$retval > 0", 0xfffe7960));
    EXPECT_TRUE(records(made.int_, "$retval == -ENOENT && $retval < 0", minus_2));
    EXPECT_TRUE(records(made.int_, "$retval == 5 && $retval > 0", 0x8000000000000005))
        << "the upper half is nobody's";
    EXPECT_TRUE(records(made.int_, "$retval == n && $retval <= n", minus_2, minus_2));
    EXPECT_FALSE(records(made.int_, "$retval != n || $retval < n", minus_2, minus_2));
    EXPECT_TRUE(records(made.int_, "$retval < n", minus_2, 0x700000000));
    EXPECT_TRUE(records(made.short_, "$retval == -2", 0x1234fffe));

    EXPECT_FALSE(records(made.long_, "$retval < 0", 0xffffffff));
    EXPECT_FALSE(records(made.long_, "$retval == -1", 0xffffffff));
    EXPECT_TRUE(records(made.long_, "$retval == 4294967295 && $retval > n", 0xffffffff, minus_2));
    EXPECT_TRUE(records(made.long_, "$retval < 0 && $retval == -2", -__u64{2}));

    EXPECT_TRUE(records(made.unsigned_, "$retval > 5 && $retval == 4294967294", minus_2));
    EXPECT_TRUE(records(made.unsigned_long, "$retval > 5 && $retval == -2", -__u64{2}));
    EXPECT_TRUE(records(made.unsigned_long, "$retval > 5", minus_2));
    EXPECT_TRUE(records(made.bool_, "$retval == true", 0xffffffffffffff01));

    EXPECT_EQ(refusal(made.int_, "$retval == 0xfffffffe"),
              "$retval is signed, and this would be -2 | write it as a negative number if that is "
              "meant");
    EXPECT_EQ(refusal(made.unsigned_, "$retval == -2"),
              "$retval is never that: it is from 0 to 4294967295 | if its highest bit is a sign, "
              "say so: (int)$retval");
    EXPECT_EQ(refusal(made.unsigned_, "$retval < 0"),
              "$retval is unsigned, so it is never less than 0 | if its highest bit is a sign, say "
              "so: (int)$retval");
    EXPECT_TRUE(records(made.unsigned_, "(int)$retval < 0", minus_2));
    EXPECT_EQ(refusal(made.unsigned_long, "$retval < 0"),
              "$retval is unsigned, so it is never less than 0 | $retval is signed when it is "
              "compared with a negative number: $retval <= -1");
    EXPECT_TRUE(records(made.unsigned_long, "$retval <= -1", -__u64{2}));
    const int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    EXPECT_EQ(refusal(two, "$retval == 1"),
              "$retval is no number, but struct two | name a member: a, b");
    EXPECT_TRUE(records(two, "$retval.a == 1", 1));
}

// Less than 0 is what IS_ERR() says it is, whatever half addresses are in.
TEST_F(TypedResults, ErrorsInPointersAreNegative) {
    const __u64 address = 0xffff888000010000;
    const __u64 last = -__u64{4096};
    for (const __u64 error : {-__u64{1}, -__u64{2}, -__u64{4095}}) {
        EXPECT_TRUE(records(made.file_pointer, "$retval < 0 && 0 > $retval", error));
        EXPECT_FALSE(records(made.file_pointer, "$retval >= 0 || !($retval < 0)", error));
        EXPECT_TRUE(records(made.file_pointer, "$retval <= 0 && !($retval > 0)", error));
        EXPECT_FALSE(records(made.file_pointer, "$retval > 0xffff888000000000", error));
        EXPECT_TRUE(records(made.file_pointer, "$retval < p && p > $retval", error, 0, address));
    }
    for (const __u64 good : {__u64{0}, __u64{0x400000}, __u64{0xfffffffe}, address, last}) {
        EXPECT_FALSE(records(made.file_pointer, "$retval < 0", good));
        EXPECT_TRUE(records(made.file_pointer, "$retval >= 0 && $retval > -1", good));
        EXPECT_EQ(records(made.file_pointer, "$retval > 0", good), good != 0);
        EXPECT_EQ(records(made.file_pointer, "$retval <= 0 && $retval == NULL", good), good == 0);
        EXPECT_FALSE(records(made.file_pointer, "$retval == -2", good));
        EXPECT_EQ(records(made.file_pointer, "$retval >= 0xffff888000010000", good),
                  good >= address);
        EXPECT_EQ(records(made.file_pointer, "$retval < p", good, 0, last), good != last);
    }
    EXPECT_TRUE(records(made.file_pointer, "$retval == -ENOENT", -__u64{2}));
    EXPECT_TRUE(records(made.file_pointer, "$retval < -1 && $retval >= -2", -__u64{2}));
    EXPECT_TRUE(records(made.file_pointer, "$retval == 0xffff888000010000", address));
    EXPECT_TRUE(records(made.file_pointer, "$retval == p && $retval <= p", address, 0, address));
    EXPECT_TRUE(records(made.file_pointer, "(long)$retval < 0", address));

    EXPECT_EQ(refusal(made.file_pointer, "$retval < -4096"),
              "$retval is never that: it is an address, or from -4095 to -1 | if its highest bit "
              "is a sign, say so: (long)$retval");
    EXPECT_EQ(refusal(made.file_pointer, "$retval > 0xfffffffffffffffe"),
              "in $retval this is the error -2 | write it as a negative number if that is meant");
    EXPECT_EQ(refusal(made.file_pointer, "p < 0"),
              "p is unsigned, so it is never less than 0 | p is signed when it is compared with a "
              "negative number: p <= -1");
}

// One instruction each to load and to compare.
TEST_F(TypedResults, AreTestedAtOnce) {
    for (const char* condition : {"$retval == -2", "$retval < 0", "$retval > 5"})
        EXPECT_EQ(compiled(made.int_, condition).ret.at(3).op, TL_OP_REJECT) << condition;
    EXPECT_EQ(compiled(made.file_pointer, "$retval == NULL").ret.at(3).op, TL_OP_REJECT);
}

TEST_F(TypedResults, TextThatIsReturned) {
    mock.kernel.store(kernel_text, std::string("abc") + '\0');
    for (const int type : {made.text, made.buffer}) {
        EXPECT_TRUE(records(type, "$retval == \"abc\" && $retval != \"ab\"", kernel_text));
        EXPECT_FALSE(records(type, "$retval == \"abcd\"", kernel_text));
        EXPECT_FALSE(records(type, "$retval != \"abc\"", -__u64{2})) << "there is no text";
    }
    EXPECT_EQ(refusal(made.int_, "$retval == \"abc\""),
              "$retval is no text | if it is a text's address, say so: (char *)$retval");
}

} // namespace
