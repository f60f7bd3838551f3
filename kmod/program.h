/* SPDX-License-Identifier: GPL-2.0 */
/* program.h - a probe's programs in the module: taken in, verified, run */
#ifndef TL_KMOD_PROGRAM_H
#define TL_KMOD_PROGRAM_H

#include <linux/ptrace.h>
#include "shared/program.h"

/* Words of pt_regs that a shape without a program can store. */
#define TL_WORDS_MAX	12
#define TL_ARGS_IN_REGS	6

/* What a program does, so that the common ones need not be interpreted. */
enum tl_shape {
	TL_SHAPE_PROGRAM,	/* anything: interpret it */
	TL_SHAPE_WORDS,		/* stores registers: words[], nothing else */
	TL_SHAPE_ARGS,		/* stores the first arguments in order, up to six */
};

struct tl_program {
	struct tl_insn *insns;		/* NULL: nothing to run, nothing stored */
	u32 count;			/* of insns */
	u32 size;			/* bytes of fields at most */
	u32 least;			/* and at least, of a hit that is recorded */
	u8 shape;			/* enum tl_shape */
	u8 words_count;			/* TL_SHAPE_WORDS */
	u16 words[TL_WORDS_MAX];	/* offsets in struct pt_regs, bytes */
};

int tl_program_load(struct tl_program *program, const void *insns, u32 bytes, enum tl_site site,
		    u32 entry_least, char *text, size_t text_size);
void tl_program_free(struct tl_program *program);
int tl_program_run(const struct tl_program *program, struct pt_regs *regs,
		   const struct tl_entered *entered, bool user, u8 *to);

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
