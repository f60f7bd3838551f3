/* SPDX-License-Identifier: GPL-2.0 */
/*
 * interpreter.h - runs a verified program
 *
 * Whoever includes this defines before, for its own kind of registers and memory,
 *
 *   struct tl_regs
 *   static inline __u64 tl_reg(const struct tl_regs *regs, __u64 n)
 *   static inline __u64 tl_retval(const struct tl_regs *regs)
 *   static inline int tl_arg(const struct tl_regs *regs, __u64 n, __u64 *value)
 *   static inline int tl_read_kernel(void *to, __u64 from, __u32 n)
 *   static inline int tl_read_user(void *to, __u64 from, __u32 n)
 *
 * the last three returning 0, or not 0 when the memory can't be read. The module
 * and the unit tests differ in these alone.
 */
#ifndef TL_INTERPRETER_H
#define TL_INTERPRETER_H

#include "program.h"

#define TL_REJECTED	(-1)

/* Strings are read in aligned pieces: small, for most strings are, and never across pages. */
#define TL_STR_PIECE	64

tl_inline int tl_read(int user, void *to, __u64 from, __u32 n)
{
	return user ? tl_read_user(to, from, n) : tl_read_kernel(to, from, n);
}

/* Length of the string in the first @n bytes, @n if its NUL is not among them. */
tl_inline __u32 tl_strnlen(const __u8 *s, __u32 n)
{
	__u32 i;

	for (i = 0; i < n && s[i]; i++)
		;
	return i;
}

/*
 * Stores a string field of at most @max bytes at @to; returns its end. Reads never
 * cross a page in one go, so what lies before an unreadable page is had.
 */
tl_inline __u8 *tl_put_string(__u8 *to, __u64 from, __u32 max, int user)
{
	__u8 *bytes = to + 4;
	__u32 status = TL_STR_CUT;
	__u32 length = 0;
	__u32 end;

	if (!from)
		status = TL_STR_NULL;
	while (from && length < max) {
		__u32 piece = TL_STR_PIECE - (__u32)((from + length) & (TL_STR_PIECE - 1));
		__u32 got;

		if (piece > max - length)
			piece = max - length;
		if (tl_read(user, bytes + length, from + length, piece)) {
			status = TL_STR_FAULT;
			break;
		}
		got = tl_strnlen(bytes + length, piece);
		length += got;
		if (got < piece) {
			status = TL_STR_WHOLE;
			break;
		}
	}
	if (status == TL_STR_CUT) {
		__u8 nul = 1;

		/* The room is full: whole if the next byte is the NUL. */
		if (!tl_read(user, &nul, from + length, 1) && !nul)
			status = TL_STR_WHOLE;
	}
	end = 4 + tl_align4(length);
	tl_put_u32(to, status | length << 16);
	for (length += 4; length < end; length++)
		to[length] = 0;
	return to + end;
}

tl_inline __u64 tl_extend(__u64 value, __u8 size, __u8 flags)
{
	__u32 spare = 64 - 8 * size;

	if (flags & TL_INSN_SIGNED)
		return (__u64)((__s64)(value << spare) >> spare);
	return value << spare >> spare;
}

/* A register's or argument's value, or what of it @insn asks for. */
tl_inline __u64 tl_narrow(__u64 value, const struct tl_insn *insn)
{
	return insn->size ? tl_extend(value, insn->size, insn->flags) : value;
}

/* A number among the entry's fields. */
tl_inline __u64 tl_field(const __u8 *field, const struct tl_insn *insn)
{
	if (insn->size == 0 || insn->size == 8)
		return tl_get_u64(field);
	return tl_extend(tl_get_u32(field), insn->size, insn->flags);
}

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

/*
 * Runs a program that tl_verify() let pass. @entered is looked at in programs for
 * TL_AT_CALL_RETURN only. Returns the bytes of fields stored at @to (room: what the
 * verdict said), or TL_REJECTED.
 */
tl_noinline int tl_run(const struct tl_insn *insn, const struct tl_regs *regs,
		       const struct tl_entered *entered, __u8 *to)
{
	__u64 slot[TL_SLOTS];
	__u8 *at = to;
	__u32 faulted = 0;	/* bit n: slot n */
	__u32 faults = 0;	/* bit n: the nth PUT */
	__u32 puts = 0;

	for (;; insn++) {
		__u64 value = 0;
		int fault = 0;

		switch (insn->op) {
		case TL_OP_ACCEPT:
			return (int)(at - to);
		case TL_OP_REJECT:
			return TL_REJECTED;
		case TL_OP_IMM:
			value = insn->imm;
			break;
		case TL_OP_REG:
			value = tl_narrow(tl_reg(regs, insn->imm), insn);
			break;
		case TL_OP_ARG:
			fault = tl_arg(regs, insn->imm, &value);
			value = tl_narrow(value, insn);
			break;
		case TL_OP_RETVAL:
			value = tl_narrow(tl_retval(regs), insn);
			break;
		case TL_OP_DURATION:
			value = entered->duration;
			break;
		case TL_OP_FIELD:
			value = tl_field(entered->fields + insn->imm, insn);
			break;
		case TL_OP_LOAD_KERNEL:
		case TL_OP_LOAD_USER:
			fault = faulted >> insn->a & 1 ||
				tl_read(insn->op == TL_OP_LOAD_USER, &value,
					slot[insn->a] + insn->imm, insn->size);
			value = tl_extend(value, insn->size, insn->flags);
			break;
		case TL_OP_JMP:
			insn += insn->jump;
			continue;
		case TL_OP_PUT:
			if (faulted >> insn->a & 1)
				faults |= 1U << (puts < 31 ? puts : 31);
			puts++;
			value = tl_extend(slot[insn->a], insn->size, 0);
			if (insn->size == 8) {
				tl_put_u64(at, value);
				at += 8;
			} else {
				tl_put_u32(at, (__u32)value);
				at += 4;
			}
			continue;
		case TL_OP_PUT_FAULTS:
			tl_put_u32(at, faults);
			at += 4;
			continue;
		case TL_OP_STR_KERNEL:
		case TL_OP_STR_USER:
			if (faulted >> insn->a & 1) {
				tl_put_u32(at, TL_STR_FAULT);
				at += 4;
				continue;
			}
			at = tl_put_string(at, slot[insn->a], (__u32)insn->imm,
					   insn->op == TL_OP_STR_USER);
			continue;
		default:
			if (!((faulted >> insn->a | faulted >> insn->b) & 1) &&
			    tl_compare(insn->op, slot[insn->a], slot[insn->b]))
				insn += insn->jump;
			continue;
		}
		if (fault) {
			value = 0;
			faulted |= 1U << insn->dst;
		} else {
			faulted &= ~(1U << insn->dst);
		}
		slot[insn->dst] = value;
	}
}

#endif
