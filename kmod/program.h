/* SPDX-License-Identifier: GPL-2.0 */
/* program.h - a probe's programs in the module: taken in, verified, run */
#ifndef TL_KMOD_PROGRAM_H
#define TL_KMOD_PROGRAM_H

#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "machine.h"
#include "shared/guard.h"

/* Words of pt_regs that a shape without a program can store. */
#define TL_WORDS_MAX	12

/* What a program does, so that the common ones need not be interpreted. */
enum tl_shape {
	TL_SHAPE_PROGRAM,	/* anything: interpret it */
	TL_SHAPE_WORDS,		/* stores registers: words[], nothing else */
	TL_SHAPE_ARGS,		/* stores the first arguments in order, up to six */
	TL_SHAPE_PARTS,		/* stores registers, some in part: words[], nothing else */
};

/* The value that decides whether a program rejects a hit at its beginning. */
enum tl_guarded {
	TL_GUARDED_NOT,		/* there is none such */
	TL_GUARDED_WORD,	/* guard_value: offset in struct pt_regs, bytes */
	TL_GUARDED_ID,		/* guard_value: offset of a pid_t in struct task_struct, bytes */
	TL_GUARDED_UID,
	TL_GUARDED_CPU,
	TL_GUARDED_COMM,	/* whether the task has the name in guard */
	TL_GUARDED_DURATION,	/* at a call's return only */
};

struct tl_program {
	struct tl_insn *insns;		/* NULL: nothing to run, nothing stored */
	u32 count;			/* of insns */
	u32 size;			/* bytes of fields at most */
	u32 least;			/* and at least, of a hit that is recorded */
	u8 shape;			/* enum tl_shape */
	u8 guarded;			/* enum tl_guarded */
	u8 words_count;			/* of any shape but TL_SHAPE_PROGRAM */
	u16 guard_value;
	struct tl_guard guard;
	u16 words[TL_WORDS_MAX];	/* offsets in struct pt_regs, bytes | the size to store */
};

/* Of words[]: the size, 0 for 8 bytes. Offsets are multiples of 8. */
#define TL_WORD_SIZE	7

int tl_program_load(struct tl_program *program, const void *insns, u32 bytes, enum tl_site site,
		    u32 entry_least, char *text, size_t text_size);
void tl_program_free(struct tl_program *program);
int tl_program_run(const struct tl_program *program, struct pt_regs *regs,
		   const struct tl_entered *entered, bool user, u8 *to);

/* What a guarded program's guard decides by, unless that is a duration. */
static __always_inline u64 tl_guarded_value(const struct tl_program *program,
					    const struct pt_regs *regs)
{
	switch (program->guarded) {
	case TL_GUARDED_WORD:
		return *(const u64 *)((const u8 *)regs + program->guard_value);
	case TL_GUARDED_ID:
		return *(const pid_t *)((const u8 *)current + program->guard_value);
	case TL_GUARDED_UID:
		return __kuid_val(current_uid());
	case TL_GUARDED_CPU:
		return raw_smp_processor_id();
	default:
		return tl_comm_is(&program->guard.comm, tl_get_u64(current->comm),
				  tl_get_u64(current->comm + sizeof(u64)));
	}
}

/* Whether a guarded program would reject the hit right at its beginning, whatever its duration. */
static __always_inline bool tl_program_guards(const struct tl_program *program,
					      const struct pt_regs *regs)
{
	return !tl_guard_passes(&program->guard, tl_guarded_value(program, regs));
}

/* Stores the fields of TL_SHAPE_WORDS; returns their end. */
static __always_inline u8 *tl_program_words(const struct tl_program *program,
					    const struct pt_regs *regs, u8 *to)
{
	const u16 *word = program->words;
	const u16 *end = word + program->words_count;

	for (; word != end; word++, to += 8)
		tl_put_u64(to, *(const u64 *)((const u8 *)regs + *word));
	return to;
}

/* Stores the fields of any shape but TL_SHAPE_PROGRAM; returns their end. */
static __always_inline u8 *tl_program_parts(const struct tl_program *program,
					    const struct pt_regs *regs, u8 *to)
{
	const u16 *word = program->words;
	const u16 *end = word + program->words_count;

	for (; word != end; word++) {
		u64 value = *(const u64 *)((const u8 *)regs + (*word & ~TL_WORD_SIZE));
		u32 size = *word & TL_WORD_SIZE;

		if (!size) {
			tl_put_u64(to, value);
			to += 8;
			continue;
		}
		if (size != 4)
			value &= size == 1 ? U8_MAX : U16_MAX;
		tl_put_u32(to, value);
		to += 4;
	}
	return to;
}

#ifdef TL_FAST_HANDLERS
/* Stores the first @size / 8 arguments; the caller knows where they end. */
static __always_inline void tl_program_args(u32 size, const struct pt_regs *regs, u8 *to)
{
	/* A chain of early ends: fewer instructions than a loop over places. */
	if (size < 8)
		return;
	tl_put_u64(to, regs->di);
	if (size < 16)
		return;
	tl_put_u64(to + 8, regs->si);
	if (size < 24)
		return;
	tl_put_u64(to + 16, regs->dx);
	if (size < 32)
		return;
	tl_put_u64(to + 24, regs->cx);
	if (size < 40)
		return;
	tl_put_u64(to + 32, regs->r8);
	if (size < 48)
		return;
	tl_put_u64(to + 40, regs->r9);
}
#endif

#endif
