// SPDX-License-Identifier: GPL-2.0
// What a PROBE's list asks for: the fields that it makes, the values that they have, and what is
// refused, with the caret's place and the way out.
#include "typed_fixture.h"

#include <fmt/format.h>

#include "util/error.h"

namespace {

constexpr __u64 at = 0xffff888000020000; // structures that tests make

// struct inner { unsigned int a; int b; char text[8]; const char *name; };            24 bytes
// struct outer { struct inner in; struct inner *to; u8 mac[6]; short numbers[3];
//                union { unsigned long whole; unsigned int half; };
//                unsigned int low:3, signed_:5 (int); enum mode mode; void *nothing; } 72 bytes
class Lists : public TypedCompile {
protected:
    Lists() {
        btf* b = made.get();
        mode = btf__add_enum(b, "mode", 4);
        btf__add_enum_value(b, "OFF", 0);
        btf__add_enum_value(b, "ON", 7);
        const int text8 = btf__add_array(b, made.int_, made.char_, 8);
        inner = btf__add_struct(b, "inner", 24);
        btf__add_field(b, "a", made.unsigned_, 0, 0);
        btf__add_field(b, "b", made.int_, 32, 0);
        btf__add_field(b, "text", text8, 64, 0);
        btf__add_field(b, "name", made.text, 128, 0);
        const int inner_pointer = made.pointer(inner);
        const int bytes6 = btf__add_array(b, made.int_, made.u8, 6);
        const int shorts3 = btf__add_array(b, made.int_, made.short_, 3);
        const int anything = made.pointer(0);
        const int both = btf__add_union(b, nullptr, 8);
        btf__add_field(b, "whole", made.unsigned_long, 0, 0);
        btf__add_field(b, "half", made.unsigned_, 0, 0);
        outer = btf__add_struct(b, "outer", 72);
        btf__add_field(b, "in", inner, 0, 0);
        btf__add_field(b, "to", inner_pointer, 192, 0);
        btf__add_field(b, "mac", bytes6, 256, 0);
        btf__add_field(b, "numbers", shorts3, 304, 0);
        btf__add_field(b, nullptr, both, 384, 0);
        btf__add_field(b, "low", made.unsigned_, 448, 3);
        btf__add_field(b, "high", made.int_, 451, 5);
        btf__add_field(b, "mode", mode, 480, 0);
        btf__add_field(b, "nothing", anything, 512, 0);
        outer_pointer = made.pointer(outer);
        btf__add_struct(b, "bits", 12);
        btf__add_field(b, "low", made.unsigned_, 0, 9);
        btf__add_field(b, "high", made.int_, 9, 20);
        btf__add_field(b, "packed", made.int_, 46, 20);
        btf__add_field(b, "wide", made.unsigned_long, 20, 36);
        btf__add_field(b, "tail", made.int_, 58, 20);
    }

    void SetUp() override {
        TypedCompile::SetUp();
        const __u32 a = 0x80000001;
        const __u32 b = static_cast<__u32>(-5);
        mock.kernel.store(at, &a, 4);
        mock.kernel.store(at + 4, &b, 4);
        mock.kernel.store(at + 8, "full8ch.", 8);
        mock.kernel.store_u64(at + 16, at + 0x200);
        mock.kernel.store_u64(at + 24, at + 0x100);
        mock.kernel.store(at + 32, "\x02\x42\xac\x11\x00\x02", 6);
        mock.kernel.store(at + 38, "\x01\x00\xfe\xff\x03\x00", 6);
        mock.kernel.store_u64(at + 48, 0x1122334455667788);
        mock.kernel.store(at + 56, "\xed\0\0\0\x07\0\0\0", 8); // low 5, high -3
        mock.kernel.store_u64(at + 64, 0);
        // The inner one that it leads to.
        const __u32 a2 = 77;
        mock.kernel.store(at + 0x100, &a2, 4);
        mock.kernel.store(at + 0x108, std::string("ab\0xxxxx", 8));
        mock.kernel.store(at + 0x200, std::string("a name\0", 7));
        mock.kernel.store(at + 0x110, std::string(8, '\0'));
    }

    CompiledProbe list(const std::string& list, const std::string& place = "f") {
        return compile(place + list, outer_pointer,
                       {{"o", outer_pointer}, {"n", made.int_}, {"buf", made.buffer}, {"m", mode}});
    }

    FieldValues values(const std::string& text, __u64 n = 0, __u64 buf = 0) {
        return run(list(text), {at, n, buf, 7}, at);
    }

    // "why @ column | hint"
    std::string refusal(const std::string& text, const std::string& place = "f") {
        try {
            list(text, place);
        } catch (const UsageError& error) {
            const std::string what = error.what();
            const std::size_t first = what.find('\n');
            const std::size_t second = what.find('\n', first + 1);
            if (first == std::string::npos)
                return what;
            constexpr std::size_t shown_whole = 240;
            if (place.size() + text.size() <= shown_whole) {
                EXPECT_EQ(what.substr(first + 5, second - first - 5), place + text);
            }
            return what.substr(11, first - 11) + " @ " +
                   std::to_string(what.size() - 1 - second - 1 - 4 - place.size()) + " | " +
                   error.hint();
        }
        return "accepted";
    }

