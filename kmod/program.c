// SPDX-License-Identifier: GPL-2.0
/* program.c - a probe's programs in the module: taken in, verified, run */
#include <linux/cred.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include "program.h"
#include "stack.h"
#include "shared/verifier.h"

/* Where the first arguments are. */
static const u16 tl_arg_words[TL_ARGS_IN_REGS] = TL_ARG_WORDS;

#define TL_REGS_WORDS	(sizeof(struct pt_regs) / sizeof(u64))

/* Whether the program that this CPU runs may look at user memory. */
static DEFINE_PER_CPU(bool, tl_user_readable);

/* What shared/interpreter.h asks for. */
struct tl_regs {
	struct pt_regs pt;
};

static __always_inline __u64 tl_reg(const struct tl_regs *regs, __u64 n)
{
	return ((const u64 *)&regs->pt)[n];
}

static __always_inline __u64 tl_retval(const struct tl_regs *regs)
{
	return *(const u64 *)((const u8 *)&regs->pt + TL_RETVAL_WORD);
}

static __always_inline int tl_read_kernel(void *to, __u64 from, __u32 n)
{
	return copy_from_kernel_nofault(to, (const void *)from, n);
}

static __always_inline int tl_read_user(void *to, __u64 from, __u32 n)
{
	int error;

	if (!__this_cpu_read(tl_user_readable))
		return -EFAULT;
	pagefault_disable();	/* or access_ok() warns where debugging is on */
	error = copy_from_user_nofault(to, (const void __user *)from, n);
	pagefault_enable();
	return error;
}

static __always_inline int tl_arg(const struct tl_regs *regs, __u64 n, __u64 *value)
{
	if (n < ARRAY_SIZE(tl_arg_words)) {
		*value = *(const u64 *)((const u8 *)&regs->pt + tl_arg_words[n]);
		return 0;
	}
	n -= ARRAY_SIZE(tl_arg_words) - TL_STACK_SKIPPED;
	return tl_read_kernel(value, regs->pt.sp + n * sizeof(u64), sizeof(u64));
}

static __always_inline __u64 tl_task_value(__u64 which)
{
	switch (which) {
	case TL_TASK_TGID:
		return current->tgid;
	case TL_TASK_TID:
		return current->pid;
	case TL_TASK_UID:
		return __kuid_val(current_uid());
	case TL_TASK_CPU:
		return raw_smp_processor_id();
	default:
		return (unsigned long)current->comm;
	}
}

static __always_inline __u32 tl_stack(const struct tl_regs *regs, __u8 flags, __u8 *to, __u32 most,
				      __u32 *status)
{
	return tl_stack_take(&regs->pt, flags, to, most, status);
}

#include "shared/interpreter.h"
NOKPROBE_SYMBOL(tl_match);
NOKPROBE_SYMBOL(tl_run);

/* The register word that @insn loads, whole or in part, in bytes; -1: it loads something else. */
static int tl_insn_word(const struct tl_insn *insn)
{
	switch (insn->op) {
	case TL_OP_REG:
		return insn->imm * sizeof(u64);
	case TL_OP_ARG:
		return insn->imm < ARRAY_SIZE(tl_arg_words) ? tl_arg_words[insn->imm] : -1;
	case TL_OP_RETVAL:
		return TL_RETVAL_WORD;
	default:
		return -1;
	}
}

/* Recognises pairs of (load a register, store its low bytes), then ACCEPT. */
static void tl_program_shape(struct tl_program *program, const struct tl_insn *insns, u32 count)
{
	bool args = count / 2 <= TL_ARGS_IN_REGS;
	bool whole = true;
	u32 i;

	program->shape = TL_SHAPE_PROGRAM;
	if (!(count & 1) || count / 2 > TL_WORDS_MAX || insns[count - 1].op != TL_OP_ACCEPT)
		return;
	for (i = 0; i < count / 2; i++) {
		const struct tl_insn *load = &insns[2 * i];
		const struct tl_insn *put = load + 1;
		int word = tl_insn_word(load);

		if (load->size && load->size != 8)
			return;
		if (word < 0 || put->op != TL_OP_PUT || put->a != load->dst)
			return;
		program->words[i] = word | (put->size & TL_WORD_SIZE);
		whole = whole && put->size == 8;
		args = args && word == tl_arg_words[i];
	}
	program->words_count = count / 2;
	program->shape = !whole ? TL_SHAPE_PARTS : args ? TL_SHAPE_ARGS : TL_SHAPE_WORDS;
}

