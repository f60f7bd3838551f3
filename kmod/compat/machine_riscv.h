/* SPDX-License-Identifier: GPL-2.0 */
/* machine_riscv.h - riscv64: see machine.h */
#ifndef TL_MACHINE_RISCV_H
#define TL_MACHINE_RISCV_H

#include <linux/irqflags.h>

#define TL_ARGS_IN_REGS		8
#define TL_ARG_WORDS	{ \
	offsetof(struct pt_regs, a0), offsetof(struct pt_regs, a1), \
	offsetof(struct pt_regs, a2), offsetof(struct pt_regs, a3), \
	offsetof(struct pt_regs, a4), offsetof(struct pt_regs, a5), \
	offsetof(struct pt_regs, a6), offsetof(struct pt_regs, a7), \
}
#define TL_STACK_SKIPPED	0
#define TL_RETVAL_WORD		offsetof(struct pt_regs, a0)
#define TL_RETURN_REGISTER(regs)	((regs)->ra)
/* Its unwinder leaves what return probes put on the stack. */
#define TL_STACK_HAS_TRAMPOLINES
#define TL_TRAMPOLINE_MAX	256
#define TL_TRAP_IS_NMI		true
#define TL_NOT_STEPPED		", or an instruction that it can't step, as of an atomic operation"

/* At a return the status isn't saved, and interrupts are as they were. */
static __always_inline bool tl_regs_irqs_off(const struct pt_regs *regs, bool trap)
{
	return trap ? !(regs->status & SR_PIE) : irqs_disabled();
}

/* EBREAK, of 2 bytes or 4. */
static inline enum tl_text_kind tl_text_kind(const u8 *bytes)
{
	static const u8 c_ebreak[] = { 0x02, 0x90 };
	static const u8 ebreak[] = { 0x73, 0x00, 0x10, 0x00 };

	return !memcmp(bytes, c_ebreak, sizeof(c_ebreak)) ||
	       !memcmp(bytes, ebreak, sizeof(ebreak)) ? TL_TEXT_BREAKPOINT : TL_TEXT_OTHER;
}

#define TL_FTRACE_SIZE		8
#define TL_FTRACE_INSIDE "it lies inside the 8 bytes at the function's start that ftrace patches; +0x%llx is the first place behind them"

/* Whether ftrace patches the function that starts at @address: two nops, or auipc and jalr by t0. */
static inline bool tl_ftrace_at(u64 address)
{
	u32 found[2];

	if (copy_from_kernel_nofault(found, (void *)address, sizeof(found)))
		return false;
	return (found[0] == 0x00000013 || (found[0] & 0xfff) == 0x297) &&
	       (found[1] == 0x00000013 || (found[1] & 0xfffff) == 0x282e7);
}

/* A nop or a jump. */
static inline enum tl_patched_kind tl_patched_kind(u64 address)
{
	u32 found;

	if (copy_from_kernel_nofault(&found, (void *)address, sizeof(found)))
		return TL_PATCHED_NOTHING;
	return found == 0x00000013 || (found & 0x00000fff) == 0x0000006f ? TL_PATCHED_BRANCH :
							      TL_PATCHED_NOTHING;
}

static inline int tl_kprobe_error(int error, u64 address)
{
	return error;
}

/* The kernel lets a trap be planted between the two, of which ftrace knows nothing. */
static inline unsigned int tl_ftrace_left(u64 address, u64 offset)
{
	return offset && offset < TL_FTRACE_SIZE && tl_ftrace_at(address - offset) ?
	       TL_FTRACE_SIZE - offset : 0;
}

/* The arguments are still where they were there: only t0 may have changed. */
static inline unsigned int tl_ftrace_skip(u64 address)
{
	return tl_ftrace_at(address) ? TL_FTRACE_SIZE : 0;
}

/*
 * From a load-reserved to its store-conditional, which is at most TL_RESERVED bytes further on: a
 * trap there takes the reservation away, each time that it is tried again. Others' traps aren't
 * seen through.
 */
#define TL_RESERVED	64

static inline bool tl_never_passes(u64 address, u64 offset)
{
	u64 reserved = 0;
	u64 at;

	for (at = address - offset; at <= address || reserved;) {
		u16 half[2];
		u32 insn;

		if (copy_from_kernel_nofault(half, (void *)at, sizeof(half)))
			return false;
		insn = (half[0] & 3) == 3 ? half[0] | (u32)half[1] << 16 : 0;
		if (reserved && at - reserved > TL_RESERVED)
			reserved = 0;	/* it only waits */
		if ((insn & 0xf9f0607f) == 0x1000202f)
			reserved = at <= address ? at : 0;
		if ((insn & 0xf800607f) == 0x1800202f) {
			if (reserved && at >= address)
				return true;
			reserved = 0;
		}
		at += insn ? 4 : 2;
	}
	return false;
}

#endif
