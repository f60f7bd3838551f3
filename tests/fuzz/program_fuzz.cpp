// SPDX-License-Identifier: GPL-2.0
// Instructions, whatever they are, as a client may send them: the verifier refuses them, or they
// run to an end and keep to the bytes that it says.
//
// A byte chooses the site, one the bytes of the entry's fields (in words); then instructions.
#include "../unit/mock_machine.h"

#include "fuzz.h"
#include "probe_machine.h"
#include "shared/guard.h"

namespace {

// Whether `program` may go on, by its guard if it has one.
bool guard_passes(const Program& program, const tl_regs& regs, __u64 duration) {
    tl_guard guard{};
    if (!tl_guard_of(&guard, program.data(), static_cast<__u32>(program.size())))
        return true;
    const tl_insn& load = program.front();
    __u64 value = 0;
    std::array<__u64, 2> comm{};
    switch (load.op) {
    case TL_OP_REG:
        value = tl_reg(&regs, load.imm);
        break;
    case TL_OP_ARG:
        if (load.imm >= regs.arg.size())
            return true; // on the stack, where reads may fail: the module wants no guard
        value = regs.arg.at(load.imm);
        break;
    case TL_OP_RETVAL:
        value = regs.result;
        break;
    case TL_OP_DURATION:
        value = duration;
        break;
    default:
        value = mock.task.at(load.imm);
    }
    if (tl_guard_is_text(program.data())) {
        MUST(tl_read_kernel(comm.data(), mock.task[TL_TASK_COMM], sizeof(comm)) == 0);
        value = tl_comm_is(&guard.comm, comm[0], comm[1]);
    }
    return tl_guard_passes(&guard, value);
}

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
    MUST(stored < 0 || guard_passes(program, machine.regs, entered.duration));
    return 0;
}
