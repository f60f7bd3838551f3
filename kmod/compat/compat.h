/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - what differs between kernels, and nowhere else
 *
 * Included before every source (see Kbuild). TL_HAVE_* come from the feature
 * tests in features.sh, which try to compile, since distributions backport.
 */
#ifndef TL_COMPAT_H
#define TL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <net/genetlink.h>
#include "features.h"

#ifdef TL_HAVE_PANIC_NOTIFIER_H
#include <linux/panic_notifier.h>
#endif

#ifndef TL_HAVE_VM_FLAGS_SET
static inline void tl_vm_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#else
static inline void tl_vm_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

static inline void tl_hrtimer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*function)(struct hrtimer *),
				    enum hrtimer_mode mode)
{
#ifdef TL_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#ifdef TL_HAVE_DUMP_INFO_ATTRS
#define tl_dump_attrs(cb)	(genl_dumpit_info(cb)->attrs)
#else
#define tl_dump_attrs(cb)	(genl_info_dump(cb)->attrs)
#endif

/* The probe of a return-probe instance. */
#ifdef TL_HAVE_GET_KRETPROBE
#define tl_kretprobe_of(ri)	get_kretprobe(ri)
#else
#define tl_kretprobe_of(ri)	((ri)->rp)
/* The kernel keeps instances in a table of its own: calls inside are found from ours. */
#define TL_OWN_INSTANCES	1
#endif

/* A return handler's registers, whose ip is where the function returns to. */
static __always_inline void tl_return_regs(const struct kretprobe_instance *ri,
					   struct pt_regs *regs)
{
#ifndef TL_HAVE_KRETPROBE_FIND_RET_ADDR
	instruction_pointer_set(regs, (unsigned long)ri->ret_addr);
#endif
}

/* Whether the kernel counts a fault in a handler as a miss of its probe. */
#ifdef TL_HAVE_FAULT_HANDLER
#define TL_FAULTS_ARE_MISSES	1
#else
#define TL_FAULTS_ARE_MISSES	0
#endif

static inline unsigned int tl_task_state(const struct task_struct *task)
{
#ifdef TL_HAVE_TASK___STATE
	return READ_ONCE(task->__state);
#else
	return READ_ONCE(task->state);
#endif
}

#endif
