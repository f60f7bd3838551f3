// SPDX-License-Identifier: GPL-2.0
/*
 * stack.c - who called: the kernel's stack at a hit
 *
 * Taken in handlers, with interrupts off or inside of an NMI: the kernel's unwinders are made for
 * that. They put the real return addresses in the place of those that the function graph tracer
 * and return probes have left on the stack (return probes' from 5.15 on; riscv64's doesn't).
 *
 * On x86 they begin at the registers of the hit. At a function's ends its return address is put
 * on the stack for the moment, as the first of its return probes has found it: for that may be
 * the tracer's, which only its place there resolves, and the unwinder resolves one or the other.
 *
 * Elsewhere they begin here, and what comes before the hit is left out. There a function's caller
 * is in a register when it begins.
 */
#include <linux/kprobes.h>
#include <linux/sched.h>
#include "machine.h"
#include "stack.h"
#include "shared/program.h"

#if !defined(TL_HAVE_KRETPROBE_FIND_RET_ADDR)
#define TL_TRAMPOLINE	"kretprobe_trampoline"
#elif defined(TL_STACK_HAS_TRAMPOLINES) && defined(CONFIG_KRETPROBE_ON_RETHOOK)
#define TL_TRAMPOLINE	"arch_rethook_trampoline"
#elif defined(TL_STACK_HAS_TRAMPOLINES)
#define TL_TRAMPOLINE	"__kretprobe_trampoline"
#endif

#ifdef TL_TRAMPOLINE
/*
 * What return probes leave on the stack, and this kernel's unwinder doesn't replace. Where nobody
 * else tells what was there, stacks end.
 */
static unsigned long tl_trampoline;

/* Not exported; but whoever wants a probe there is refused with the address. */
void tl_stack_init(void)
{
	struct kprobe kp = { .symbol_name = TL_TRAMPOLINE };

	if (!register_kprobe(&kp))
		unregister_kprobe(&kp);
	tl_trampoline = (unsigned long)kp.addr;
}
#else
#define tl_trampoline	0UL

void tl_stack_init(void)
{
}
#endif

#if defined(TL_HAVE_UNWIND_START)

#include <asm/unwind.h>

/* What is above the function that @regs are of. */
static u32 tl_stack_unwind(struct pt_regs *regs, u8 *to, u32 most, u32 *status)
{
	struct unwind_state state;
	u32 length = 0;

	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state);
	     unwind_next_frame(&state)) {
		unsigned long address = unwind_get_return_address(&state);

		if (!address) {
			const struct pt_regs *entry = unwind_get_entry_regs(&state, NULL);

			*status = entry && user_mode((struct pt_regs *)entry) ? TL_STACK_WHOLE :
										TL_STACK_FAULT;
			return length;
		}
		if (tl_trampoline && address == tl_trampoline) {
			*status = TL_STACK_FAULT;
			return length;
		}
		if (length == most) {
			*status = TL_STACK_CUT;
			return length;
		}
		tl_put_u64(to + 8 * length++, address);
	}
	*status = unwind_error(&state) ? TL_STACK_FAULT : TL_STACK_WHOLE;
	return length;
}
NOKPROBE_SYMBOL(tl_stack_unwind);

/*
 * Whom the function that @regs are of returns to, as the unwinder knows; 0: it doesn't, or that is
 * not what lies on top of the stack, as in a function's cold part.
 */
static unsigned long tl_stack_caller(struct pt_regs *regs)
{
	struct unwind_state state;

	unwind_start(&state, current, regs, NULL);
	if (unwind_done(&state) || state.sp != regs->sp + sizeof(long))
		return 0;
	return unwind_get_return_address(&state);
}
NOKPROBE_SYMBOL(tl_stack_caller);

/*
 * Stores at @to what is above the function that was hit, @most frames of it, and returns how
 * many. @flags: TL_INSN_AT_*. At a return @regs' ip is where it returns to.
 */
u32 tl_stack_take(const struct pt_regs *regs, u8 flags, u8 *to, u32 most, u32 *status)
{
	struct pt_regs at = *regs;
	unsigned long *slot = (unsigned long *)regs->sp;
	unsigned long caller, found;
	u32 length;

	if (flags & TL_INSN_AT_RETURN) {
		caller = regs->ip;
		slot--;
	} else {
		/* However it was trapped, the kernel lets it look like a breakpoint. */
		at.ip = regs->ip - INT3_INSN_SIZE;
		caller = flags & TL_INSN_AT_ENTRY ? tl_stack_caller(&at) : 0;
		if (!caller)
			return tl_stack_unwind(&at, to, most, status);
	}
	found = *slot;
	*slot = caller;
	at.ip = (unsigned long)schedule;	/* any function: its first instruction */
	at.sp = (unsigned long)slot;
	length = tl_stack_unwind(&at, to, most, status);
	*slot = found;
	return length;
}
NOKPROBE_SYMBOL(tl_stack_take);

#elif TL_STACKS

#include <linux/stacktrace.h>
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include <linux/rethook.h>
#endif

/* Frames between here and the hit, at most. */
#define TL_STACK_OWN	32

