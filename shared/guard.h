/* SPDX-License-Identifier: GPL-2.0 */
/*
 * guard.h - a program's beginning that compares one value with constants
 *
 * What most conditions are, or begin with. Whether they reject a hit need not be interpreted:
 * it depends on whether the value, as a number that wraps around, is in a range or two. The
 * same lines run in the module and in the unit tests.
 */
#ifndef TL_GUARD_H
#define TL_GUARD_H

#include "comm.h"
#include "program.h"

#define TL_GUARD_RANGES		2	/* of values that pass, at most */
#define TL_GUARD_CONSTANTS	8	/* that a value is compared with, at most */

/* Values that wrap around: from base to base + span. */
struct tl_range {
	__u64 base;
	__u64 span;
};

struct tl_guard {
	__u64 mask;		/* of the value's bytes that count */
	__u64 flip;		/* of these the sign's bit, where it has one */
	struct tl_range range;	/* of those that pass; all that aren't in it are told by one look */
	__u64 hole;		/* where in it those that don't begin */
	__u64 hole_size;	/* how many these are; 0: none */
	struct tl_comm comm;	/* tl_guard_is_text(): the value is whether that's the task's name */
};

/*
 * Whether the program may go on where the first instruction loads @value; 0: it rejects the hit.
 */
tl_inline int tl_guard_passes(const struct tl_guard *guard, __u64 value)
{
	value = (value & guard->mask) ^ guard->flip;
	return value - guard->range.base <= guard->range.span &&
	       value - guard->hole >= guard->hole_size;
}

/* Whether a verified program's first value is whether the task has a certain name. */
tl_inline int tl_guard_is_text(const struct tl_insn *insns)
{
	return insns[0].op == TL_OP_TASK && insns[0].imm == TL_TASK_COMM;
}

/* Whether the interpreter narrows what @op loads. */
tl_inline int tl_guard_narrows(__u8 op)
{
	return op == TL_OP_ARG || op == TL_OP_REG || op == TL_OP_RETVAL;
}

/* The instructions at the beginning of a verified program that make its first value; 0: others. */
tl_inline __u32 tl_guard_source(const struct tl_insn *insns)
{
	if (tl_guard_narrows(insns[0].op))
		return insns[1].op == TL_OP_ADD ? 2 : 1;
	switch (insns[0].op) {
	case TL_OP_DURATION:
		return 1;
	case TL_OP_TASK:
		if (!tl_guard_is_text(insns))
			return 1;
		return insns[1].op == TL_OP_MATCH ? 2 + tl_match_data(&insns[1]) : 0;
	default:
		return 0;
	}
}

/* Whether the @n instructions at @a and at @b make the same value, each in one slot. */
tl_inline int tl_guard_same(const struct tl_insn *a, const struct tl_insn *b, __u32 n)
{
	__u32 i;

	for (i = 0; i < n; i++)
		if (a[i].op != b[i].op || a[i].size != b[i].size || a[i].flags != b[i].flags ||
		    a[i].imm != b[i].imm)
			return 0;
	return n == 1 || (a[1].a == a[0].dst && a[1].dst == a[0].dst);
}

/*
 * Whether a verified program goes on behind its first @n instructions, or to wherever these jump,
 * where the @source first of them make @value.
 */
tl_inline int tl_guard_goes_on(const struct tl_insn *insns, __u32 n, __u32 source, __u64 value)
{
	__u64 slot[TL_SLOTS] = { 0 };
	__u32 i;

	for (i = 0; i < n; i++) {
		const struct tl_insn *insn = &insns[i];

		if (tl_op_compares(insn->op)) {
			if (tl_compare(insn->op, slot[insn->a], slot[insn->b]))
				i += insn->jump;
			continue;
		}
		switch (insn->op) {
		case TL_OP_REJECT:
			return 0;
		case TL_OP_IMM:
			slot[insn->dst] = insn->imm;
			break;
		case TL_OP_JMP:
			i += insn->jump;
			break;
		default:
			if (i + source > n || !tl_guard_same(insn, insns, source))
				return 1;	/* jumped into the middle of one */
			slot[insn->dst] = value;
			i += source - 1;
		}
	}
	return insns[i].op != TL_OP_REJECT;
}

