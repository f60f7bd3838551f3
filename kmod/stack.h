/* SPDX-License-Identifier: GPL-2.0 */
/* stack.h - who called: the kernel's stack at a hit */
#ifndef TL_STACK_H
#define TL_STACK_H

#include <linux/ptrace.h>
#include <linux/types.h>

/* Whether this kernel lets stacks be taken; if not, why. */
#if defined(TL_HAVE_UNWIND_START)
#define TL_STACKS	1
#elif defined(TL_HAVE_STACK_TRACE_SAVE) && !defined(CONFIG_X86_64)
#define TL_STACKS	1
#else
#define TL_STACKS	0
#endif

#define TL_NO_STACKS \
	"this kernel can't take stacks: it has no CONFIG_STACKTRACE, or no ORC unwinder on x86"

void tl_stack_init(void);
u32 tl_stack_take(const struct pt_regs *regs, u8 flags, u8 *to, u32 most, u32 *status);

#endif
