// SPDX-License-Identifier: GPL-2.0
// Compiles PROBEs on a function of made types, and runs their programs on a mock machine.
#ifndef UNIT_TYPED_FIXTURE_H
#define UNIT_TYPED_FIXTURE_H

#include "mock_machine.h"

#include <gtest/gtest.h>

#include "made_btf.h"
#include "spec/compile.h"
#include "trace/fields.h"

using namespace trapline;
using namespace trapline::test;

namespace {

constexpr __u64 kernel_text = 0xffff888000010000;
constexpr __u64 user_text = 0x00007f0000020000;

class TypedCompile : public testing::Test {
protected:
    void SetUp() override { mock = {}; }

    // `text`: a PROBE on a function that takes and returns this.
    CompiledProbe compile(const std::string& text, int result,
                          std::initializer_list<MadeBtf::Named> parameters) {
        const int id = made.function("f", result, parameters);
        types_ = made.types();
        const ProbeSpec spec = parse_probe(text);
        CompiledProbe probe = compile_probe(
            spec, 7, 1'000'000'000, KnownTypes{types_.get(), static_cast<TypeId>(id), {}}, fields_);
        if (spec.kind != TRAPLINE_RETURN) {
            const tl_verdict verdict =
                verify(probe.entry, spec.offset != 0 ? TL_AT_OFFSET : TL_AT_ENTRY);
            EXPECT_EQ(verdict.text, nullptr) << verdict.text << " at " << verdict.insn;
            least_ = verdict.least;
        }
        if (spec.kind != TRAPLINE_ENTRY) {
            const tl_verdict verdict = verify(
                probe.ret, spec.kind == TRAPLINE_CALL ? TL_AT_CALL_RETURN : TL_AT_RETURN, least_);
            EXPECT_EQ(verdict.text, nullptr) << verdict.text << " at " << verdict.insn;
        }
        return probe;
    }

    // What the record of a call has, as its layout says.
    FieldValues run(const CompiledProbe& probe, const std::array<__u64, 6>& arguments,
                    __u64 result = 0, __u64 rdx = 0) {
        tl_regs regs{};
        regs.arg = arguments;
        regs.stack = kernel_text + 4096;
        regs.result = result;
        regs.word[12] = rdx;
        bytes_.assign(2 * TL_FIELDS_MAX, std::byte{});
        auto* at = reinterpret_cast<__u8*>(bytes_.data());
        std::size_t size = 0;
        rejected_ = false;
        if (!probe.entry.empty()) {
            const int stored = tl_run(probe.entry.data(), &regs, nullptr, at);
            rejected_ = stored < 0;
            if (rejected_)
                return {};
            size += static_cast<std::size_t>(stored);
        }
        const tl_entered entered = {at, 99};
        if (probe.layout.kind == TRAPLINE_CALL)
            size += 8;
        if (!probe.ret.empty()) {
            const int stored = tl_run(probe.ret.data(), &regs, &entered, at + size);
            rejected_ = stored < 0;
            if (rejected_)
                return {};
            size += static_cast<std::size_t>(stored);
        }
        FieldValues values;
        EXPECT_EQ(fields_size(probe.layout, std::span(bytes_).first(size)), size);
        EXPECT_TRUE(decode_fields(probe.layout, std::span(bytes_).first(size), values));
        return values;
    }

    SmallKernel made;
    bool rejected_ = false;

private:
    std::unique_ptr<BtfTypes> types_;
    TypedFields fields_;
    std::vector<std::byte> bytes_;
    __u32 least_ = 0;
};

// "name:form:size ..."
std::string described(const std::vector<Field>& fields) {
    constexpr std::array forms{"raw",  "hex",   "unsigned", "signed", "bool", "pointer", "enum",
                               "char", "errno", "ip4",      "ip6",    "mac",  "symbol",  "caller"};
    std::string out;
    for (const Field& field : fields) {
        out += (out.empty() ? "" : " ") + field.name + ":";
        if (field.type == FieldType::raw)
            out += std::string(forms.at(static_cast<std::size_t>(field.form))) + ":" +
                   std::to_string(field.size);
        else
            out += field.type == FieldType::string  ? "string"
                   : field.type == FieldType::bytes ? "bytes"
                                                    : "faults";
    }
    return out;
}

} // namespace

#endif
