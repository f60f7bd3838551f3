/* SPDX-License-Identifier: GPL-2.0 */
/*
 * verifier.h - decides whether a program may run
 *
 * One pass: jumps only go forward, so the slots surely written before an
 * instruction are the intersection over everything that leads to it. The same
 * lines run in the module, in the tool and under the fuzzer.
 */
#ifndef TL_VERIFIER_H
#define TL_VERIFIER_H

#include "program.h"

/* Why, and at which instruction, a program was refused. */
struct tl_verdict {
	const char *text;	/* static; 0 for a program that may run */
	__u32 insn;
	__u32 size;		/* bytes it stores at most, kept or not, if it may run */
	__u32 least;		/* bytes it stores at least, if it accepts */
};

/* For one run of the verifier: 2 KiB or so, too much for a kernel stack. */
struct tl_verifier {
	__u32 slots[TL_INSNS_MAX + 1];	/* bit n: slot n was surely written */
	__u16 stored[TL_INSNS_MAX + 1];	/* bytes stored at most */
	__u16 least[TL_INSNS_MAX + 1];	/* and at least */
	__u8 reached[TL_INSNS_MAX + 1];
};

tl_inline void tl_verifier_join(struct tl_verifier *v, __u32 to, __u32 slots, __u32 stored,
				__u32 least)
{
	if (!v->reached[to]) {
		v->reached[to] = 1;
		v->slots[to] = slots;
		v->stored[to] = (__u16)stored;
		v->least[to] = (__u16)least;
		return;
	}
	v->slots[to] &= slots;
	if (stored > v->stored[to])
		v->stored[to] = (__u16)stored;
	if (least < v->least[to])
		v->least[to] = (__u16)least;
}

tl_inline int tl_is_size(__u8 size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Whether @insn has a size that it can have; of what has one of its own, 0 means all of it. */
tl_inline int tl_insn_has_size(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_LOAD_KERNEL:
	case TL_OP_LOAD_USER:
	case TL_OP_LOAD:
	case TL_OP_PUT:
	case TL_OP_SWAP:
		return tl_is_size(insn->size);
	case TL_OP_REG:
	case TL_OP_ARG:
	case TL_OP_RETVAL:
	case TL_OP_FIELD:
		return insn->size == 0 || tl_is_size(insn->size);
	default:
		return 1;
	}
}

/* The flags that @insn can have. */
tl_inline __u8 tl_insn_flags(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_STR_KERNEL:
	case TL_OP_STR_USER:
	case TL_OP_STR:
		return TL_INSN_ARRAY;
	case TL_OP_STACK:
		return TL_INSN_AT_ENTRY | TL_INSN_AT_RETURN;
	default:
		return TL_INSN_SIGNED;
	}
}

/* The bytes that TL_OP_FIELD reads: a smaller number has zeros behind it. */
tl_inline __u32 tl_field_bytes(__u8 size)
{
	return size == 0 || size == 8 ? 8 : 4;
}

/* What @insn reads: bit n for slot n. */
tl_inline __u32 tl_insn_reads(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_LOAD_KERNEL:
	case TL_OP_LOAD_USER:
	case TL_OP_PUT:
	case TL_OP_STR_KERNEL:
	case TL_OP_STR_USER:
	case TL_OP_LOAD:
	case TL_OP_STR:
	case TL_OP_BYTES:
	case TL_OP_ADD:
	case TL_OP_AND:
	case TL_OP_SHL:
	case TL_OP_SHR:
	case TL_OP_SAR:
	case TL_OP_SWAP:
	case TL_OP_MATCH:
		return 1U << insn->a;
	default:
		return tl_op_compares(insn->op) ? 1U << insn->a | 1U << insn->b : 0;
	}
}

/* One instruction by itself: 0, or what is wrong with it. */
tl_inline const char *tl_insn_check(const struct tl_insn *insn, enum tl_site site, __u32 regs,
				    __u32 fields)
{
	if (insn->op >= TL_OPS)
		return "unknown opcode";
	if (insn->dst >= TL_SLOTS || insn->a >= TL_SLOTS || insn->b >= TL_SLOTS)
		return "no such slot";
	if (insn->flags & ~tl_insn_flags(insn))
		return "unknown flags";
	if (!tl_insn_has_size(insn))
		return "a size is 1, 2, 4 or 8";

	switch (insn->op) {
	case TL_OP_REG:
		return insn->imm < regs ? 0 : "no such register";
	case TL_OP_ARG:
		if (site != TL_AT_ENTRY)
			return "arguments can be loaded at a function's entry only";
		return insn->imm < TL_ARGS_MAX ? 0 : "no such argument";
	case TL_OP_RETVAL:
		return site == TL_AT_RETURN || site == TL_AT_CALL_RETURN ? 0 :
		       "the return value can be loaded at a return only";
	case TL_OP_DURATION:
		return site == TL_AT_CALL_RETURN ? 0 :
		       "the duration can be loaded at a call's return only";
	case TL_OP_FIELD:
		if (site != TL_AT_CALL_RETURN)
			return "the entry's fields can be loaded at a call's return only";
		return fields >= tl_field_bytes(insn->size) &&
		       insn->imm <= fields - tl_field_bytes(insn->size) ? 0 :
		       "the entry may not have stored that field";
	case TL_OP_STR_KERNEL:
	case TL_OP_STR_USER:
	case TL_OP_STR:
	case TL_OP_BYTES:
		return insn->imm >= 1 && insn->imm <= TL_STR_MAX ? 0 :
		       "a string has room for 1 to 4096 bytes";
	case TL_OP_SHL:
	case TL_OP_SHR:
	case TL_OP_SAR:
		return insn->imm < 64 ? 0 : "a shift is by less than 64 bits";
	case TL_OP_STACK:
		if (insn->flags != tl_stack_flags(site))
			return "a stack's flags are those of another site";
		return insn->imm >= 1 && insn->imm <= TL_STACK_MAX ? 0 :
		       "a stack has room for 1 to 127 frames";
	case TL_OP_TASK:
		return insn->imm < TL_TASK_WORDS ? 0 : "nothing such is known of a task";
	case TL_OP_MATCH:
		return (__u32)insn->imm <= TL_MATCH_MAX ? 0 :
		       "a text to look for has 128 bytes at most";
	default:
		return 0;
	}
}