    int mode = 0;
    int inner = 0;
    int outer = 0;
    int outer_pointer = 0;
};

TEST_F(Lists, PickWhatIsRecorded) {
    EXPECT_EQ(described(list("()").layout.entry_fields), "");
    EXPECT_EQ(described(list("()").layout.return_fields), "return:pointer:8");
    EXPECT_EQ(described(list("(n)").layout.entry_fields), "n:signed:4");
    EXPECT_EQ(described(list("( m , n )").layout.entry_fields), "m:enum:4 n:signed:4");
    EXPECT_TRUE(list("(n)").layout.named);
    EXPECT_EQ(values("(n)", 0x77fffffffe).entry[0].number, -__u64{2});
}

TEST_F(Lists, MembersOfMembers) {
    const CompiledProbe probe = list("(o->in.a, o->in.b, o->to->a, o->whole, o->half, o->mode)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "o->in.a:unsigned:4 o->in.b:signed:4 o->to->a:unsigned:4 o->whole:hex:8 "
              "o->half:unsigned:4 o->mode:enum:4 faults:faults");
    const FieldValues v = run(probe, {at});
    EXPECT_EQ(v.entry[0].number, 0x80000001U);
    EXPECT_EQ(v.entry[1].number, -__u64{5});
    EXPECT_EQ(v.entry[2].number, 77U);
    EXPECT_EQ(v.entry[3].number, 0x1122334455667788U);
    EXPECT_EQ(v.entry[4].number, 0x55667788U);
    EXPECT_EQ(v.entry[5].number, 7U);
}

TEST_F(Lists, BitfieldsWithTheirSign) {
    const CompiledProbe probe = list("(o->low, o->high)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "o->low:unsigned:4 o->high:signed:4 faults:faults");
    const FieldValues v = run(probe, {at});
    EXPECT_EQ(v.entry[0].number, 5U); // 0xed = 11101 101
    EXPECT_EQ(v.entry[1].number, -__u64{3});
}

TEST_F(Lists, BitfieldsAreReadInTheWordOfTheirType) {
    const __u64 bits = at + 0x300;
    mock.kernel.store(bits, "\xff\x03\x00\xf0", 4);
    const FieldValues v =
        run(list("(((struct bits *)buf)->low, ((struct bits *)buf)->high)"), {at, 0, bits});
    EXPECT_EQ(v.entry[0].number, 0x1ffU);
    EXPECT_NE(v.entry[1].state, FieldValue::State::number_fault)
        << "nothing behind the 4 bytes is there";
    EXPECT_EQ(v.entry[1].number, -__u64{0x7ffff});

    mock.kernel.store(bits + 4, "\x77\xc5\xff\xff\x01", 5);
    const FieldValues other =
        run(list("(((struct bits *)buf)->packed, ((struct bits *)buf)->wide)"), {at, 0, bits});
    EXPECT_EQ(other.entry[0].number, 0x7ffffU) << "in no word";
    EXPECT_EQ(other.entry[1].number, 0xffc577f00U);

    mock.kernel.store(bits + 9, "\x20", 1);
    const FieldValues tail = run(list("(((struct bits *)buf)->tail)"), {at, 0, bits});
    EXPECT_NE(tail.entry[0].state, FieldValue::State::number_fault)
        << "of its three bytes the last is the last that is there";
    EXPECT_EQ(tail.entry[0].number, -__u64{0x7ff81});
}

TEST_F(Lists, TextIsText) {
    const CompiledProbe probe = list("(o->in.name, o->in.text, o->to->text, o->to->name, buf)");
    EXPECT_EQ(
        described(probe.layout.entry_fields),
        "o->in.name:string o->in.text:string o->to->text:string o->to->name:string buf:string");
    mock.user.store(user_text, std::string("user\0", 5));
    const FieldValues v = run(probe, {at, 0, user_text});
    EXPECT_EQ(v.entry[0].text, "a name");
    EXPECT_EQ(v.entry[1].text, "full8ch.");
    EXPECT_EQ(v.entry[1].state, FieldValue::State::whole) << "it is as long as it can be";
    EXPECT_EQ(v.entry[2].text, "ab");
    EXPECT_EQ(v.entry[3].state, FieldValue::State::null);
    EXPECT_EQ(v.entry[4].text, "user");
}

TEST_F(Lists, ArraysElementsAndSlices) {
    FieldValues v = run(list("(o->numbers)"), {at});
    ASSERT_EQ(v.entry.size(), 4U);
    EXPECT_EQ(v.entry[0].number, 1U);
    EXPECT_EQ(v.entry[1].number, -__u64{2});
    EXPECT_EQ(v.entry[2].number, 3U);
    const CompiledProbe slice = list("(o->numbers[1:3], o->mac, o->mac[1:3], o->in.text[2:5])");
    EXPECT_EQ(described(slice.layout.entry_fields),
              "o->numbers[1]:signed:2 o->numbers[2]:signed:2 o->mac:bytes o->mac[1:3]:bytes "
              "o->in.text[2:5]:string faults:faults");
    v = run(slice, {at});
    EXPECT_EQ(v.entry[0].number, -__u64{2});
    EXPECT_EQ(v.entry[2].text, std::string("\x02\x42\xac\x11\x00\x02", 6));
    EXPECT_EQ(v.entry[3].text, "\x42\xac");
    EXPECT_EQ(v.entry[4].text, "ll8");
    // A format is each one's.
    const CompiledProbe formatted = list("(o->numbers[1:3]:x, o->numbers[0:1]:be16)");
    EXPECT_EQ(described(formatted.layout.entry_fields),
              "o->numbers[1]:hex:2 o->numbers[2]:hex:2 o->numbers[0]:unsigned:2 faults:faults");
    v = run(formatted, {at});
    EXPECT_EQ(v.entry[0].number, 0xfffeU);
    EXPECT_EQ(v.entry[1].number, 3U);
    EXPECT_EQ(v.entry[2].number, 0x100U);
    // Of a pointer too.
    v = run(list("(o->to[0].a, (&o->in)[0].b, *o->numbers, *(o->numbers + 1))"), {at});
    EXPECT_EQ(v.entry[0].number, 77U);
    EXPECT_EQ(v.entry[1].number, -__u64{5});
    EXPECT_EQ(v.entry[2].number, 1U);
    EXPECT_EQ(v.entry[3].number, -__u64{2});
}

TEST_F(Lists, ArraysOfArrays) {
    const int row = btf__add_array(made.get(), made.int_, made.short_, 2);
    const int rows = btf__add_array(made.get(), made.int_, row, 3);
    const int matrix = btf__add_struct(made.get(), "matrix", 12);
    btf__add_field(made.get(), "m", rows, 0, 0);
    const CompiledProbe probe =
        compile("f(p->m[0], p->m[1:3], p->m[2][1]:x)", 0, {{"p", made.pointer(matrix)}});
    EXPECT_EQ(described(probe.layout.entry_fields),
              "p->m[0][0]:signed:2 p->m[0][1]:signed:2 p->m[1][0]:signed:2 p->m[1][1]:signed:2 "
              "p->m[2][0]:signed:2 p->m[2][1]:signed:2 p->m[2][1]:x:hex:2 faults:faults");
    mock.kernel.store(at, std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12));
    const FieldValues v = run(probe, {at});
    for (std::size_t i = 0; i < 6; i++)
        EXPECT_EQ(v.entry[i].number, i + 1);
}

TEST_F(Lists, AddressesAndArithmetic) {
    const CompiledProbe probe = list("(&o->in.b, o->to + 1, n + 5, n & 3, n << 1, n >> 1, o - 1)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "&o->in.b:pointer:8 o->to + 1:pointer:8 n + 5:signed:4 n & 3:signed:4 "
              "n << 1:signed:4 n >> 1:signed:4 o - 1:pointer:8 faults:faults");
    const FieldValues v = run(probe, {at, 0x55fffffffaULL});
    EXPECT_EQ(v.entry[0].number, at + 4);
    EXPECT_EQ(v.entry[1].number, at + 0x100 + 24);
    EXPECT_EQ(v.entry[2].number, -__u64{1});
    EXPECT_EQ(v.entry[3].number, 2U);
    EXPECT_EQ(v.entry[4].number, -__u64{12});
    EXPECT_EQ(v.entry[5].number, -__u64{3});
    EXPECT_EQ(v.entry[6].number, at - 72);
}

TEST_F(Lists, Casts) {
    const CompiledProbe probe =
        list("(((struct inner *)buf)->a, (unsigned char)n, (u8)n, (long)n, (unsigned long)o->to, "
             "((struct inner *)o->nothing)->b, (enum mode)n, ((struct inner *)%rdi)->b)");
    EXPECT_EQ(
        described(probe.layout.entry_fields),
        "((struct inner *)buf)->a:unsigned:4 (unsigned char)n:unsigned:1 (u8)n:unsigned:1 "
        "(long)n:signed:8 (unsigned long)o->to:hex:8 ((struct inner *)o->nothing)->b:signed:4 "
        "(enum mode)n:enum:4 ((struct inner *)%rdi)->b:signed:4 faults:faults");
    const FieldValues v = run(probe, {at, 0xfffffffe, at}, 0, 0);
    EXPECT_EQ(v.entry[0].number, 0x80000001U);
    EXPECT_EQ(v.entry[1].number, 0xfeU);
    EXPECT_EQ(v.entry[3].number, -__u64{2});
    EXPECT_EQ(v.entry[4].number, at + 0x100);
    EXPECT_EQ(v.entry[5].state, FieldValue::State::number_fault) << "a null pointer";
    EXPECT_EQ(v.entry[6].number, 0xfffffffeU);
}

TEST_F(Lists, CastsWithQualifiersToUnionsAndToAddresses) {
    const int either = btf__add_union(made.get(), "either", 8);
    btf__add_field(made.get(), "whole", made.unsigned_long, 0, 0);
    btf__add_field(made.get(), "half", made.int_, 0, 0);
    made.pointer(either);
    const CompiledProbe probe =
        list("(((union either *)buf)->half, ((union either *)buf)->whole, "
             "((const struct inner *)buf)->a, ((volatile struct inner const *)buf)->b, "
             "((struct inner volatile *)o->nothing)->a, (const unsigned char)n, (void *)n, "
             "(char **)buf, *(char **)buf, ((const char **)buf)[1], (char *)o->nothing)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "((union either *)buf)->half:signed:4 ((union either *)buf)->whole:hex:8 "
              "((const struct inner *)buf)->a:unsigned:4 "
              "((volatile struct inner const *)buf)->b:signed:4 "
              "((struct inner volatile *)o->nothing)->a:unsigned:4 "
              "(const unsigned char)n:unsigned:1 (void *)n:pointer:8 (char **)buf:pointer:8 "
              "*(char **)buf:string ((const char **)buf)[1]:string (char *)o->nothing:string "
              "faults:faults");
    mock.kernel.store_u64(at + 0x300, at + 0x200);
    mock.kernel.store_u64(at + 0x308, 0);
    const FieldValues v = run(probe, {at, 0x5ffffffff, at + 0x300}, 0);
    EXPECT_EQ(v.entry[0].number, at + 0x200 - 0xffff888000000000);
    EXPECT_EQ(v.entry[1].number, at + 0x200);
    EXPECT_EQ(v.entry[2].number, (at + 0x200) & 0xffffffff);
    EXPECT_EQ(v.entry[3].number, -__u64{0x7780});
    EXPECT_EQ(v.entry[4].state, FieldValue::State::number_fault);
    EXPECT_EQ(v.entry[5].number, 0xffU);
    EXPECT_EQ(v.entry[6].number, ~__u64{0}) << "an int, whose sign goes on";
    EXPECT_EQ(v.entry[7].number, at + 0x300);
    EXPECT_EQ(v.entry[8].text, "a name");
    EXPECT_EQ(v.entry[9].state, FieldValue::State::null);
    EXPECT_EQ(v.entry[10].state, FieldValue::State::null);
    EXPECT_EQ(refusal("((void)n)").substr(0, 23), "there is no type void @");
    EXPECT_EQ(refusal("(*(void *)n)").substr(0, 10), "(void *)n ");
}

TEST_F(Lists, WhatCannotBeReadIsAFault) {
    const CompiledProbe probe = list("(o->in.a, n, o->to->a, o->in.text, o->mac)");
    const FieldValues v = run(probe, {0xffff888012340000, 3});
    EXPECT_EQ(v.entry[0].state, FieldValue::State::number_fault);
    EXPECT_EQ(v.entry[1].number, 3U);
    EXPECT_EQ(v.entry[1].state, FieldValue::State::number);
    EXPECT_EQ(v.entry[2].state, FieldValue::State::number_fault);
    EXPECT_EQ(v.entry[3].state, FieldValue::State::fault);
    EXPECT_EQ(v.entry[4].state, FieldValue::State::fault);
}

TEST_F(Lists, Symbols) {
    const CompiledProbe probe = list("(o:sym, o->whole:sym, o->nothing:sym, $caller:sym, "
                                     "$caller + 1:sym, $arg5:sym) = $retval:sym");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "o:symbol:8 o->whole:symbol:8 o->nothing:symbol:8 $caller:caller:8 "
              "$caller + 1:symbol:8 $arg5:symbol:8 faults:faults");
    EXPECT_EQ(described(probe.layout.return_fields), "return:symbol:8");
    EXPECT_TRUE(has_addresses(probe.layout));
    EXPECT_FALSE(has_addresses(list("(o, $caller)").layout));
    EXPECT_EQ(refusal("(n:sym)"), "n has 4 bytes, and an address 8 @ 3 | a symbol is found by a "
                                  "pointer, or a number as long as one");
    for (const char* builtin : {"$pid", "$tid", "$uid", "$cpu"})
        EXPECT_EQ(refusal(fmt::format("({}:sym)", builtin)),
                  fmt::format("{0} is no address @ {1} | a symbol is found by a pointer, or a "
                              "number as long as one",
                              builtin, std::string(builtin).size() + 2));
    EXPECT_EQ(refusal("(((struct bits *)buf)->wide:sym)"),
              "((struct bits *)buf)->wide is a bitfield, and no address @ 28 | a symbol is found "
              "by a pointer, or a number as long as one");
    list("($stack3:sym, %rdi:sym)");
}

