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
 *   static inline __u64 tl_task_value(__u64 which)
 *   static inline __u32 tl_stack(const struct tl_regs *regs, __u8 flags, __u8 *to, __u32 most,
 *				  __u32 *status)
 *
 * tl_arg() and the reads returning 0, or not 0 when the memory can't be read. tl_stack() puts
 * frames at @to, @most at most, and returns how many; @flags are TL_OP_STACK's, @status is to be
 * one of TL_STACK_*. The module and the unit tests differ in these alone.
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

/* Kernels have the upper half of the addresses, tasks the lower one. */
tl_inline int tl_is_user(__u64 address)
{
	return (__s64)address >= 0;
}

/* Length of the string in the first @n bytes, @n if its NUL is not among them. */
tl_inline __u32 tl_strnlen(const __u8 *s, __u32 n)
{
	__u32 i;

	for (i = 0; i < n && s[i]; i++)
		;
	return i;
}

/* Ends the string field at @to, of @length bytes; returns its end. */
tl_inline __u8 *tl_end_string(__u8 *to, __u32 status, __u32 length)
{
	__u32 end = 4 + tl_align4(length);

	tl_put_u32(to, status | length << 16);
	for (length += 4; length < end; length++)
		to[length] = 0;
	return to + end;
}

/* Bytes from @from on that can be read in one go: never across pages. */
tl_inline __u32 tl_piece(__u64 from, __u32 most)
{
	__u32 piece = TL_STR_PIECE - (__u32)(from & (TL_STR_PIECE - 1));

	return piece < most ? piece : most;
}

/*
 * Stores a string field of at most @max bytes at @to; returns its end. What lies before an
 * unreadable page is had. @array: there is no more than that.
 */
tl_inline __u8 *tl_put_string(__u8 *to, __u64 from, __u32 max, int user, int array)
{
	__u8 *bytes = to + 4;
	__u32 status = TL_STR_CUT;
	__u32 length = 0;

	if (!from)
		status = TL_STR_NULL;
	while (from && length < max) {
		__u32 piece = tl_piece(from + length, max - length);
		__u32 got;

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
	if (status == TL_STR_CUT && array) {
		status = TL_STR_WHOLE;
	} else if (status == TL_STR_CUT) {
		__u8 nul = 1;

		/* The room is full: whole if the next byte is the NUL. */
		if (!tl_read(user, &nul, from + length, 1) && !nul)
			status = TL_STR_WHOLE;
	}
	return tl_end_string(to, status, length);
}

/* The same of @n bytes, whatever they are. */
tl_inline __u8 *tl_put_bytes(__u8 *to, __u64 from, __u32 n)
{
	__u32 status = from ? TL_STR_WHOLE : TL_STR_NULL;
	__u32 length = 0;

	while (from && length < n) {
		__u32 piece = tl_piece(from + length, n - length);

		if (tl_read(tl_is_user(from), to + 4 + length, from + length, piece)) {
			status = TL_STR_FAULT;
			break;
		}
		length += piece;
	}
	return tl_end_string(to, status, length);
}

/*
 * Whether the string at @from is the text behind @insn, a TL_OP_MATCH; less than 0: so much of
 * it as decides that can't be read.
 */
tl_noinline int tl_match(const struct tl_insn *insn, __u64 from)
{
	__u8 bytes[TL_STR_PIECE];
	__u32 length = (__u32)insn->imm;
	__u32 room = (__u32)(insn->imm >> 32);
	__u32 end = length + 1;		/* with its NUL */
	__u32 at = 0;

	if (room && length > room)
		return 0;
	if (room && end > room)
		end = room;
	while (at < end) {
		__u32 piece = tl_piece(from + at, end - at);
		__u32 i;

		if (tl_read(tl_is_user(from), bytes, from + at, piece))
			return -1;
		for (i = 0; i < piece; i++, at++) {
			__u64 data = at < length ? insn[1 + at / 8].imm >> at % 8 * 8 : 0;

			if (bytes[i] != (__u8)data)
				return 0;
		}
	}
	return 1;
}

/* The low @size bytes of @value in the other order. */
tl_inline __u64 tl_swap(__u64 value, __u8 size)
{
	__u64 swapped = 0;

	for (; size; size--, value >>= 8)
		swapped = swapped << 8 | (value & 0xff);
	return swapped;
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

/* What is made of slot a's value alone. */
tl_inline __u64 tl_calculate(const struct tl_insn *insn, __u64 a)
{
	switch (insn->op) {
	case TL_OP_ADD:
		return a + insn->imm;
	case TL_OP_AND:
		return a & insn->imm;
	case TL_OP_SHL:
		return a << insn->imm;
	case TL_OP_SHR:
		return a >> insn->imm;
	case TL_OP_SAR:
		return (__u64)((__s64)a >> insn->imm);
	default:
		return tl_swap(a, insn->size);
	}
}

/* Whether the task's memory is read, or the kernel's. */
tl_inline int tl_loads_user(__u8 op, __u64 address)
{
	switch (op) {
	case TL_OP_LOAD:
	case TL_OP_STR:
		return tl_is_user(address);
	default:
		return op == TL_OP_LOAD_USER || op == TL_OP_STR_USER;
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
		case TL_OP_LOAD:
			value = slot[insn->a] + insn->imm;
			fault = faulted >> insn->a & 1 ||
				tl_read(tl_loads_user(insn->op, value), &value, value, insn->size);
			value = tl_extend(value, insn->size, insn->flags);
			break;
		case TL_OP_ADD:
		case TL_OP_AND:
		case TL_OP_SHL:
		case TL_OP_SHR:
		case TL_OP_SAR:
		case TL_OP_SWAP:
			fault = faulted >> insn->a & 1;
			value = tl_calculate(insn, slot[insn->a]);
			break;
		case TL_OP_TASK:
			value = tl_task_value(insn->imm);
			break;
		case TL_OP_MATCH: {
			int same = faulted >> insn->a & 1 ? -1 : tl_match(insn, slot[insn->a]);

			fault = same < 0;
			value = same > 0;
			break;
		}
		case TL_OP_DATA:
			continue;
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
		case TL_OP_STR:
		case TL_OP_BYTES:
			if (faulted >> insn->a & 1)
				at = tl_end_string(at, TL_STR_FAULT, 0);
			else if (insn->op == TL_OP_BYTES)
				at = tl_put_bytes(at, slot[insn->a], (__u32)insn->imm);
			else
				at = tl_put_string(at, slot[insn->a], (__u32)insn->imm,
						   tl_loads_user(insn->op, slot[insn->a]),
						   insn->flags & TL_INSN_ARRAY);
			continue;
		case TL_OP_STACK: {
			__u32 status;
			__u32 length = tl_stack(regs, insn->flags, at + 4, (__u32)insn->imm, &status);

			tl_put_u32(at, status | length << 16);
			at += 4 + 8 * length;
			continue;
		}
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
