/* SPDX-License-Identifier: GPL-2.0 */
/*
 * filter.h - which tasks a session records
 *
 * A set of thread groups, one bit for every possible pid: exact, never full, and
 * one test in the handlers. A probe of our own on the fork path lets descendants
 * join it and everybody else leave, so that a pid that comes again is not taken
 * for its predecessor.
 */
#ifndef TL_FILTER_H
#define TL_FILTER_H

#include <linux/bitops.h>
#include <linux/kprobes.h>
#include <linux/sched.h>

struct tl_filter {
	unsigned long *members;		/* NULL: everybody */
	pid_t excluded;			/* thread group never recorded; -1: none, 0 is idle's */
	bool follow;			/* members' children are members */
	bool watching;			/* born is registered */
	struct kprobe born;
};

int tl_filter_restrict(struct tl_filter *filter, bool follow);
void tl_filter_add(struct tl_filter *filter, pid_t tgid);
void tl_filter_destroy(struct tl_filter *filter);

static __always_inline bool tl_filter_wants(const struct tl_filter *filter, pid_t tgid)
{
	const unsigned long *members = filter->members;

	if (tgid == filter->excluded)
		return false;
	return !members || test_bit(tgid, members);
}

#endif
