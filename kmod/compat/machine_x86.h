/* SPDX-License-Identifier: GPL-2.0 */
/* machine_x86.h - x86-64: see machine.h */
#ifndef TL_MACHINE_X86_H
#define TL_MACHINE_X86_H

#include <linux/preempt.h>
#include <asm/text-patching.h>
#include <asm/tsc.h>

#define TL_FAST_HANDLERS	1

#define TL_ARGS_IN_REGS		6
#define TL_ARG_WORDS	{ \
	offsetof(struct pt_regs, di), offsetof(struct pt_regs, si), \
	offsetof(struct pt_regs, dx), offsetof(struct pt_regs, cx), \
	offsetof(struct pt_regs, r8), offsetof(struct pt_regs, r9), \
}
#define TL_STACK_SKIPPED	1	/* the return address */
#define TL_RETVAL_WORD		offsetof(struct pt_regs, ax)
#define TL_TRAP_IS_NMI		true
#define TL_NOT_STEPPED		""

static __always_inline bool tl_regs_irqs_off(const struct pt_regs *regs, bool trap)
{
	return !(regs->flags & X86_EFLAGS_IF);
}

/* preempt_count() with the inverted need-resched bit left in. */
static __always_inline u32 tl_raw_count(void)
{
#ifdef TL_HAVE_PCPU_HOT
	return raw_cpu_read_4(pcpu_hot.preempt_count);
#else
	return raw_cpu_read_4(__preempt_count);
#endif
}

static inline bool tl_counter_trusted(void)
{
	return boot_cpu_has(X86_FEATURE_TSC) && tsc_khz && !check_tsc_unstable();
}

static inline u64 tl_counter_hz(void)
{
	return (u64)tsc_khz * 1000;
}

static __always_inline u64 tl_counter(void)
{
	return rdtsc_ordered();
}

static inline enum tl_text_kind tl_text_kind(const u8 *bytes)
{
	switch (bytes[0]) {
	case INT3_INSN_OPCODE:
		return TL_TEXT_BREAKPOINT;
	case JMP32_INSN_OPCODE:
		return TL_TEXT_JUMP;
	case CALL_INSN_OPCODE:
		return TL_TEXT_CALL;
	default:
		return TL_TEXT_OTHER;
	}
}

/* With IBT a function begins with ENDBR, and what ftrace patches comes behind it. */
#define TL_ENDBR_SIZE	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)
#define TL_FTRACE_SIZE	5
#define TL_FTRACE_INSIDE "it lies inside the 5 bytes at the function's start that ftrace patches; +0x%llx is the first place behind them"

static inline bool tl_is_nop5(const u8 *bytes)
{
	static const u8 nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const u8 old_nop5[] = { 0x66, 0x66, 0x66, 0x66, 0x90 };	/* before 5.13 */

	return !memcmp(bytes, nop5, sizeof(nop5)) || !memcmp(bytes, old_nop5, sizeof(old_nop5));
}

/* What ftrace patches, a nop or a call now, is the function's first instruction, or behind ENDBR. */
static inline unsigned int tl_ftrace_left(u64 address, u64 offset)
{
	u64 into = offset > TL_ENDBR_SIZE ? offset - TL_ENDBR_SIZE : offset;
	u8 found[TL_FTRACE_SIZE];

	if (!into || into >= TL_FTRACE_SIZE ||
	    copy_from_kernel_nofault(found, (void *)address - into, sizeof(found)))
		return 0;
	return tl_is_nop5(found) || found[0] == CALL_INSN_OPCODE ? TL_FTRACE_SIZE - into : 0;
}

static inline enum tl_patched_kind tl_patched_kind(u64 address)
{
	static const u8 nop2[] = { 0x66, 0x90 };
	u8 found[JMP32_INSN_SIZE];

	if (copy_from_kernel_nofault(found, (void *)address, sizeof(found)))
		return TL_PATCHED_NOTHING;
	if (found[0] == CALL_INSN_OPCODE)
		return TL_PATCHED_CALL;
	if (found[0] == JMP32_INSN_OPCODE || found[0] == JMP8_INSN_OPCODE ||
	    !memcmp(found, nop2, sizeof(nop2)) || tl_is_nop5(found))
		return TL_PATCHED_BRANCH;
	return TL_PATCHED_NOTHING;
}

static inline int tl_kprobe_error(int error, u64 address)
{
	return error;
}

static inline unsigned int tl_ftrace_skip(u64 address)
{
	return 0;
}

/* The compiler makes two instructions of a volatile read and its test. */
#define TL_LOW_BYTE_IS_ZERO
static __always_inline bool tl_low_byte_is_zero(const void *value)
{
	bool zero;

	asm volatile("cmpb $0, %1" : "=@ccz" (zero) : "m" (*(const u8 *)value));
	return zero;
}

/* Nothing is reserved. */
static inline bool tl_never_passes(u64 address, u64 offset)
{
	return false;
}

#endif
