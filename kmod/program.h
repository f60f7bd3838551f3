/* SPDX-License-Identifier: GPL-2.0 */
/* program.h - a probe's programs in the module: taken in, verified, run */
#ifndef TL_KMOD_PROGRAM_H
#define TL_KMOD_PROGRAM_H

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

struct tl_program {
	struct tl_insn *insns;		/* NULL: nothing to run, nothing stored */
	u32 count;			/* of insns */
	u32 size;			/* bytes of fields at most */
	u32 least;			/* and at least, of a hit that is recorded */
	u8 shape;			/* enum tl_shape */
	bool guarded;			/* begins with a comparison of a register: guard */
	u8 words_count;			/* of any shape but TL_SHAPE_PROGRAM */
	u16 guard_word;			/* offset in struct pt_regs */
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

/* Whether a guarded program would reject the hit right at its beginning. */
static __always_inline bool tl_program_guards(const struct tl_program *program,
					      const struct pt_regs *regs)
{
	return !tl_guard_passes(&program->guard,
				*(const u64 *)((const u8 *)regs + program->guard_word));
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
