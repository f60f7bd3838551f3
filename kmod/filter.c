// SPDX-License-Identifier: GPL-2.0
/* filter.c - which tasks a session records */
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include "filter.h"

/* wake_up_new_task(task): @task was made by current and has not run yet. */
static int tl_filter_born(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_filter *filter = container_of(kp, struct tl_filter, born);
	struct task_struct *task = (struct task_struct *)regs_get_kernel_argument(regs, 0);

	if (test_bit(current->tgid, filter->members))
		set_bit(task->tgid, filter->members);
	return 0;
}
NOKPROBE_SYMBOL(tl_filter_born);

/*
 * release_task(task): its pid is about to be free. An exec by another thread than
 * the leader releases the old leader too, no longer one by then.
 */
static int tl_filter_reaped(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_filter *filter = container_of(kp, struct tl_filter, reaped);
	struct task_struct *task = (struct task_struct *)regs_get_kernel_argument(regs, 0);

	if (thread_group_leader(task))
		clear_bit(task->tgid, filter->members);
	return 0;
}
NOKPROBE_SYMBOL(tl_filter_reaped);

/* From now on only members are wanted; there are none yet. */
int tl_filter_restrict(struct tl_filter *filter)
{
	filter->members = __vmalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long),
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return filter->members ? 0 : -ENOMEM;
}

void tl_filter_add(struct tl_filter *filter, pid_t tgid)
{
	set_bit(tgid, filter->members);
}

/* Members' children become members. To be called before the first is added. */
int tl_filter_follow(struct tl_filter *filter)
{
	int error;

	filter->born = (struct kprobe){
		.symbol_name = "wake_up_new_task",
		.pre_handler = tl_filter_born,
	};
	filter->reaped = (struct kprobe){
		.symbol_name = "release_task",
		.pre_handler = tl_filter_reaped,
	};
	error = register_kprobe(&filter->reaped);
	if (error)
		return error;
	error = register_kprobe(&filter->born);
	if (error) {
		unregister_kprobe(&filter->reaped);
		return error;
	}
	filter->follow = true;
	return 0;
}

/* No handler uses the filter any more. */
void tl_filter_destroy(struct tl_filter *filter)
{
	if (filter->follow) {
		unregister_kprobe(&filter->born);
		unregister_kprobe(&filter->reaped);
	}
	vfree(filter->members);
	*filter = (struct tl_filter){};
}
