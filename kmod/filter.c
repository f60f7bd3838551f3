// SPDX-License-Identifier: GPL-2.0
/* filter.c - which tasks a session records */
#include <linux/cpumask.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/threads.h>
#include <linux/uidgid.h>
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

static int tl_filter_cpus(struct tl_filter *filter, const u32 *cpus, unsigned int count,
			  const char **text)
{
	unsigned int i;

	filter->cpus = kcalloc(BITS_TO_LONGS(nr_cpu_ids), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!filter->cpus)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (cpus[i] >= nr_cpu_ids || !cpu_possible(cpus[i])) {
			*text = "ONLY_CPUS names a CPU that there can't be";
			return -ENXIO;
		}
		set_bit(cpus[i], filter->cpus);
	}
	return 0;
}

static int tl_filter_uids(struct tl_filter *filter, const u32 *uids, unsigned int count,
			  const char **text)
{
	unsigned int i;

	filter->uids = kcalloc(count, sizeof(*filter->uids), GFP_KERNEL_ACCOUNT);
	if (!filter->uids)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		filter->uids[i] = make_kuid(current_user_ns(), uids[i]);
		if (!uid_valid(filter->uids[i])) {
			*text = "ONLY_UIDS names a user that isn't in this user namespace";
			return -EINVAL;
		}
	}
	filter->uids_count = count;
	return 0;
}

static int tl_filter_comms(struct tl_filter *filter, const char (*comms)[TL_COMM_SIZE],
			   unsigned int count, const char **text)
{
	unsigned int i;

	filter->comms = kcalloc(count, sizeof(*filter->comms), GFP_KERNEL_ACCOUNT);
	if (!filter->comms)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		size_t length = strnlen(comms[i], TL_COMM_SIZE);
		size_t byte;

		if (length == TL_COMM_SIZE) {
			*text = "ONLY_COMMS has a name that doesn't end: 15 bytes at most";
			return -EINVAL;
		}
		for (byte = 0; byte <= length; byte++)
			tl_comm_want(&filter->comms[i], byte, comms[i][byte]);
	}
	filter->comms_count = count;
	return 0;
}

static int tl_filter_cgroups(struct tl_filter *filter, const u32 *fds, unsigned int count,
			     const char **text)
{
#ifdef TL_HAVE_CGROUPS
	unsigned int i;

	filter->cgroups = kcalloc(count, sizeof(*filter->cgroups), GFP_KERNEL_ACCOUNT);
	if (!filter->cgroups)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct cgroup *cgroup = cgroup_get_from_fd(fds[i]);

		if (IS_ERR(cgroup)) {
			*text = "ONLY_CGROUPS has a descriptor that is no directory of cgroup v2";
			return -EBADF;
		}
		filter->cgroups[filter->cgroups_count++] = cgroup;
	}
	return 0;
#else
	*text = "this kernel has no cgroups (CONFIG_CGROUPS)";
	return -EOPNOTSUPP;
#endif
}

/*
 * From now on hits must fulfil @request too. What was taken in before a failure goes with
 * tl_filter_destroy(); @text may say why.
 */
int tl_filter_narrow(struct tl_filter *filter, const struct tl_filter_request *request,
		     const char **text)
{
	int error = 0;

	filter->narrowed = request->cpus_count || request->uids_count || request->comms_count ||
			   request->cgroups_count;
	if (request->cpus_count)
		error = tl_filter_cpus(filter, request->cpus, request->cpus_count, text);
	if (!error && request->uids_count)
		error = tl_filter_uids(filter, request->uids, request->uids_count, text);
	if (!error && request->comms_count)
		error = tl_filter_comms(filter, request->comms, request->comms_count, text);
	if (!error && request->cgroups_count)
		error = tl_filter_cgroups(filter, request->cgroups, request->cgroups_count, text);
	return error;
}

static void tl_filter_put_cgroups(struct tl_filter *filter)
{
#ifdef TL_HAVE_CGROUPS
	while (filter->cgroups_count)
		cgroup_put(filter->cgroups[--filter->cgroups_count]);
#endif
	kfree(filter->cgroups);
}

/* No handler uses the filter any more. */
void tl_filter_destroy(struct tl_filter *filter)
{
	tl_filter_put_cgroups(filter);
	kfree(filter->cpus);
	kfree(filter->uids);
	kfree(filter->comms);
	if (filter->watching)
		unregister_kprobe(&filter->born);
	vfree(filter->members);
	*filter = (struct tl_filter){};
}