TEST_F(Lists, Formats) {
    const CompiledProbe probe = list(
        "(n:x, n:u, n:d, n:c, n:errno, o->in.a:be32, o->numbers[0]:be16, o->in.a:ip4, o->mac:mac, "
        "o->in.name:x, buf:hex[3], o->in:hex, buf:ip6, buf:str[4], o->in.text:str, buf:ustr)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "n:x:hex:4 n:u:unsigned:4 n:d:signed:4 n:c:char:1 n:errno:errno:4 "
              "o->in.a:be32:unsigned:4 o->numbers[0]:unsigned:2 o->in.a:ip4:ip4:4 o->mac:bytes "
              "o->in.name:hex:8 buf:hex[3]:bytes "
              "o->in:bytes buf:ip6:bytes buf:str[4]:string o->in.text:string buf:ustr:string "
              "faults:faults");
    mock.user.store(user_text, std::string("0123456789abcdef", 16) + '\0');
    const FieldValues v = run(probe, {at, -__u64{2}, user_text});
    EXPECT_EQ(v.entry[0].number, 0xfffffffeU);
    EXPECT_EQ(v.entry[1].number, 0xfffffffeU);
    EXPECT_EQ(v.entry[2].number, -__u64{2});
    EXPECT_EQ(v.entry[3].number, 0xfeU);
    EXPECT_EQ(v.entry[4].number, -__u64{2});
    EXPECT_EQ(v.entry[5].number, 0x01000080U);
    EXPECT_EQ(v.entry[6].number, 0x0100U);
    EXPECT_EQ(v.entry[7].number, 0x80000001U);
    EXPECT_EQ(v.entry[8].text.size(), 6U);
    EXPECT_EQ(v.entry[9].number, at + 0x200);
    EXPECT_EQ(v.entry[10].text, "012");
    EXPECT_EQ(v.entry[11].text.size(), 24U);
    EXPECT_EQ(v.entry[12].text, "0123456789abcdef");
    EXPECT_EQ(v.entry[13].text, "0123");
    EXPECT_EQ(v.entry[13].state, FieldValue::State::cut);
    EXPECT_EQ(v.entry[14].text, "full8ch.");
    EXPECT_EQ(v.entry[15].text, "0123456789abcdef");
}

