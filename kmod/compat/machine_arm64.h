/* SPDX-License-Identifier: GPL-2.0 */
/* machine_arm64.h - arm64: see machine.h */
#ifndef TL_MACHINE_ARM64_H
#define TL_MACHINE_ARM64_H

#define TL_ARGS_IN_REGS		8
#define TL_ARG_WORDS		{ 0, 8, 16, 24, 32, 40, 48, 56 }	/* x0 to x7 */
#define TL_STACK_SKIPPED	0
#define TL_RETVAL_WORD		offsetof(struct pt_regs, regs[0])
#define TL_RETURN_REGISTER(regs)	((regs)->regs[30])
#define TL_TRAP_IS_NMI		false	/* it disables preemption instead */
#define TL_NOT_STEPPED		", or an instruction that it can't step, as of an atomic operation"

static __always_inline bool tl_regs_irqs_off(const struct pt_regs *regs, bool trap)
{
	return regs->pstate & PSR_I_BIT;
}

#define TL_BRK_KPROBES		0xd4200080

/* That alone: others are the kernel's own WARN() and BUG(). */
static inline enum tl_text_kind tl_text_kind(const u8 *bytes)
{
	u32 insn = bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (u32)bytes[3] << 24;

	return insn == TL_BRK_KPROBES ? TL_TEXT_BREAKPOINT : TL_TEXT_OTHER;
}

#define TL_FTRACE_INSIDE "ftrace patches the instruction there; +0x%llx is the first place behind it"

/*
 * At a function's start, which may be a landing pad, is "mov x9, x30", then a nop or bl. Asked
 * only if the kernel has refused: a trap may be on the mov.
 */
static inline unsigned int tl_ftrace_left(u64 address, u64 offset)
{
	u32 found[2];
	bool inside;

	inside = !copy_from_kernel_nofault(found, (void *)address - 4, sizeof(found)) &&
		 (found[0] == 0xaa1e03e9 || found[0] == TL_BRK_KPROBES) &&
		 (found[1] == 0xd503201f || (found[1] & 0xfc000000) == 0x94000000);
	return inside ? 4 : 0;
}

/* A nop or a jump. */
static inline enum tl_patched_kind tl_patched_kind(u64 address)
{
	u32 found;

	if (copy_from_kernel_nofault(&found, (void *)address, sizeof(found)))
		return TL_PATCHED_NOTHING;
	return found == 0xd503201f || (found & 0xfc000000) == 0x14000000 ? TL_PATCHED_BRANCH :
							      TL_PATCHED_NOTHING;
}

static inline int tl_kprobe_error(int error, u64 address)
{
	return error == -EINVAL && (address & 3 || tl_ftrace_left(address, 0)) ? -EILSEQ : error;
}

static inline unsigned int tl_ftrace_skip(u64 address)
{
	return 0;
}

/* The kernel allows no trap between an exclusive load and its store. */
static inline bool tl_never_passes(u64 address, u64 offset)
{
	return false;
}

#endif
