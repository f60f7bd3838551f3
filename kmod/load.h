/* SPDX-License-Identifier: GPL-2.0 */
/*
 * load.h - how much of a CPU a session's probes take, and when it is too much
 *
 * Every 256th hit of a probe on a CPU is timed and stands for 256: the time in its handlers, and
 * what the kernel takes to get there and back, which is measured once, with empty probes on
 * functions of our own. Four times a second a timer looks at what the last second comes to.
 */
#ifndef TL_LOAD_H
#define TL_LOAD_H

#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/workqueue.h>

/* One hit of so many is timed: what a count's low byte tells. */
#define TL_LOAD_EVERY	(U8_MAX + 1)

/* Looks in a second. */
#define TL_LOAD_LOOKS	4

struct tl_load_cpu {
	u64 spent;			/* ticks */
	u64 before[TL_LOAD_LOOKS];	/* spent at the latest looks */
};

struct tl_load {
	u32 most;			/* percent of a CPU; 0: nobody looks */
	u32 khz;			/* ticks in a millisecond */
	struct tl_load_cpu __percpu *cpus;
	u64 times[TL_LOAD_LOOKS];	/* ticks of the latest looks */
	unsigned int round;		/* of them, the oldest */
	u32 percent;			/* what was too much ... */
	u32 cpu;			/* ... on this one */
	struct hrtimer timer;
	struct work_struct lift;
};

struct tl_session;

void tl_load_init(struct tl_session *session);
int tl_load_configure(struct tl_session *session, u32 most);
void tl_load_begin(struct tl_session *session, u64 now);
void tl_load_end(struct tl_session *session);
void tl_load_destroy(struct tl_session *session);
void tl_load_add(struct tl_session *session, u64 ticks, u64 floor);
u64 tl_load_entry_floor(const struct kprobe *kp);
u64 tl_load_return_floor(void);
u64 tl_load_spent_ns(const struct tl_session *session);

#endif