TEST_F(Lists, Builtins) {
    mock.task = {11, 12, 13, 2, at + 0x300};
    mock.kernel.store(at + 0x300, std::string("a comm\0.........", 16));
    const CompiledProbe probe = list("($pid, $tid, $uid, $cpu, $comm, $arg2, pid, comm, $arg2:x)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "$pid:unsigned:4 $tid:unsigned:4 $uid:unsigned:4 $cpu:unsigned:4 $comm:string "
              "$arg2:signed:4 pid:unsigned:4 comm:string $arg2:x:hex:4");
    const FieldValues v = run(probe, {at, 0x7700000005});
    EXPECT_EQ(v.entry[0].number, 11U);
    EXPECT_EQ(v.entry[1].number, 12U);
    EXPECT_EQ(v.entry[2].number, 13U);
    EXPECT_EQ(v.entry[3].number, 2U);
    EXPECT_EQ(v.entry[4].text, "a comm");
    EXPECT_EQ(v.entry[5].number, 5U);
    EXPECT_EQ(described(list("($caller, $stack2, $arg9, %rdi)").layout.entry_fields),
              "$caller:pointer:8 $stack2:raw:8 $arg9:raw:8 %rdi:raw:8 faults:faults");
}

// A parameter is meant where it has a builtin's name; the '$' is always the builtin.
TEST_F(Lists, AParameterComesBeforeABuiltin) {
    mock.task = {11, 12, 13, 2, 0};
    const CompiledProbe probe = compile("f(pid, $pid)", 0, {{"pid", made.long_}});
    EXPECT_EQ(described(probe.layout.entry_fields), "pid:signed:8 $pid:unsigned:4");
    EXPECT_EQ(run(probe, {5}).entry[0].number, 5U);
    EXPECT_EQ(run(probe, {5}).entry[1].number, 11U);
}

TEST_F(Lists, OfTheReturn) {
    const CompiledProbe probe = list("(n) = $retval->in.b");
    EXPECT_EQ(described(probe.layout.entry_fields), "n:signed:4");
    EXPECT_EQ(described(probe.layout.return_fields), "$retval->in.b:signed:4 faults:faults");
    EXPECT_EQ(run(probe, {at, 3}, at).ret[0].number, -__u64{5});
    EXPECT_EQ(run(probe, {at, 3}, 0).ret[0].state, FieldValue::State::number_fault);
    EXPECT_EQ(described(list("() = $ret").layout.return_fields), "return:pointer:8");
    EXPECT_EQ(described(list("() = ret:u").layout.return_fields), "return:unsigned:8");
    const CompiledProbe ret = list("() = $retval->in.name", "kretprobe:f");
    EXPECT_TRUE(ret.entry.empty());
    EXPECT_EQ(described(ret.layout.return_fields), "$retval->in.name:string");
}

TEST_F(Lists, AWholeStructureIsItsMembers) {
    const CompiledProbe probe = list("(*o->to, o->in)");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "o->to->a:unsigned:4 o->to->b:signed:4 o->to->text:string o->to->name:string "
              "o->in.a:unsigned:4 o->in.b:signed:4 o->in.text:string o->in.name:string "
              "faults:faults");
    EXPECT_EQ(run(probe, {at}).entry[0].number, 77U);
    EXPECT_EQ(run(probe, {at}).entry[4].number, 0x80000001U);
    EXPECT_EQ(described(list("(*o)").layout.entry_fields),
              "o->to:pointer:8 o->whole:hex:8 o->half:unsigned:4 o->low:unsigned:4 "
              "o->high:signed:4 o->mode:enum:4 o->nothing:pointer:8 faults:faults");
}

TEST_F(Lists, AWholeStructureToADepth) {
    const CompiledProbe probe = list("(*o:depth[2])");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "o->in.a:unsigned:4 o->in.b:signed:4 o->in.text:string o->in.name:string "
              "o->to:pointer:8 o->whole:hex:8 o->half:unsigned:4 o->low:unsigned:4 "
              "o->high:signed:4 o->mode:enum:4 o->nothing:pointer:8 faults:faults");
    EXPECT_EQ(run(probe, {at}).entry[1].number, -__u64{5});
    EXPECT_EQ(described(list("(o->in:depth[1], *o->to:depth[3])").layout.entry_fields),
              "o->in.a:unsigned:4 o->in.b:signed:4 o->in.text:string o->in.name:string "
              "o->to->a:unsigned:4 o->to->b:signed:4 o->to->text:string o->to->name:string "
              "faults:faults");
    EXPECT_EQ(refusal("(o:depth[2])"),
              "o is no structure @ 3 | what a pointer leads to has a * before it: *o:depth[2]");
    EXPECT_EQ(refusal("(*o:depth)"), "how deep isn't said @ 4 | say it: :depth[2]");
    EXPECT_TRUE(refusal("(*o:depth[9])").starts_with("a depth is 1 to 8 @ 10"))
        << refusal("(*o:depth[9])");
}

TEST_F(Lists, NamesDontDependOnTheOrder) {
    EXPECT_EQ(described(list("(n, n:x)").layout.entry_fields), "n:signed:4 n:x:hex:4");
    EXPECT_EQ(described(list("(n:x, n)").layout.entry_fields), "n:x:hex:4 n:signed:4");
    EXPECT_EQ(described(list("(n:x)").layout.entry_fields), "n:hex:4");
}

// Without knowing types.
TEST_F(Lists, AValueInParenthesesIsNoType) {
    EXPECT_EQ(described(list("((n) & 3, (n) + 1)").layout.entry_fields),
              "(n) & 3:signed:4 (n) + 1:signed:4");
    EXPECT_EQ(run(list("((n) & 3)"), {at, 6}).entry[0].number, 2U);
    EXPECT_EQ(described(list("((u8)*buf)").layout.entry_fields),
              "(u8)*buf:unsigned:1 faults:faults");
}

// What both ends of a call take is one record.
TEST_F(Lists, BothEndsOfACallShareARecord) {
    const std::string result = " = $retval->in.name:str[4096]";
    EXPECT_EQ(refusal("(buf:str[3000], o->in.name:str[884])" + result),
              "accepted"); // 3892 + 8 + 4100
    EXPECT_EQ(refusal("(buf:str[3000], o->in.name:str[885])" + result),
              "list, duration and result take up to 8004 bytes, and 8000 are the most");
}