/* Puts @value among the @n sorted ones, unless it is there; returns how many there are then. */
tl_inline __u32 tl_guard_insert(__u64 *values, __u32 n, __u64 value)
{
	__u32 at = n;
	__u32 i;

	while (at && values[at - 1] >= value)
		at--;
	if (at < n && values[at] == value)
		return n;
	for (i = n; i > at; i--)
		values[i] = values[i - 1];
	values[at] = value;
	return n + 1;
}

/* Takes what @match, a TL_OP_MATCH, looks for; 0: no name is that, or ends so. */
tl_inline int tl_guard_text(struct tl_guard *guard, const struct tl_insn *match)
{
	const __u32 length = (__u32)match->imm;
	const __u32 room = (__u32)(match->imm >> 32);
	__u32 i;

	if (length >= TL_COMM_SIZE || (room && room <= length))
		return 0;
	guard->comm = (struct tl_comm){ { 0 }, { 0 } };
	for (i = 0; i < length; i++)
		tl_comm_want(&guard->comm, i, (__u8)(match[1 + i / 8].imm >> i % 8 * 8));
	tl_comm_want(&guard->comm, length, 0);
	return 1;
}

/*
 * Whether @n verified instructions begin with comparisons of one value with constants, on which
 * it depends whether the hit is rejected: then @guard stands for these.
 */
tl_inline int tl_guard_of(struct tl_guard *guard, const struct tl_insn *insns, __u32 n)
{
	/* Between one of these and the next all values fare alike: comparisons are of either kind. */
	__u64 from[2 + 2 * TL_GUARD_CONSTANTS] = { 0, 1ULL << 63 };
	struct tl_range ranges[TL_GUARD_RANGES + 1];
	const __u32 source = tl_guard_source(insns);
	__u32 constants = 0;
	__u32 count = 2;
	__u32 found = 0;
	__u64 shift;
	__u32 end;
	__u32 i;

	if (!source)
		return 0;
	for (end = 0; end < n; end++) {
		const struct tl_insn *insn = &insns[end];

		if (insn->op == TL_OP_IMM) {
			if (++constants > TL_GUARD_CONSTANTS)
				break;
			count = tl_guard_insert(from, count, insn->imm);
			count = tl_guard_insert(from, count, insn->imm + 1);
		} else if (insn->op != TL_OP_REJECT && insn->op != TL_OP_JMP &&
			   !tl_op_compares(insn->op)) {
			if (end + source > n || !tl_guard_same(insn, insns, source))
				break;
			end += source - 1;
		}
	}
	for (i = 0; i < count; i++) {
		const __u64 span = (i + 1 < count ? from[i + 1] : 0) - from[i] - 1;

		if (!tl_guard_goes_on(insns, end, source, from[i]))
			continue;
		if (found && ranges[found - 1].base + ranges[found - 1].span + 1 == from[i]) {
			ranges[found - 1].span += span + 1;
			continue;
		}
		if (found == TL_GUARD_RANGES + 1)
			return 0;
		ranges[found].base = from[i];
		ranges[found++].span = span;
	}
	/* The last and the first may be one. */
	if (found > 1 && ranges[0].base == 0 && ranges[found - 1].base + ranges[found - 1].span == ~0ULL) {
		ranges[0].base = ranges[--found].base;
		ranges[0].span += ranges[found].span + 1;
	}
	if (!found || found > TL_GUARD_RANGES || ranges[0].span == ~0ULL)
		return 0;
	guard->mask = ~0ULL;
	guard->flip = 0;
	if (tl_guard_narrows(insns[0].op) && insns[0].size && insns[0].size != 8) {
		guard->mask >>= 64 - 8 * insns[0].size;
		if (insns[0].flags & TL_INSN_SIGNED)
			guard->flip = 1ULL << (8 * insns[0].size - 1);
	}
	/* Flipping the sign's bit has added it. */
	shift = guard->flip;
	if (source == 2 && insns[1].op == TL_OP_ADD)
		shift -= insns[1].imm;
	guard->range.base = ranges[0].base + shift;
	guard->range.span = ranges[found - 1].base + ranges[found - 1].span - ranges[0].base;
	guard->hole = guard->range.base + ranges[0].span + 1;
	guard->hole_size = found == 1 ? 0 : ranges[1].base + shift - guard->hole;
	return tl_guard_is_text(insns) ? tl_guard_text(guard, &insns[1]) : 1;
}

#endif
