// SPDX-License-Identifier: GPL-2.0
/* filter.c - which tasks a session records */
#include <linux/sched.h>
#include <linux/threads.h>
#include <linux/vmalloc.h>
#include "filter.h"
#include "site.h"

/*
 * wake_up_new_task(task): @task was made by current and has not run yet. A new
 * process is a member or not by its birth alone, whoever had its pid before.
 */
static int tl_filter_born(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_filter *filter = container_of(kp, struct tl_filter, born);
	struct task_struct *task = (struct task_struct *)regs_get_kernel_argument(regs, 0);

	if (task->tgid == current->tgid)
		return 0;
	if (filter->follow && test_bit(current->tgid, filter->members))
		set_bit(task->tgid, filter->members);
	else
		clear_bit(task->tgid, filter->members);
	return 0;
}
NOKPROBE_SYMBOL(tl_filter_born);

/*
 * From now on only members are wanted; there are none yet. With @follow, members'
 * children become members.
 */
int tl_filter_restrict(struct tl_filter *filter, bool follow)
{
	struct tl_site_text before;
	int error;

	filter->members = __vmalloc(BITS_TO_LONGS(PID_MAX_LIMIT) * sizeof(long),
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!filter->members)
		return -ENOMEM;
	filter->follow = follow;
	filter->born = (struct kprobe){
		.symbol_name = "wake_up_new_task",
		.pre_handler = tl_filter_born,
		.flags = KPROBE_FLAG_DISABLED,
	};
	error = tl_site_register(&filter->born);
	filter->watching = !error;
	return error ?: tl_site_arm(&filter->born, &before);
}

void tl_filter_add(struct tl_filter *filter, pid_t tgid)
{
	set_bit(tgid, filter->members);
}

/* No handler uses the filter any more. */
void tl_filter_destroy(struct tl_filter *filter)
{
	if (filter->watching)
		unregister_kprobe(&filter->born);
	vfree(filter->members);
	*filter = (struct tl_filter){};
}