TEST_F(Lists, StructuresInRegisters) {
    const int two = made.structure("two", {{"a", made.long_}, {"b", made.int_}}, 16);
    const CompiledProbe probe = compile("f(t.a, t.b, n)", 0, {{"t", two}, {"n", made.int_}});
    EXPECT_EQ(described(probe.layout.entry_fields), "t.a:signed:8 t.b:signed:4 n:signed:4");
    const FieldValues v = run(probe, {5, 0x99fffffffe, 7});
    EXPECT_EQ(v.entry[0].number, 5U);
    EXPECT_EQ(v.entry[1].number, -__u64{2});
    EXPECT_EQ(v.entry[2].number, 7U);
}

TEST_F(Lists, AnInstructionsListHasRegisters) {
    const CompiledProbe probe = list("(%rax:d, ((struct outer *)%rbx)->in.b, $pid)", "f+4");
    EXPECT_EQ(described(probe.layout.entry_fields),
              "%rax:signed:8 ((struct outer *)%rbx)->in.b:signed:4 $pid:unsigned:4 faults:faults");
    EXPECT_TRUE(probe.layout.named);
    EXPECT_FALSE(probe.layout.at_entry);
}

// What the function takes has no place there that is known, and $arg1 neither.
TEST_F(Lists, NoParametersAreOfferedWhereThereAreNone) {
    const auto of_unknown = [&](const std::string& text) {
        try {
            compile_probe(parse_probe(text), 1, 1'000'000'000);
        } catch (const UsageError& error) {
            return std::string(error.what()).substr(0, 40) + error.hint();
        }
        return std::string("accepted");
    };
    const std::string inside = "inside a function parameters may be anywhere: name a register, "
                               "such as %rdi; or probe the entry, without +OFFSET";
    const std::string behind =
        "a return probe sees no parameters: trace the call, without kretprobe: and --return";
    EXPECT_EQ(of_unknown("f+4(count)"), "bad probe: there is no count to be had\n " + inside);
    EXPECT_EQ(of_unknown("f+4 if count > 3"), "bad probe: there is no count to be had\n " + inside);
    EXPECT_EQ(of_unknown("kretprobe:f if count > 3"),
              "bad probe: there is no count to be had\n " + behind);
    EXPECT_EQ(of_unknown("kprobe:f(count)"),
              "bad probe: there is no count to be had\n "
              "of this function no parameters are known: $arg1 is the first");
    EXPECT_EQ(refusal("(p)", "f+4"), "there is no p to be had @ 1 | " + inside);
    EXPECT_EQ(refusal("() = p", "kretprobe:f"), "there is no p to be had @ 5 | " + behind);
}

TEST_F(Lists, WhatTypesDoNotTellOrRegistersDoNotHold) {
    btf* b = made.get();
    const int any_number = btf__add_array(b, made.int_, made.int_, 0);
    const int open = made.structure("open", {{"number", made.long_}, {"more", any_number}}, 8);
    const int holder = made.structure("holder", {{"one", inner}, {"other", inner}}, 48);
    const int bits = btf__add_struct(b, "passed", 8);
    btf__add_field(b, "low", made.unsigned_, 0, 5);
    btf__add_field(b, "high", made.unsigned_, 32, 0);
    const int packed = btf__add_struct(b, "packed", 9);
    btf__add_field(b, "wide", made.unsigned_long, 4, 62);
    btf__add_int(b, "__int128", 16, BTF_INT_SIGNED);
    const auto refused = [&](const std::string& list) {
        try {
            compile("f(" + list + ")", 0,
                    {{"open", made.pointer(open)},
                     {"holder", made.pointer(holder)},
                     {"bits", bits},
                     {"packed", made.pointer(packed)},
                     {"real", made.double_},
                     {"n", made.int_}});
        } catch (const UsageError& error) {
            const std::string what = error.what();
            return what.substr(11, what.find('\n') - 11) + " @ " +
                   std::to_string(what.size() - what.rfind('\n') - 1 - 5 - 2) + " | " +
                   error.hint();
        }
        return std::string("accepted");
    };
    EXPECT_EQ(refused("open->more"), "how many elements open->more has isn't known @ 0 | "
                                     "name one, open->more[0], or some, open->more[0:4]");
    EXPECT_EQ(refused("open->more[0:4], open->more[4]"), "accepted");
    EXPECT_EQ(refused("open->more:x"), refused("open->more")) << "not its first alone";
    EXPECT_EQ(refused("*holder"), "*holder has no members that are numbers or text @ 0 | "
                                  "name what is inside of them");
    EXPECT_EQ(refused("*holder:depth[2]"), "accepted");
    EXPECT_EQ(refused("bits.low"), "bits is passed in registers @ 5 | "
                                   "bits of a structure in registers can't be recorded");
    EXPECT_EQ(refused("bits.high"), "accepted");
    EXPECT_EQ(refused("packed->wide"), "this bitfield spans nine bytes @ 8 | it can't be recorded");
    EXPECT_EQ(refused("real"),
              "real is in no register that is saved @ 0 | floating point numbers and empty "
              "structures can't be recorded");
    EXPECT_EQ(refused("(__int128)n"), "a number has 1, 2, 4 or 8 bytes @ 1 | cast to one that has");
}

// What many fields have in common is loaded once.
TEST_F(Lists, LoadsAreShared) {
    const CompiledProbe probe = list("(o->to->a, o->to->b, o->in.a)");
    std::size_t loads = 0;
    for (const tl_insn& insn : probe.entry)
        loads += insn.op == TL_OP_ARG || insn.op == TL_OP_LOAD;
    EXPECT_EQ(loads, 1U + 1 + 2 + 1);
    // Also with more of them than slots.
    std::string many;
    for (int i = 0; i < 20; i++)
        many += std::string(many.empty() ? "(" : ", ") + "o->to[" + std::to_string(i) + "].a:x";
    const FieldValues v = run(list(many + ", o->in.b, n)"), {at, 9});
    EXPECT_EQ(v.entry[0].number, 77U);
    EXPECT_EQ(v.entry[20].number, -__u64{5});
    EXPECT_EQ(v.entry[21].number, 9U);
}

TEST_F(Lists, Conditions) {
    const auto records = [&](const std::string& text) {
        values(text, 5, user_text);
        return !rejected_;
    };
    mock.task = {11, 12, 13, 2, at + 0x300};
    mock.kernel.store(at + 0x300, std::string("dd\0.............", 16));
    mock.user.store(user_text, std::string("/etc/passwd\0", 12));
    EXPECT_TRUE(records("(n) if n == 5"));
    EXPECT_FALSE(records("(n) if n > 5"));
    EXPECT_TRUE(records(" if n == 2 + 3 && n < 4KiB - 1"));
    EXPECT_TRUE(records(" if n >= 0 && !(n < 0)")) << "n is signed";
    EXPECT_TRUE(records(" if o->in.b == -5 && o->in.b < 0"));
    EXPECT_TRUE(records(" if o->in.a > 0x80000000"));
    EXPECT_FALSE(records(" if o->to->a != 77"));
    EXPECT_TRUE(records(" /o->to->a == 154 div 2 && o->to->a == 154 / 2/"));
    EXPECT_TRUE(records(" if (n & 4) != 0 && (n & 2) == 0 && (n + 1) == 6 && n << 2 == 20"));
    EXPECT_TRUE(records(" if m == ON && o->mode != OFF"));
    EXPECT_TRUE(records(" if o->nothing == NULL && o->to != NULL"));
    EXPECT_TRUE(records(" if comm == \"dd\" && $comm != \"d\" && \"ddd\" != $comm"));
    EXPECT_FALSE(records(" if comm == \"cat\""));
    EXPECT_TRUE(records(" if buf == \"/etc/passwd\" && buf != \"/etc/passw\""));
    EXPECT_TRUE(records(" if o->in.text == \"full8ch.\" && o->to->text == \"ab\""));
    EXPECT_TRUE(records(" if o->in.text[2:5] == \"ll8\" && comm != \"of-15-bytes-all\""));
    EXPECT_TRUE(records(" if o->low == 5 && o->low < 7 && o->high >= -16 && o->high < 15"));
    EXPECT_TRUE(records(" if pid == 11 && $tid == 12 && uid == 13 && $cpu == 2"));
    EXPECT_TRUE(records(" if $retval->in.b == -5"));
    EXPECT_FALSE(records(" if $retval->in.b == -5 && n == 6"));
    // What was kept of the entry, at the return.
    EXPECT_TRUE(records(" if $retval == 0 || n == 5"));
    EXPECT_TRUE(records("(n) if $retval == 0 || n == 5"));
    EXPECT_TRUE(records("(m, n) if $retval == 0 || n + 1 == 6"));
    EXPECT_FALSE(records("(m, n) if $retval == 0 || n + 1 == 7"));
    EXPECT_TRUE(records("(n:x) if $retval == 0 || n == 5"));
    // What can't be read is neither so nor not.
    EXPECT_FALSE(records(" if ((struct inner *)o->nothing)->b == 0"));
    EXPECT_FALSE(records(" if ((struct inner *)o->nothing)->b != 0"));
    EXPECT_FALSE(records(" if o->to->name == \"\""));
    EXPECT_FALSE(records(" if o->to->name != \"\""));
}

TEST_F(Lists, RefusedWithACaretAndAWayOut) {
    const std::pair<const char*, const char*> cases[] = {
        // Syntax.
        {"(", "a value is expected here @ 1 | "},
        {"(,)", "a value is expected here @ 1 | inside double quotes"},
        {"(n,)", "a value is expected here @ 3 | inside double quotes"},
        {"(n", "',' or ')' is expected here @ 2 | "},
        {"(n m)", "',' or ')' is expected here @ 3 | "},
        {"(n) m", "'=', ' if CONDITION' or the end is expected here @ 4 | "},
        {"(n)if n == 1", "'=', ' if CONDITION' or the end is expected here @ 3 | "},
        {"(n) =", "a value is expected here @ 5 | inside double quotes"},
        {"(n == 1)", "a comparison is no value to be recorded @ 3 | a condition stands behind"},
        {"(o->)", "a member's name is expected behind '->' @ 4 | inside double quotes"},
        {"(o->in.)", "a member's name is expected behind '.' @ 7 | inside double quotes"},
        {"(o->$pid)", "a member's name is expected behind '->' @ 4 | "},
        {"(o->numbers[)", "a value is expected here @ 12 | "},
        {"(o->numbers[n])", "in brackets a number is expected @ 12 | "},
        {"(o->numbers[1)", "']' is expected here @ 13 | "},
        {"(o->numbers[2:1])", "a slice [a:b] has the elements a to b - 1 @ 14 | "},
        {"(n:)", "a format is expected behind ':' @ 3 | formats are :x"},
        {"(n:q)", "there is no format q @ 3 | formats are :x"},
        {"(n:hexa)", "there is no format hexa @ 3 | did you mean :hex?"},
        {"(n:ip)", "there is no format ip @ 3 | did you mean :ip4 or :ip6?\nformats are :x"},
        {"(n:s)", "there is no format s @ 3 | did you mean :str or :sym?\n"},
        {"(n:hex[0])", "1 to 4096 bytes can be recorded @ 7 | "},
        {"(n:hex[4097])", "1 to 4096 bytes can be recorded @ 7 | "},
        {"(n:hex[4)", "']' is expected here @ 8 | "},
        {"((struct)n)", "a type's name is expected here @ 8 | "},
        {"((unsigned float)n)", "'unsigned float' is no type @ 2 | "},
        {"((struct inner *n)", "')' is expected behind the type @ 16 | "},
        {"(5)", "a number is always the same @ 1 | "},
        {"(\"x\")", "a text can only be compared with @ 1 | "},
        {"(n + m)", "behind '+' a number is expected @ 3 | "},
        // What the shell leaves of a $ in double quotes.
        {"(:x)", "':' is not expected here @ 1 | inside double quotes"},
        {"(.x)", "'.' is not expected here @ 1 | inside double quotes"},
        {"([0])", "'[' is not expected here @ 1 | inside double quotes"},
        {"(o->numbers[])", "']' is not expected here @ 12 | inside double quotes"},
        {"( + 1)", "'+' is not expected here @ 2 | inside double quotes"},
        {"( * 1)", "'*' is not expected here @ 2 | inside double quotes"},
        {"( / 1)", "'/' is not expected here @ 2 | inside double quotes"},
        {"( % 1)", "'%' is not expected here @ 2 | inside double quotes"},
        {"( & 1)", "'&' is not expected here @ 2 | inside double quotes"},
        {"( | 1)", "'|' is not expected here @ 2 | inside double quotes"},
        {"( ^ 1)", "'^' is not expected here @ 2 | inside double quotes"},
        {"( << 1)", "a value is expected here @ 2 | inside double quotes"},
        {"( - 1)", "a number is always the same @ 2 | name what is to be recorded: a parameter, "
                   "$pid, ...\ninside double quotes"},
        {"(n, ())", "a value is expected here @ 5 | inside double quotes"},
        {"(n) = :x", "':' is not expected here @ 6 | inside double quotes"},
        {"(n) = ->in.a", "a value is expected here @ 6 | inside double quotes"},
        {"(n) if ( & 3) == 1", "'&' is not expected here @ 9 | inside double quotes"},
        {"(n) if () == 1", "a value is expected here @ 8 | inside double quotes"},
        {"(n, {)", "'{' is not expected here @ 4 | a value is a parameter"},
        // Names.
        {"(p)", "there is no parameter p @ 1 | the parameters are o, n, m, buf"},
        {"(o->imn)", "struct outer has no member imn @ 4 | it has in, "},
        {"(o->in.txt)", "struct inner has no member txt @ 7 | it has text, "},
        {"($pidd)", "there is no $pidd @ 1 | did you mean $pid?"},
        {"((struct iner *)buf)", "there is no type iner @ 9 | did you mean struct inner?"},
        {"((intt)n)", "there is no type intt @ 2 | did you mean int?"},
        {"((u9)n)", "there is no type u9 @ 2 | did you mean u8?"},
        {"((struct elsewhere *)buf)", "there is no type elsewhere @ 9 | types are the kernel's"},
        {"((struct mode *)buf)", "there is no type mode @ 9 | did you mean enum mode?"},
        {"((inner *)buf)", "there is no type inner @ 2 | did you mean struct inner?"},
        // Types.
        {"(o.in)", "o is a pointer @ 3 | o->in"},
        {"(o->in->a)", "o->in is a structure, no pointer to one @ 8 | o->in.a"},
        {"(n->a)", "n is no pointer, but int @ 1 | "},
        {"(n.a)", "n has no members: it is int @ 3 | "},
        {"(*n)", "n is no pointer, but int @ 2 | "},
        {"(*o->nothing)",
         "o->nothing is a void *: what it points to isn't known @ 2 | say it: (struct"},
        {"(%rdi->a)", "what %rdi points to isn't known @ 1 | say it: (struct file *)%rdi"},
        {"(o->numbers[3])", "o->numbers has 3 elements @ 11 | "},
        {"(o->numbers[-1])", "o->numbers has 3 elements @ 11 | "},
        {"(o->numbers[1:4])", "o->numbers has 3 elements @ 11 | "},
        {"(&n)", "n has no address: it lies in no memory @ 1 | "},
        {"(&o->low)", "o->low has no address: it is a bitfield @ 1 | "},
        {"(o->in:x)", "o->in is no number, but struct inner @ 4 | name a member: a, b, text, name"},
        {"((struct inner)n)",
         "nothing can be made struct inner @ 9 | a pointer to it can: (struct inner *)n"},
        {"(n:mac)", "n is no address, and lies in no memory @ 1 | "},
        {"(%rdi:hex)", "how many bytes isn't known @ 6 | say it: :hex[16]"},
        {"(o->half:be16)", "o->half is no number of 2 bytes @ 9 | say what is meant: (u16)o->half, "
                           "or *(u16 *)o->half"},
        {"(o->in.text:be32)", "o->in.text[0] is no number of 4 bytes @ 12 | "},
        {"(o->to[0:2].a)", "o->to[0:2] is a slice, whose elements aren't picked from @ 12 | name "},
        {"((bool)n)", "only a byte can be made a bool @ 2 | compare it with 0"},
        {"(n, n)", "n is in the list already @ 4 | with another format"},
        {"(o->numbers[1], o->numbers)",
         "o->numbers[1] is in the list already @ 16 | leave it out where it stands by itself: it "
         "comes with o->numbers"},
        {"(*o, o->low)", "o->low is in the list already @ 5 | leave it out where it stands by "
                         "itself: it comes with *o"},
        {"(n:x, n:x, n:x)", "n:x is in the list already @ 6 | with another format"},
        {"(*o, *o)", "*o is in the list already @ 5 | with another format"},
        {"(o->numbers[0:2], o->numbers[1:3])",
         "o->numbers[1] is in the list already @ 18 | both o->numbers[0:2] and o->numbers[1:3] "
         "have it"},
        // Where.
        {"($retval)",
         "the list is of what is known at the entry @ 1 | the return value stands behind it"},
        {"($duration)", "the duration isn't known at the entry @ 1 | "},
        {"() = n", "behind '=' $retval is expected @ 5 | "},
        // Conditions.
        {" if o->numbers", "o->numbers is an array, and never 0 @ 4 | name an element: [0]"},
        {" if !o->in.text", "o->in.text is an array, and never 0 @ 5 | name an element: [0]"},
        {" if &o->in.a == 0", "&o->in.a is an address, and never 0 @ 4 | leave out the &"},
        {" if n == \"x\"", "n is no text @ 4 | if it is a text's address, say so: (char *)n"},
        {" if comm < \"x\"", "texts are compared with == and != only @ 11 | "},
        {" if comm == 5", "$comm is no number @ 4 | "},
        {" if m == OON", "enum mode has no value OON @ 9 | it has ON, OFF"},
        {" if n == foo", "there is no parameter foo @ 9 | "},
        {" if n == -ENOET", "a number or an error's name is expected behind '-' @ 10 | did you "
                            "mean -ENOENT?\na value is"},
        {" if n == 0xfffffffe",
         "n is signed, and this would be -2 @ 9 | write it as a negative number"},
        {" if n == 0x1fffffffe", "n is never that: it is from -2147483648 to 2147483647 @ 9 | "
                                 "compare it with a number of these"},
        {" if n < -2147483649", "n is never that: it is from -2147483648 to 2147483647 @ 8 | "
                                "compare it with a number of these"},
        {" if o->in.a == -1", "o->in.a is never that: it is from 0 to 4294967295 @ 15 | if its "
                              "highest bit is a sign, say so: (int)o->in.a"},
        {" if o->in.a < 0", "o->in.a is unsigned, so it is never less than 0 @ 14 | if its highest "
                            "bit is a sign, say so: (int)o->in.a"},
        {" if (u8)n == -1", "(u8)n is never that: it is from 0 to 255 @ 13 | if its highest bit is "
                            "a sign, say so: (signed char)(u8)n"},
        {" if o->in.a > 4294967296", "o->in.a is never that: it is from 0 to 4294967295 @ 14 | "},
        {" if o->low == 8", "o->low is never that: it is from 0 to 7 @ 14 | "},
        {" if o->low == -1", "o->low is never that: it is from 0 to 7 @ 14 | a condition compares"},
        {" if o->high == 16", "o->high is signed, and this would be -16 @ 15 | "},
        {" if o->high > 32", "o->high is never that: it is from -16 to 15 @ 14 | "},
        {" if o->high == -17", "o->high is never that: it is from -16 to 15 @ 15 | "},
        {" if comm == \"systemd-journald\"",
         "$comm is never that: it has room for 15 bytes @ 12 | what is longer is cut there: "
         "\"systemd-journal\""},
        {" if \"full8ch.x\" != o->in.text",
         "o->in.text is never that: it has room for 8 bytes @ 4 | what is longer is cut there: "
         "\"full8ch.\""},
        {" if o->in.text[2:5] == \"ll8c\"",
         "o->in.text[2:5] is never that: it has room for 3 bytes @ 23 | "},
        {" if (long)n == 0x8000000000000000",
         "(long)n is signed, and this would be -9223372036854775808 @ 15 | "},
        {" if $duration + 0 > 5",
         "$duration can't be calculated with @ 4 | compare it with a time"},
        {" if o->in.text == o->to->text", "a text is compared with one in quotes only @ 18 | if "},
        {" if $retval == 0 || o->in.b == 1",
         "o->in.b isn't kept until the return, where this is tested @ 20 | "},
        {"(m) if $retval == 0 || n == 1",
         "n isn't kept until the return, where this is tested @ 23 | numbers in the list are"},
    };
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(refusal(text).substr(0, std::string(expected).size()), expected)
            << text << ": " << refusal(text);
    EXPECT_EQ(refusal("(n) = $retval", "kprobe:f"),
              "an entry probe sees no return @ 6 | trace the call: without kprobe:, +OFFSET and "
              "--entry");
    EXPECT_TRUE(refusal("(n)", "kretprobe:f")
                    .starts_with("a return probe sees no entry, so there is no n @ 1 | "));
    EXPECT_TRUE(refusal("($arg1)", "kretprobe:f")
                    .starts_with("a return probe sees no entry, so there is no $arg1 @ 1 | "));
    EXPECT_TRUE(refusal("(n)", "f+4").starts_with("inside a function n may be anywhere @ 1 | "));
}

// As what is shown of them.
TEST_F(Lists, MasksKeepTheSignOfTheType) {
    const __u64 minus_1 = 0xffffffff;
    const auto records = [&](const std::string& text) {
        values(text, minus_1);
        return !rejected_;
    };
    EXPECT_EQ(values("(n & 0x80000000)", minus_1).entry[0].number, -__u64{0x80000000});
    EXPECT_TRUE(records(" if (n & 0x80000000) == -2147483648 && (n & 0x80000000) < 0"));
    EXPECT_TRUE(records(" if (n & 0xf0000000) != 0 && (n & -16) == -16 && (n & 0xff) == 255"));
    for (const char* kept : {"n & -16", "n & 0x80000000"})
        EXPECT_TRUE(records(fmt::format("({0}) if $retval == 0 || ({0}) < 0", kept))) << kept;
    EXPECT_TRUE(records("(n & -16) if $retval == 0 || (n & -16) == -16"));
    EXPECT_TRUE(records("(n & 0xff) if $retval == 0 || (n & 0xff) == 255"));
    EXPECT_TRUE(records("((unsigned)n & -16) if $retval == 0 || ((unsigned)n & -16) > 0xffffff00"));
    EXPECT_TRUE(refusal(" if (n & 0x80000000) == 0x80000000")
                    .starts_with("(n & 0x80000000) is signed, and this would be -2147483648 @ "))
        << refusal(" if (n & 0x80000000) == 0x80000000");
    // A mask that needs no more than itself has no more.
    for (const char* text : {"(n & 3)", "(n & -16)", "($arg2 & 0xff)", "(buf & 0x80000000)"})
        EXPECT_EQ(list(text, "kprobe:f").entry.size(), 4U) << text;
}

// Stored by one program, before the result: a fault of the second is the second's.
TEST_F(Lists, OfAReturnAreOfItsTask) {
    const CompiledProbe probe =
        list("($pid, $tid:x, $comm, cpu) = $retval->to->a if $uid == 0", "kretprobe:f");
    EXPECT_TRUE(probe.entry.empty());
    EXPECT_EQ(described(probe.layout.entry_fields),
              "$pid:unsigned:4 $tid:hex:8 $comm:string cpu:unsigned:4");
    EXPECT_EQ(described(probe.layout.return_fields), "$retval->to->a:unsigned:4 faults:faults");
    EXPECT_TRUE(probe.layout.named);
    EXPECT_EQ(refusal("($retval)", "kretprobe:f"),
              "the list is of what is known besides the return value @ 1 | that stands behind it: "
              "'kretprobe:FUNC($tid) = $retval'");
    EXPECT_EQ(refusal("($tid, n)", "kretprobe:f"),
              "a return probe sees no entry, so there is no n @ 7 | trace the call: FUNC(...), "
              "without kretprobe: and --return");
    EXPECT_TRUE(refusal("($duration)", "kretprobe:f").starts_with("a return probe sees no entry"))
        << refusal("($duration)", "kretprobe:f");
    EXPECT_EQ(described(list("()", "kretprobe:f").layout.entry_fields), "");
}

// Of a byte the rest of the register is anything; a void function has no result.
TEST_F(Lists, ResultsOfLessThanARegister) {
    const auto loads = [](const CompiledProbe& probe) {
        std::vector<unsigned> sizes;
        for (const tl_insn& insn : probe.ret)
            if (insn.op == TL_OP_RETVAL)
                sizes.push_back(insn.size);
        return sizes;
    };
    EXPECT_EQ(loads(compile("f if $retval == 1", made.u8, {})).at(0), 1U);
    EXPECT_EQ(loads(compile("f if $retval == 1", made.short_, {})).at(0), 2U);
    EXPECT_EQ(loads(compile("f if $retval == 1", made.int_, {})).at(0), 4U);
    EXPECT_EQ(loads(compile("f if $retval == 1", made.long_, {})).at(0), 0U);
    for (const char* text : {"f if $retval == 1", "f() = $retval"}) {
        try {
            compile(text, 0, {});
            FAIL() << text;
        } catch (const UsageError& error) {
            EXPECT_EQ(std::string(error.what()).substr(0, 51),
                      "bad probe: the function is void: it returns nothing");
            EXPECT_EQ(error.hint(), "leave that out; arguments and $duration can be asked for");
        }
    }
    EXPECT_NO_THROW(compile("f if $duration > 1ms", 0, {}));
}

// What is shown of half a register isn't what a condition on all of it is tested with.
TEST_F(Lists, HalfOfARegisterIsNotKept) {
    EXPECT_NE(refusal("($arg1:ip4) if $arg1 > 4GiB || $retval == 77").find("isn't kept"),
              std::string::npos);
}

TEST_F(Lists, LengthIsBounded) {
    std::string deep = "(o";
    for (int i = 0; i < 100000; i++)
        deep += "->to";
    EXPECT_EQ(refusal(deep + ")").substr(0, 29), "too much inside one another @");
    EXPECT_EQ(refusal("(" + std::string(100000, '*') + "o)").substr(0, 29),
              "too much inside one another @");
    EXPECT_EQ(refusal("(" + std::string(100000, '(') + "o)").substr(0, 29),
              "too much inside one another @");
    std::string sum = "(n";
    for (int i = 0; i < 100000; i++)
        sum += " + 1";
    EXPECT_EQ(refusal(sum + ")").substr(0, 29), "too much inside one another @");
    const std::string most = "(((int *)buf)[0:64], ((int *)buf)[64:123]";
    EXPECT_EQ(refusal(most + ")"), "accepted");
    EXPECT_EQ(refusal(most + ", o->in.a, o->in.b, n, m, $pid, $tid)"),
              "the list is too long from here on: a probe has room for what is before it @ 43 | "
              "plant several probes on the function, each with a part of the list");
    EXPECT_EQ(refusal("(((int *)buf)[0:64], ((int *)buf)[64:128])"),
              "this is 64 values, and a probe has room for 59 of them @ 21 | name those that are "
              "wanted; or plant several probes on the function, each with a part");
    EXPECT_EQ(refusal("(buf:str[4061])"),
              "a call keeps up to 4068 bytes until its return, and 4064 are the most");
    EXPECT_EQ(refusal("(buf:str[4060])"), "accepted");
    EXPECT_EQ(refusal("(buf:str[4096], buf:str[4000])", "kprobe:f"),
              "the list records up to 8104 bytes, and 8000 are the most");
    EXPECT_EQ(refusal("(buf:str[4096], buf:str[3896])", "kprobe:f"), "accepted");
}

} // namespace
