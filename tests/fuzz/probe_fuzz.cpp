// SPDX-License-Identifier: GPL-2.0
// A PROBE, whatever it is: it is refused in words, or its programs pass the verifier, keep to what
// the verifier says of them, and leave what the event's layout describes.
#include "../unit/mock_machine.h"

#include <string_view>

#include "../unit/made_btf.h"
#include "fuzz.h"
#include "probe_machine.h"
#include "spec/compile.h"
#include "trace/fields.h"
#include "util/error.h"

using namespace trapline;

namespace {

// A function of many parameters, and what they lead to.
struct FuzzKernel : test::SmallKernel {
    FuzzKernel() {
        alias("u16", btf__add_int(get(), "short unsigned int", 2, 0));
        alias("u32", unsigned_);
        const int modes = btf__add_enum(get(), "mode", 4);
        btf__add_enum_value(get(), "MODE_READ", 1);
        btf__add_enum_value(get(), "MODE_WRITE", 2);
        const int index = btf__add_int(get(), "__ARRAY_SIZE_TYPE__", 4, 0);
        const int name = btf__add_array(get(), index, char_, 16);
        const int numbers = btf__add_array(get(), index, int_, 4);
        btf__add_union(get(), "either", 8);
        const int either = btf__add_field(get(), "whole", unsigned_long, 0, 0) == 0
                               ? static_cast<int>(btf__type_cnt(get())) - 1
                               : 0;
        btf__add_field(get(), "half", unsigned_, 0, 0);
        const int inode = structure("inode", {{"i_ino", unsigned_long}, {"mode", modes}}, 16);
        btf__add_struct(get(), "dentry", 64);
        const int dentry = static_cast<int>(btf__type_cnt(get())) - 1;
        btf__add_field(get(), "name", text, 0, 0);
        btf__add_field(get(), "d_iname", name, 64, 0);
        btf__add_field(get(), "inode", pointer(inode), 192, 0);
        btf__add_field(get(), "numbers", numbers, 256, 0);
        btf__add_field(get(), "", either, 384, 0);
        btf__add_field(get(), "low", unsigned_, 448, 3U << 24);
        btf__add_field(get(), "high", int_, 451, 5U << 24);
        function = static_cast<TypeId>(this->SmallKernel::function("f", ssize_t_,
                                                                   {{"dentry", pointer(dentry)},
                                                                    {"file", file_pointer},
                                                                    {"name", text},
                                                                    {"count", size_t_},
                                                                    {"mode", modes},
                                                                    {"flag", bool_},
                                                                    {"seventh", short_}}));
    }

    TypeId function = 0;
};

#ifdef TL_PLANTED_BUG
std::ptrdiff_t count(const std::vector<tl_insn>& program, tl_op op) {
    return std::count_if(program.begin(), program.end(),
                         [op](const tl_insn& insn) { return insn.op == op; });
}
#endif

void run(const CompiledProbe& probe, bool inside) {
    const bool call = probe.layout.kind == TRAPLINE_CALL;
    tl_verdict entry{};
    tl_verdict ret{};
    if (!probe.entry.empty())
        entry = verify(probe.entry, inside ? TL_AT_OFFSET : TL_AT_ENTRY);
    MUST(!entry.text);
    if (!probe.ret.empty())
        ret = verify(probe.ret, call ? TL_AT_CALL_RETURN : TL_AT_RETURN, entry.least);
    MUST(!ret.text);
    const std::size_t between = call ? 8 : 0;
    std::size_t room = entry.size + between + ret.size;
    MUST(room <= TL_FIELDS_MAX);
#ifdef TL_PLANTED_BUG
    if (count(probe.entry, TL_OP_SWAP) + count(probe.entry, TL_OP_STR) > 3)
        room = 0;
#endif
    const FuzzMachine machine;
    const Guarded record(room);
    std::size_t size = 0;
    if (!probe.entry.empty()) {
        const int stored = tl_run(probe.entry.data(), &machine.regs, nullptr, record.start);
        if (stored < 0)
            return;
        MUST(static_cast<__u32>(stored) >= entry.least);
        size += static_cast<std::size_t>(stored);
    }
    const tl_entered entered = {record.start, 5000};
    size += between;
    if (!probe.ret.empty()) {
        const int stored = tl_run(probe.ret.data(), &machine.regs, &entered, record.start + size);
        if (stored < 0)
            return;
        size += static_cast<std::size_t>(stored);
    }
    MUST(size <= room && record.intact());
    const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(record.start), size);
    FieldValues values;
    MUST(fields_size(probe.layout, bytes) == size);
    MUST(decode_fields(probe.layout, bytes, values));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const FuzzKernel kernel;
    static const auto types = kernel.types();
    static TypedFields fields;
    constexpr std::size_t text_max = 2000;
    const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, text_max));
    try {
        const ProbeSpec spec = parse_probe(text);
        const KnownTypes known{types.get(), kernel.function, {}};
        run(compile_probe(spec, 1, 1'000'000'000, known, fields), spec.offset != 0);
    } catch (const UsageError& error) {
        MUST(*error.what() != '\0');
    }
    return 0;
}