/* The value that a guard of @insns decides by; @value: where it is, if that is to be told. */
static enum tl_guarded tl_program_guarded(const struct tl_insn *insns, u16 *value)
{
	int word = tl_insn_word(&insns[0]);

	if (word >= 0) {
		*value = word;
		return TL_GUARDED_WORD;
	}
	if (insns[0].op == TL_OP_DURATION)
		return TL_GUARDED_DURATION;
	if (insns[0].op != TL_OP_TASK)
		return TL_GUARDED_NOT;
	switch (insns[0].imm) {
	case TL_TASK_TGID:
		*value = offsetof(struct task_struct, tgid);
		return TL_GUARDED_ID;
	case TL_TASK_TID:
		*value = offsetof(struct task_struct, pid);
		return TL_GUARDED_ID;
	case TL_TASK_UID:
		return TL_GUARDED_UID;
	case TL_TASK_CPU:
		return TL_GUARDED_CPU;
	default:
		return TL_GUARDED_COMM;
	}
}

/* Recognises a beginning that need not be interpreted to reject a hit. */
static void tl_program_guard(struct tl_program *program, const struct tl_insn *insns, u32 count)
{
	program->guarded = TL_GUARDED_NOT;
	if (tl_guard_of(&program->guard, insns, count))
		program->guarded = tl_program_guarded(insns, &program->guard_value);
}

static bool tl_program_takes_stack(const struct tl_insn *insns, u32 count)
{
	while (count && insns[count - 1].op != TL_OP_STACK)
		count--;
	return count;
}

/*
 * Takes in @bytes of instructions, none meaning a program that stores nothing. For
 * TL_AT_CALL_RETURN, @entry_least is the entry program's. On failure @text says why.
 */
int tl_program_load(struct tl_program *program, const void *insns, u32 bytes, enum tl_site site,
		    u32 entry_least, char *text, size_t text_size)
{
	u32 count = bytes / sizeof(struct tl_insn);
	struct tl_verdict verdict;
	struct tl_verifier *v;

	*program = (struct tl_program){ .shape = TL_SHAPE_ARGS };
	if (!bytes)
		return 0;
	if (bytes % sizeof(struct tl_insn) || count > TL_INSNS_MAX) {
		snprintf(text, text_size, "a program is 1 to %u instructions of %zu bytes each",
			 TL_INSNS_MAX, sizeof(struct tl_insn));
		return -EINVAL;
	}
	program->insns = kmemdup(insns, bytes, GFP_KERNEL_ACCOUNT);
	v = kmalloc(sizeof(*v), GFP_KERNEL);
	if (!program->insns || !v) {
		tl_program_free(program);
		kfree(v);
		snprintf(text, text_size, "no memory for the program");
		return -ENOMEM;
	}
	verdict = tl_verify(v, program->insns, count, site, TL_REGS_WORDS, entry_least);
	kfree(v);
	if (verdict.text) {
		snprintf(text, text_size, "malformed program, instruction %u: %s",
			 verdict.insn, verdict.text);
		tl_program_free(program);
		return -EINVAL;
	}
	if (!TL_STACKS && tl_program_takes_stack(program->insns, count)) {
		strscpy(text, TL_NO_STACKS, text_size);
		tl_program_free(program);
		return -EINVAL;
	}
	program->count = count;
	program->size = verdict.size;
	program->least = verdict.least;
	tl_program_shape(program, program->insns, count);
	tl_program_guard(program, program->insns, count);
	return 0;
}

void tl_program_free(struct tl_program *program)
{
	kfree(program->insns);
	program->insns = NULL;
}

/*
 * Runs a program whose fields go to @to, program->size bytes at most. Returns how
 * many there are, or TL_REJECTED. @entered: NULL but at a call's return. Preemption is
 * disabled.
 */
int tl_program_run(const struct tl_program *program, struct pt_regs *regs,
		   const struct tl_entered *entered, bool user, u8 *to)
{
	if (program->shape != TL_SHAPE_PROGRAM)
		return tl_program_parts(program, regs, to) - to;
	__this_cpu_write(tl_user_readable, user);
	return tl_run(program->insns, (const struct tl_regs *)regs, entered, to);
}
NOKPROBE_SYMBOL(tl_program_run);
