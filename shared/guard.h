/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard.h - a program's beginning that compares one value with a constant
 *
 * What most conditions are. It need not be interpreted: whether a hit is wanted is whether the
 * value, as a number that wraps around, is in a range. The same lines run in the module and in the
 * unit tests.
 */
#ifndef TL_GUARD_H
#define TL_GUARD_H

#include "program.h"

/* Instructions: load, TL_OP_IMM, a comparison that skips TL_OP_REJECT. */
#define TL_GUARD_INSNS	4

struct tl_guard {
	__u64 mask;		/* of the value's bytes that count */
	__u64 flip;		/* of these the sign's bit, where it has one */
	__u64 base;
	__u64 span;
};

/* Whether the program goes on where the first instruction loads @value. */
tl_inline int tl_guard_passes(const struct tl_guard *guard, __u64 value)
{
	return ((value & guard->mask) ^ guard->flip) - guard->base <= guard->span;
}

/* The values from @from to @to, which is not before it. */
tl_inline void tl_guard_range(struct tl_guard *guard, __u64 from, __u64 to)
{
	guard->base = from;
	guard->span = to - from;
}

/* Those that compare with @constant as they must; 0: none do. @first: the constant stands first. */
tl_inline int tl_guard_compare(struct tl_guard *guard, __u8 op, __u64 constant, int first)
{
	const int is_signed = op == TL_OP_JSLT || op == TL_OP_JSLE;
	const __u64 least = is_signed ? 1ULL << 63 : 0;
	const __u64 most = least - 1;

	switch (op) {
	case TL_OP_JEQ:
		tl_guard_range(guard, constant, constant);
		return 1;
	case TL_OP_JNE:
		tl_guard_range(guard, constant + 1, constant - 1);
		return 1;
	case TL_OP_JLT:
	case TL_OP_JSLT:
		if (constant == (first ? most : least))
			return 0;
		constant += first ? 1 : -1ULL;
		break;
	case TL_OP_JLE:
	case TL_OP_JSLE:
		break;
	default:
		return 0;
	}
	if (first)
		tl_guard_range(guard, constant, most);
	else
		tl_guard_range(guard, least, constant);
	return 1;
}

/* Whether @n verified instructions begin with such a comparison: then @guard stands for it. */
tl_inline int tl_guard_of(struct tl_guard *guard, const struct tl_insn *insns, __u32 n)
{
	const struct tl_insn *load = &insns[0];
	const struct tl_insn *constant = &insns[1];
	const struct tl_insn *compare = &insns[2];
	int first;

	if (n <= TL_GUARD_INSNS || constant->op != TL_OP_IMM || load->dst == constant->dst ||
	    insns[3].op != TL_OP_REJECT || compare->jump != 1)
		return 0;
	if (load->op != TL_OP_ARG && load->op != TL_OP_REG)
		return 0;
	first = compare->a == constant->dst;
	if (compare->a != (first ? constant->dst : load->dst) ||
	    compare->b != (first ? load->dst : constant->dst))
		return 0;
	if (!tl_guard_compare(guard, compare->op, constant->imm, first))
		return 0;
	guard->mask = ~0ULL;
	guard->flip = 0;
	if (load->size && load->size != 8) {
		guard->mask >>= 64 - 8 * load->size;
		if (load->flags & TL_INSN_SIGNED)
			guard->flip = 1ULL << (8 * load->size - 1);
	}
	/* Flipping the sign's bit has added it. */
	guard->base += guard->flip;
	return 1;
}

#endif
