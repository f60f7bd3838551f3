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
 * A read that fails marks the slot as faulted and leaves 0 in it, and so does
 * whatever is made of a faulted slot. A comparison with one does not jump. A
 * stored faulted slot is a zero, with bit N of TL_OP_PUT_FAULTS' word set for the
 * Nth TL_OP_PUT so far, from 0 (31 stands for all from the 31st).
 */
#ifndef TL_PROGRAM_H
#define TL_PROGRAM_H

#include <linux/types.h>
#include "record.h"

#define TL_SLOTS	16
#define TL_INSNS_MAX	256
#define TL_STR_MAX	4096	/* bytes of a string field, at most */
#define TL_ARGS_MAX	32	/* ABI arguments, those on the stack included */
#define TL_STACK_MAX	127	/* frames of a stack, at most */
#define TL_MATCH_MAX	128	/* bytes of a text that TL_OP_MATCH looks for, at most */

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
	TL_OP_LOAD,		/* TL_OP_LOAD_KERNEL where the address is in the upper half, else
				 * TL_OP_LOAD_USER
				 */
	TL_OP_STR,		/* TL_OP_STR_KERNEL or TL_OP_STR_USER, likewise */
	TL_OP_BYTES,		/* store imm bytes at slot a, NULs and all, as a string; likewise */
	TL_OP_ADD,		/* dst = slot a + imm */
	TL_OP_AND,		/* dst = slot a & imm */
	TL_OP_SHL,		/* dst = slot a shifted by imm bits */
	TL_OP_SHR,
	TL_OP_SAR,		/* with its sign */
	TL_OP_SWAP,		/* dst = the low size bytes of slot a, in the other order */
	TL_OP_TASK,		/* dst = enum tl_task_word imm */
	TL_OP_MATCH,		/* dst = 1 if the string at slot a, in the half that it is in, is the
				 * text in the TL_OP_DATA behind this, else 0. imm: the text's length,
				 * | bytes << 32: the string ends there, with a NUL or without
				 */
	TL_OP_DATA,		/* nothing is done: 8 bytes for TL_OP_MATCH */
	TL_OP_STACK,		/* store the kernel's stack above the function, at most imm frames of it,
				 * the caller first; flags: the site that the program is for
				 */
	TL_OPS
};

/* flags */
#define TL_INSN_SIGNED	1	/* extend the loaded value's sign */
#define TL_INSN_ARRAY	2	/* of TL_OP_STR*: what fills its imm bytes is whole without a NUL */
#define TL_INSN_AT_ENTRY	4	/* of TL_OP_STACK: at the first instruction of a function */
#define TL_INSN_AT_RETURN	8	/* of TL_OP_STACK: at a return */

/* Of the current task. */
enum tl_task_word {
	TL_TASK_TGID,
	TL_TASK_TID,
	TL_TASK_UID,		/* in the first user namespace */
	TL_TASK_CPU,		/* that it is on */
	TL_TASK_COMM,		/* the address of its name, TL_COMM_SIZE bytes */
	TL_TASK_WORDS
};

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

/* Whether it is a jump that compares two slots. */
tl_inline int tl_op_compares(__u8 op)
{
	return op >= TL_OP_JEQ && op <= TL_OP_JSLE;
}

/* The bytes that @insn stores at most. */
tl_inline __u32 tl_insn_stores(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_PUT:
		return tl_align4(insn->size);
	case TL_OP_PUT_FAULTS:
		return 4;
	case TL_OP_STR_KERNEL:
	case TL_OP_STR_USER:
	case TL_OP_STR:
	case TL_OP_BYTES:
		return 4 + tl_align4((__u32)insn->imm);
	case TL_OP_STACK:
		return 4 + 8 * (__u32)insn->imm;
	default:
		return 0;
	}
}

/* And at least: of a string or a stack only its status and length are sure. */
tl_inline __u32 tl_insn_stores_least(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_STR_KERNEL:
	case TL_OP_STR_USER:
	case TL_OP_STR:
	case TL_OP_BYTES:
	case TL_OP_STACK:
		return 4;
	default:
		return tl_insn_stores(insn);
	}
}

/* And has stored, if that varies: what begins with the word @begin. */
tl_inline __u32 tl_insn_stored(const struct tl_insn *insn, __u32 begin)
{
	__u32 length = begin >> 16;

	return 4 + (insn->op == TL_OP_STACK ? 8 * length : tl_align4(length));
}

/* The TL_OP_DATA that follow a TL_OP_MATCH. */
tl_inline __u32 tl_match_data(const struct tl_insn *insn)
{
	return ((__u32)insn->imm + 7) / 8;
}

/* Whether a jump that compares is taken. */
tl_inline int tl_compare(__u8 op, __u64 a, __u64 b)
{
	switch (op) {
	case TL_OP_JEQ:
		return a == b;
	case TL_OP_JNE:
		return a != b;
	case TL_OP_JLT:
		return a < b;
	case TL_OP_JLE:
		return a <= b;
	case TL_OP_JSLT:
		return (__s64)a < (__s64)b;
	default:
		return (__s64)a <= (__s64)b;
	}
}

/* Where a program runs: it decides what it may load. */
enum tl_site {
	TL_AT_ENTRY,		/* the first instruction of a function */
	TL_AT_OFFSET,		/* another instruction: registers only */
	TL_AT_RETURN,
	TL_AT_CALL_RETURN,	/* of a call whose entry was seen */
};

/* The flags that a TL_OP_STACK has at @site. */
tl_inline __u8 tl_stack_flags(enum tl_site site)
{
	switch (site) {
	case TL_AT_ENTRY:
		return TL_INSN_AT_ENTRY;
	case TL_AT_OFFSET:
		return 0;
	default:
		return TL_INSN_AT_RETURN;
	}
}

/* What the return of a call knows of its entry. */
struct tl_entered {
	const __u8 *fields;	/* what the entry program stored */
	__u64 duration;		/* ticks since */
};

#endif
