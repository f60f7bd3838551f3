/* SPDX-License-Identifier: GPL-2.0 */
/*
 * session.h - one open file of the device and all that belongs to it
 *
 * A session begins bare; tl_session_configure() gives it rings. Its mutex guards
 * everything but what handlers read or write: active, triggered, ended, generation, filter,
 * limit, rings and clock, which are set before the first probe is planted, or are single words.
 */
#ifndef TL_SESSION_H
#define TL_SESSION_H

#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include "clock.h"
#include "filter.h"
#include "load.h"
#include "probe.h"
#include "ring.h"

struct file;

struct tl_session {
	/* What handlers read. */
	bool active;			/* started, and no trigger has ended the run */
	bool tsc;
	u32 generation;			/* START counts it up */
	struct tl_ring __percpu *rings;	/* NULL: not configured */
	struct tl_filter filter;
	u64 limit;			/* records of a run; 0: none */
	struct tl_load load;

	atomic64_t admitted;		/* of this run's: records, and what may become one */
	atomic64_t taken;		/* records */
	int ended;			/* of this run: enum trapline_ended */
	bool triggered;			/* handlers set it: a trigger was hit */
	bool started;			/* by START, until STOP */
	bool dumped;			/* a crash has ended the run: see console.c */
	bool unprinted;			/* ... and its records are still to be printed */
	u8 dumps;			/* that were begun of this run: two, if one took over */
	u64 silenced;			/* when a crash ended what nothing else had: ns; 0: no */
	bool wake_chunks;		/* wake pollers for finished chunks only */
	bool closed;			/* nothing is left of it but these words */
	struct kref held;		/* by its file, and by dumps of others */
	struct mutex lock;
	struct list_head list;		/* of all sessions */
	struct xarray probes;		/* by event id, lifted ones included */
	u32 planted;			/* probes in place */
	u64 instance_bytes;		/* memory of planted probes' kretprobe instances */
	u32 maxactive;			/* where a probe asks for nothing else */
	u64 id;				/* random, names the session in memory images */
	u32 number;			/* counted up, names it in lists */
	struct tl_instant begun;	/* the last START */
	struct tl_ring_geometry geometry;

	struct page **metadata;
	unsigned int metadata_pages;
	u32 metadata_bytes;
	struct tl_frames metadata_frames;

	wait_queue_head_t readers;
	struct hrtimer wake;		/* armed while somebody polls */

	pid_t owner;			/* thread group that opened it */
	kuid_t uid;
	char comm[TASK_COMM_LEN];
};

struct tl_session_config {
	u64 ring_size;			/* bytes; a valid one */
	u32 maxactive;
	u64 limit;			/* records of a run; 0: none */
	u32 guard;			/* percent of a CPU; 0: none */
	bool restricted;		/* only the thread groups below */
	bool follow;
	bool overwrite;
	bool wake_chunks;
	pid_t excluded;
	pid_t *tgids;			/* in the initial pid namespace */
	unsigned int tgids_count;
	struct tl_filter_request only;
};

struct tl_session *tl_session_create(void);
void tl_session_destroy(struct tl_session *session);
struct tl_session *tl_session_find(u32 number);
void tl_session_drop(struct tl_session *session);
int tl_session_configure(struct tl_session *session, const struct tl_session_config *config,
			 const char **text);
int tl_session_metadata(struct tl_session *session, u64 offset, const void *data, u32 bytes,
			const char **text);
struct tl_instant tl_session_start(struct tl_session *session);
struct tl_instant tl_session_stop(struct tl_session *session);
struct tl_instant tl_session_sync(struct tl_session *session);
void tl_session_arm(struct tl_session *session);
__poll_t tl_session_events(const struct tl_session *session);
bool tl_session_tails_valid(const struct tl_session *session);
bool tl_session_lift(struct tl_session *session, struct tl_probe *only, ktime_t until);
void tl_session_totals(struct tl_session *session, u64 *recorded, u64 *lost);
u64 tl_session_memory_max(void);
u64 tl_session_ring_max(void);

/* All sessions, for listing: by number; under RCU for who can't take the lock. */
extern struct mutex tl_sessions_lock;
extern struct list_head tl_sessions;

#endif
