/* SPDX-License-Identifier: GPL-2.0 */
/*
 * filter.h - which tasks a session records
 *
 * A set of thread groups, one bit for every possible pid: exact, never full, and
 * one test in the handlers. A probe of our own on the fork path lets descendants
 * join it and everybody else leave, so that a pid that comes again is not taken
 * for its predecessor.
 *
 * Besides, a hit may have to be on certain CPUs, or of a task with certain users, names or
 * cgroups. Handlers for that come before the others, so that who doesn't ask doesn't pay.
 */
#ifndef TL_FILTER_H
#define TL_FILTER_H

#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include "shared/comm.h"

/* What hits are restricted to; memory is the sender's. */
struct tl_filter_request {
	const u32 *cpus;
	const u32 *uids;		/* in the sender's user namespace */
	const char (*comms)[TL_COMM_SIZE];
	const u32 *cgroups;		/* descriptors of the sender's */
	unsigned int cpus_count;
	unsigned int uids_count;
	unsigned int comms_count;
	unsigned int cgroups_count;
};

struct tl_filter {
	unsigned long *members;		/* NULL: everybody */
	pid_t excluded;			/* thread group never recorded; -1: none, 0 is idle's */
	bool follow;			/* members' children are members */
	bool watching;			/* born is registered */
	struct kprobe born;

	bool narrowed;			/* by any of these */
	unsigned long *cpus;		/* a bit for each; NULL: all */
	kuid_t *uids;
	struct tl_comm *comms;
	struct cgroup **cgroups;
	unsigned int uids_count;
	unsigned int comms_count;
	unsigned int cgroups_count;
};

int tl_filter_restrict(struct tl_filter *filter, bool follow);
void tl_filter_add(struct tl_filter *filter, pid_t tgid);
int tl_filter_narrow(struct tl_filter *filter, const struct tl_filter_request *request,
		     const char **text);
void tl_filter_destroy(struct tl_filter *filter);

static __always_inline bool tl_filter_wants(const struct tl_filter *filter, pid_t tgid)
{
	const unsigned long *members = filter->members;

	if (tgid == filter->excluded)
		return false;
	return !members || test_bit(tgid, members);
}

static __always_inline bool tl_filter_has_uid(const struct tl_filter *filter)
{
	const kuid_t *uid = filter->uids;
	const kuid_t *end = uid + filter->uids_count;
	kuid_t own = current_uid();

	for (; uid != end; uid++)
		if (uid_eq(*uid, own))
			return true;
	return false;
}

static __always_inline bool tl_filter_has_comm(const struct tl_filter *filter)
{
	const struct tl_comm *comm = filter->comms;
	const struct tl_comm *end = comm + filter->comms_count;
	u64 first = tl_get_u64(current->comm);
	u64 second = tl_get_u64(current->comm + sizeof(u64));

	for (; comm != end; comm++)
		if (tl_comm_is(comm, first, second))
			return true;
	return false;
}

static __always_inline bool tl_filter_has_cgroup(const struct tl_filter *filter)
{
#ifdef TL_HAVE_CGROUPS
	/* Preemption is disabled, which is a read section of RCU. */
	struct cgroup *own = rcu_dereference_raw(current->cgroups)->dfl_cgrp;
	struct cgroup **cgroup = filter->cgroups;
	struct cgroup **end = cgroup + filter->cgroups_count;

	for (; cgroup != end; cgroup++)
		if (cgroup_is_descendant(own, *cgroup))
			return true;
#endif
	return false;
}

/* Whether a narrowed filter lets a hit pass, here and of the current task. */
static __always_inline bool tl_filter_admits(const struct tl_filter *filter)
{
	if (filter->cpus && !test_bit(raw_smp_processor_id(), filter->cpus))
		return false;
	if (filter->comms_count && !tl_filter_has_comm(filter))
		return false;
	if (filter->uids_count && !tl_filter_has_uid(filter))
		return false;
	return !filter->cgroups_count || tl_filter_has_cgroup(filter);
}

#endif
