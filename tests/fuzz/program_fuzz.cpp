// SPDX-License-Identifier: GPL-2.0
// Instructions, whatever they are, as a client may send them: the verifier refuses them, or they
// run to an end and keep to the bytes that it says.
//
// A byte chooses the site, one the bytes of the entry's fields (in words); then instructions.
#include "../unit/mock_machine.h"

#include "fuzz.h"
#include "probe_machine.h"

namespace {

Program program_of(const std::uint8_t* data, std::size_t size) {
    Program program(std::min<std::size_t>(size / sizeof(tl_insn), TL_INSNS_MAX + 1));
    if (!program.empty())
        std::memcpy(program.data(), data, program.size() * sizeof(tl_insn));
    return program;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return 0;
    const auto site = static_cast<tl_site>(data[0] % (TL_AT_CALL_RETURN + 1));
    const __u32 fields = data[1] * 4U;
    const Program program = program_of(data + 2, size - 2);
    const tl_verdict verdict = verify(program, site, fields);
    if (verdict.text) {
        MUST(*verdict.text != '\0' &&
             (verdict.insn < program.size() || program.empty() || program.size() > TL_INSNS_MAX));
        return 0;
    }
    MUST(verdict.least <= verdict.size && verdict.size <= TL_FIELDS_MAX);
    std::size_t room = verdict.size;
#ifdef TL_PLANTED_BUG
    // As if the verifier didn't know that what is smaller takes 4 bytes too.
    for (const tl_insn& insn : program)
        if (insn.op == TL_OP_PUT && insn.size == 2 && room >= 2)
            room -= 2;
#endif
    const FuzzMachine machine;
    const Guarded entry(fields);
    const Guarded record(room);
    const tl_entered entered = {entry.start, 5000};
    const int stored = tl_run(program.data(), &machine.regs, &entered, record.start);
    if (stored >= 0)
        MUST(static_cast<__u32>(stored) >= verdict.least &&
             static_cast<__u32>(stored) <= verdict.size);
    else
        MUST(stored == TL_REJECTED);
    MUST(record.intact() && entry.intact());
    return 0;
}
