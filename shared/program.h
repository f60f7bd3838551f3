/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * program.h - what a probe does on a hit
 *
 * A program is an array of instructions over TL_SLOTS slots of 64 bits. It loads
 * values, decides whether the hit is wanted, and stores fields one behind the
 * other; what it stored is the record. Jumps go forward only, so it ends after
 * as many steps as it has instructions. Running off its end is not possible: the
 * verifier wants TL_OP_ACCEPT or TL_OP_REJECT last.
 *
 * A read that fails marks the slot as faulted and leaves 0 in it. A load from a
 * faulted address faults. A comparison with a faulted slot does not jump. A
 * stored faulted slot is a zero, with bit N of TL_OP_PUT_FAULTS' word set for the
 * Nth TL_OP_PUT so far, from 0 (31 stands for all from the 31st).
 */
#ifndef TL_PROGRAM_H
#define TL_PROGRAM_H

#include <linux/types.h>
#include "record.h"

#define TL_SLOTS	16
#define TL_INSNS_MAX	256
#define TL_STR_MAX	1024	/* bytes of a string field, at most */
#define TL_ARGS_MAX	32	/* ABI arguments, those on the stack included */

enum tl_op {
	TL_OP_ACCEPT,		/* end: record what was stored */
	TL_OP_REJECT,		/* end: the hit is filtered */
	TL_OP_IMM,		/* dst = imm */
	TL_OP_REG,		/* dst = word imm of struct pt_regs; of this and the next two: its low
				 * size bytes, sign: flags; size 0: all 8
				 */
	TL_OP_ARG,		/* dst = ABI argument imm, from 0; at a function's entry only */
	TL_OP_RETVAL,		/* dst = return value; in return programs only */
	TL_OP_LOAD_KERNEL,	/* dst = size bytes at slot a + (signed) imm, sign: flags */
	TL_OP_LOAD_USER,	/* the same from the current task's memory */
	TL_OP_JMP,		/* skip the next jump instructions */
	TL_OP_JEQ,		/* and these when slot a is ... slot b */
	TL_OP_JNE,
	TL_OP_JLT,		/* unsigned */
	TL_OP_JLE,
	TL_OP_JSLT,		/* signed */
	TL_OP_JSLE,
	TL_OP_PUT,		/* store the low size bytes of slot a, padded to 4 */
	TL_OP_PUT_FAULTS,	/* store a u32: which stores were of faulted slots */
	TL_OP_STR_KERNEL,	/* store the string at slot a, at most imm bytes of it */
	TL_OP_STR_USER,
	TL_OP_DURATION,		/* dst = ticks since the entry; at a call's return only */
	TL_OP_FIELD,		/* dst = size bytes at imm of the entry's fields, sign: flags, size 0:
				 * 8; the same
				 */
	TL_OPS
};

#define TL_INSN_SIGNED	1	/* flags: extend the loaded value's sign */

struct tl_insn {
	__u8 op;		/* enum tl_op */
	__u8 dst;		/* slot */
	__u8 a;			/* slot */
	__u8 b;			/* slot */
	__u8 size;		/* 1, 2, 4 or 8 bytes; see TL_OP_REG for 0 */
	__u8 flags;
	__u16 jump;		/* instructions to skip */
	__u64 imm;
};

tl_static_assert(sizeof(struct tl_insn) == 16, "tl_insn");

/* Where a program runs: it decides what it may load. */
enum tl_site {
	TL_AT_ENTRY,		/* the first instruction of a function */
	TL_AT_OFFSET,		/* another instruction: registers only */
	TL_AT_RETURN,
	TL_AT_CALL_RETURN,	/* of a call whose entry was seen */
};

/* What the return of a call knows of its entry. */
struct tl_entered {
	const __u8 *fields;	/* what the entry program stored */
	__u64 duration;		/* ticks since */
};

#endif