/* Where a function that begins returns to. Other return probes on it may have been there before. */
static unsigned long tl_stack_caller(const struct pt_regs *regs)
{
	unsigned long caller = TL_RETURN_REGISTER(regs);
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	const struct llist_node *node = current->rethooks.first;

	for (; node; node = node->next) {
		const struct rethook_node *hook =
			container_of(node, struct rethook_node, llist);

		if (hook->frame != frame_pointer((struct pt_regs *)regs))
			break;
		caller = hook->ret_addr;
	}
#elif defined(TL_HAVE_KRETPROBE_FIND_RET_ADDR)
	const struct llist_node *node = current->kretprobe_instances.first;

	for (; node; node = node->next) {
		const struct kretprobe_instance *ri =
			container_of(node, struct kretprobe_instance, llist);

		if (ri->fp != (void *)frame_pointer((struct pt_regs *)regs))
			break;
		caller = (unsigned long)ri->ret_addr;
	}
#endif
	return caller;
}
NOKPROBE_SYMBOL(tl_stack_caller);

/* Return probes that are to come for what is above the hit, as they are found on the stack. */
#if defined(TL_STACK_HAS_TRAMPOLINES) && defined(CONFIG_KRETPROBE_ON_RETHOOK)

/* Where the next function with return probes, one or several, returns to; 0: there is none. */
static unsigned long tl_stack_next_hooked(const struct llist_node **next)
{
	while (*next) {
		const struct rethook_node *hook =
			container_of(*next, struct rethook_node, llist);

		*next = (*next)->next;
		if (hook->ret_addr != tl_trampoline)
			return hook->ret_addr;
	}
	return 0;
}
NOKPROBE_SYMBOL(tl_stack_next_hooked);

static const struct llist_node *tl_stack_hooks(const struct pt_regs *regs, u8 flags)
{
	const struct llist_node *next = current->rethooks.first;
	const unsigned long frame = frame_pointer((struct pt_regs *)regs);

	/* The function's own, while it has no frame. */
	if (flags & TL_INSN_AT_RETURN ||
	    (next && container_of(next, struct rethook_node, llist)->frame == frame))
		tl_stack_next_hooked(&next);
	return next;
}
NOKPROBE_SYMBOL(tl_stack_hooks);

#else

static unsigned long tl_stack_next_hooked(const struct llist_node **next)
{
	return 0;
}
NOKPROBE_SYMBOL(tl_stack_next_hooked);

static const struct llist_node *tl_stack_hooks(const struct pt_regs *regs, u8 flags)
{
	return NULL;
}
NOKPROBE_SYMBOL(tl_stack_hooks);

#endif

/* Which of the @found @frames comes behind the place in @regs; more than @found: they don't tell. */
static u32 tl_stack_behind(const struct pt_regs *regs, u8 flags, const unsigned long *frames,
			   u32 found)
{
	const unsigned long ip = instruction_pointer((struct pt_regs *)regs);
	u32 i;

	for (i = 0; i < found; i++) {
#ifdef TL_STACK_HAS_TRAMPOLINES
		/*
		 * Inside of the trampoline, which keeps no frame of its own: the next is that of
		 * the function returned to, and where in that isn't among them.
		 */
		if (flags & TL_INSN_AT_RETURN) {
			if (frames[i] - tl_trampoline - 1 < TL_TRAMPOLINE_MAX)
				return i + 1;
			continue;
		}
#endif
		if (frames[i] == ip)
			return i + 1;
	}
	return found + 1;
}
NOKPROBE_SYMBOL(tl_stack_behind);

u32 tl_stack_take(const struct pt_regs *regs, u8 flags, u8 *to, u32 most, u32 *status)
{
	unsigned long frames[TL_STACK_MAX + TL_STACK_OWN];
	const u32 wanted = min_t(u32, most + TL_STACK_OWN, ARRAY_SIZE(frames));
	const u32 found = stack_trace_save(frames, wanted, 0);
	const struct llist_node *hooks = tl_stack_hooks(regs, flags);
	u32 i = tl_stack_behind(regs, flags, frames, found);
	unsigned long address = 0;
	u32 length = 0;

	*status = TL_STACK_FAULT;
	if (i > found)
		return 0;
	if (flags & TL_INSN_AT_RETURN)
		address = instruction_pointer((struct pt_regs *)regs);
	else if (flags & TL_INSN_AT_ENTRY)
		address = tl_stack_caller(regs);
	if (tl_trampoline && address == tl_trampoline)
		return 0;
	if (address)
		tl_put_u64(to + 8 * length++, address);
	for (; i < found && length < most; i++) {
		address = frames[i];
		if (tl_trampoline && address == tl_trampoline)
			address = tl_stack_next_hooked(&hooks);
		if (!address)
			return length;
		tl_put_u64(to + 8 * length++, address);
	}
	*status = found == wanted || i < found ? TL_STACK_CUT : TL_STACK_WHOLE;
	return length;
}
NOKPROBE_SYMBOL(tl_stack_take);

#else

u32 tl_stack_take(const struct pt_regs *regs, u8 flags, u8 *to, u32 most, u32 *status)
{
	*status = TL_STACK_FAULT;
	return 0;
}
NOKPROBE_SYMBOL(tl_stack_take);

#endif