/* Whether @n instructions, of which @insn is the ith, have its text. */
tl_inline int tl_match_is_whole(const struct tl_insn *insn, __u32 i, __u32 n)
{
	__u32 data = tl_match_data(insn);
	__u32 k;

	if (data >= n - i)
		return 0;
	for (k = 1; k <= data; k++)
		if (insn[k].op != TL_OP_DATA)
			return 0;
	return 1;
}

tl_inline struct tl_verdict tl_refuse(const char *why, __u32 insn)
{
	struct tl_verdict verdict = {};

	verdict.text = why;
	verdict.insn = insn;
	return verdict;
}

/*
 * Verifies @n instructions for @site, where struct pt_regs has @regs words and the entry's
 * program, for TL_AT_CALL_RETURN, stored @fields bytes at least. @v is scratch memory.
 */
tl_noinline struct tl_verdict tl_verify(struct tl_verifier *v, const struct tl_insn *insns,
					__u32 n, enum tl_site site, __u32 regs, __u32 fields)
{
	struct tl_verdict verdict = {};
	int accepts = 0;
	__u32 i;

	if (n == 0)
		return tl_refuse("a program has at least one instruction", 0);
	if (n > TL_INSNS_MAX)
		return tl_refuse("a program has at most 256 instructions", 0);
	for (i = 0; i <= n; i++)
		v->reached[i] = 0;
	tl_verifier_join(v, 0, 0, 0, 0);

	for (i = 0; i < n; i++) {
		const struct tl_insn *insn = &insns[i];
		const char *why = tl_insn_check(insn, site, regs, fields);
		__u32 slots = v->slots[i];
		__u32 stored, least;

		if (why)
			return tl_refuse(why, i);
		if (!v->reached[i])
			return tl_refuse("unreachable instruction", i);
		if (tl_insn_reads(insn) & ~slots)
			return tl_refuse("reads a slot that may not have been written", i);
		if (insn->op == TL_OP_MATCH && !tl_match_is_whole(insn, i, n))
			return tl_refuse("lacks the text to look for", i);
		stored = v->stored[i] + tl_insn_stores(insn);
		if (stored > TL_FIELDS_MAX)
			return tl_refuse("stores more than 8000 bytes", i);
		least = v->least[i] + tl_insn_stores_least(insn);
		/* Also where it ends in REJECT: what is stored until then takes room. */
		if (stored > verdict.size)
			verdict.size = stored;

		if (insn->op == TL_OP_JMP || tl_op_compares(insn->op)) {
			if (i + 1 + insn->jump >= n)
				return tl_refuse("jumps past the end", i);
			tl_verifier_join(v, i + 1 + insn->jump, slots, stored, least);
		}
		switch (insn->op) {
		case TL_OP_ACCEPT:
			if (!accepts || least < verdict.least)
				verdict.least = least;
			accepts = 1;
			continue;
		case TL_OP_REJECT:
		case TL_OP_JMP:
			continue;
		case TL_OP_IMM:
		case TL_OP_REG:
		case TL_OP_ARG:
		case TL_OP_RETVAL:
		case TL_OP_LOAD_KERNEL:
		case TL_OP_LOAD_USER:
		case TL_OP_DURATION:
		case TL_OP_FIELD:
		case TL_OP_LOAD:
		case TL_OP_ADD:
		case TL_OP_AND:
		case TL_OP_SHL:
		case TL_OP_SHR:
		case TL_OP_SAR:
		case TL_OP_SWAP:
		case TL_OP_TASK:
		case TL_OP_MATCH:
			slots |= 1U << insn->dst;
			break;
		default:
			break;
		}
		if (i + 1 == n)
			return tl_refuse("runs off its end", i);
		tl_verifier_join(v, i + 1, slots, stored, least);
	}
	return verdict;
}

#endif
