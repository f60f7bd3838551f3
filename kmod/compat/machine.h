/* SPDX-License-Identifier: GPL-2.0 */
/*
 * machine.h - what differs between architectures, and nowhere else
 *
 * Each of the headers below says:
 *
 *   TL_ARGS_IN_REGS      function arguments in registers
 *   TL_ARG_WORDS         where those are: offsets in struct pt_regs, an initialiser
 *   TL_STACK_SKIPPED     words between the stack pointer and the others, at an entry
 *   TL_RETVAL_WORD       where the return value is: an offset in struct pt_regs
 *   TL_RETURN_REGISTER() where a function that begins returns to, if a register has that
 *   TL_STACK_HAS_TRAMPOLINES  where stacks show the kernel's trampoline for return probes: to
 *                        be replaced; its own frame isn't among them
 *   TL_TRAMPOLINE_MAX    there, its size in bytes, at most
 *   TL_TRAP_IS_NMI       whether a breakpoint's handler counts as an NMI's
 *   tl_regs_irqs_off()   whether what @regs were saved of had interrupts off; @trap: by a
 *                        breakpoint or a call, else at a return
 *   tl_text_kind()       what the TRAPLINE_SITE_BYTES at @bytes begin with
 *   TL_NOT_STEPPED       what else a refusal can mean, if anything
 *   tl_kprobe_error()    the kernel's @error, EILSEQ also where it says EINVAL of a place that
 *                        is no instruction's or ftrace's
 *   tl_ftrace_left()     bytes from @address, @offset into its function if that is known, to
 *                        the end of what ftrace patches, inside which no trap may be; 0: it
 *                        isn't inside
 *   TL_FTRACE_INSIDE     and that in words, a format that takes the offset of that end
 *   tl_patched_kind()    what the instruction at @address may be that the kernel patches itself
 *   tl_ftrace_skip()     how far behind a function's start, @address, its entry is trapped,
 *                        since ftrace patches what is before that
 *   tl_never_passes()    whether what is trapped at @address, @offset into its function, would be
 *                        tried again for ever, though the kernel allows it
 *
 * and x86's has TL_FAST_HANDLERS, for it alone has what they need, and a counter to read
 * the time from.
 */
#ifndef TL_MACHINE_H
#define TL_MACHINE_H

#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/* What the kernel patches while it runs, besides what ftrace does. */
enum tl_patched_kind {
	TL_PATCHED_NOTHING,
	TL_PATCHED_BRANCH,	/* a jump label, or a static call that is no call now */
	TL_PATCHED_CALL,	/* a static call */
};

enum tl_text_kind {
	TL_TEXT_OTHER,
	TL_TEXT_BREAKPOINT,
	TL_TEXT_JUMP,
	TL_TEXT_CALL,
};

#if defined(CONFIG_X86_64)
#include "machine_x86.h"
#elif defined(CONFIG_ARM64)
#include "machine_arm64.h"
#elif defined(CONFIG_RISCV)
#include "machine_riscv.h"
#endif

/* The architectures that count no ticks have nanoseconds only. */
#ifndef TL_FAST_HANDLERS
static inline bool tl_counter_trusted(void)
{
	return false;
}

static inline u64 tl_counter_hz(void)
{
	return 0;
}

static __always_inline u64 tl_counter(void)
{
	return 0;
}
#endif

#ifndef TL_LOW_BYTE_IS_ZERO
static __always_inline bool tl_low_byte_is_zero(const void *value)
{
	return !READ_ONCE(*(const u8 *)value);
}
#endif

#endif
