/* SPDX-License-Identifier: GPL-2.0 */
/* probe.h - one probe: planted, counted, lifted */
#ifndef TL_PROBE_H
#define TL_PROBE_H

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include "program.h"
#include "site.h"
#include "shared/trapline.h"

struct tl_session;

/*
 * A probe's counters on one CPU, as struct trapline_counters has them. Handlers
 * of a CPU never run inside one another, so plain increments do.
 */
struct tl_counts {
	u64 hits;
	u64 recorded;
	u64 filtered;
	u64 lost_full;
	u64 lost_nested;
	u64 lost_too_big;
	u64 entered;
	u64 returned;
	u64 late;
	u64 stale;
	u64 limited;
};

/* What a call probe keeps of a call until its return, in the kernel's instance. */
struct tl_call {
	u64 time;		/* ticks at entry */
	u32 generation;		/* the session's at entry */
	u32 size;		/* bytes of entry fields */
#ifdef TL_OWN_INSTANCES
	struct kretprobe_instance *next;	/* of the probe's, in use or not */
	bool inside;
#endif
	u8 fields[];
};

struct tl_probe {
	/* What handlers use. */
	union {
		struct kprobe kp;	/* entry probes */
		struct kretprobe rp;	/* others; its .kp comes first */
	};
	struct tl_session *session;
	struct tl_counts __percpu *counts;
	union {				/* who goes on where a narrowed filter lets a hit pass */
		kprobe_pre_handler_t admitted;
		kretprobe_handler_t admitted_call;
	};
	struct tl_program entry;
	struct tl_program ret;
	u16 id;
	u8 kind;			/* enum trapline_probe_kind */
	u8 trigger;			/* enum trapline_trigger */
	u32 max_rate;			/* records in a second; 0: no limit */
	atomic64_t rate;		/* see shared/rate.h */

	bool planted;
	u32 maxactive;
	u64 instance_bytes;		/* memory of its kretprobe instances */
	u64 address;			/* what is trapped; the trap itself is at before.address */
	u64 offset;			/* bytes from symbol */
	u64 missed_recursion;		/* the kernel's counters at START ... */
	u64 missed_maxactive;
	char *symbol;
	void *label;			/* for a dump at a crash; may be NULL */
	u32 label_bytes;
	struct tl_site_text before;		/* the site as it was found */
#ifdef TL_OWN_INSTANCES
	struct kretprobe_instance *instances;	/* a call probe's, while it is planted */
#endif
};

/* What the sender of PROBE_ADD wants. Memory is his. */
struct tl_probe_request {
	u16 id;
	u8 kind;
	u8 trigger;
	u64 address;			/* 0: by symbol */
	u64 offset;
	u32 maxactive;
	u32 max_rate;
	const char *symbol;		/* may be NULL if there is an address */
	const void *entry;
	u32 entry_bytes;
	const void *ret;
	u32 ret_bytes;
	const void *label;
	u32 label_bytes;
};

#define TL_TEXT_SIZE	160

struct tl_probe *tl_probe_plant(struct tl_session *session, const struct tl_probe_request *request,
				char *text);
int tl_probe_arm(struct tl_probe *probe, char *text);
void tl_probes_lift(struct tl_probe **probes, unsigned int count);
void tl_probe_free(struct tl_probe *probe);
void tl_probe_begin(struct tl_probe *probe);
void tl_probe_counters(const struct tl_probe *probe, struct trapline_counters *sum);
enum trapline_technique tl_probe_technique(const struct tl_probe *probe);
u32 tl_maxactive_default(void);

#endif
