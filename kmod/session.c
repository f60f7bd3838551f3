// SPDX-License-Identifier: GPL-2.0
/* session.c - one open file of the device and all that belongs to it */
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "session.h"

/* How often rings are looked at for those who poll. */
#define TL_WAKE_INTERVAL_NS	(10 * NSEC_PER_MSEC)

DEFINE_MUTEX(tl_sessions_lock);
LIST_HEAD(tl_sessions);
static u32 tl_session_last;	/* number */

static struct tl_ring *tl_session_ring(const struct tl_session *session, int cpu)
{
	return per_cpu_ptr(session->rings, cpu);
}

/* What a session may take for its rings, and again for its kretprobe instances. */
u64 tl_session_memory_max(void)
{
	return (u64)totalram_pages() << (PAGE_SHIFT - 4);
}

/* The largest ring that all CPUs can have; the smallest there is, whatever the RAM. */
u64 tl_session_ring_max(void)
{
	u64 each = div_u64(tl_session_memory_max(), num_possible_cpus());

	each = min_t(u64, each, TRAPLINE_RING_MAX);
	return each < TRAPLINE_RING_MIN ? TRAPLINE_RING_MIN : rounddown_pow_of_two(each);
}

static bool tl_session_readable(const struct tl_session *session)
{
	int cpu;

	if (!smp_load_acquire(&session->rings))	/* pairs with tl_session_make_rings() */
		return false;
	if (session->geometry.overwrite)
		return false;
	for_each_possible_cpu(cpu)
		if (tl_ring_readable(tl_session_ring(session, cpu), session->wake_chunks))
			return true;
	return false;
}

/* What poll() reports. */
__poll_t tl_session_events(const struct tl_session *session)
{
	__poll_t events = 0;

	/* Pairs with the release in tl_passed(). */
	if (smp_load_acquire(&session->triggered))
		events |= EPOLLPRI;
	if (tl_session_readable(session))
		events |= EPOLLIN | EPOLLRDNORM;
	return events;
}

bool tl_session_tails_valid(const struct tl_session *session)
{
	int cpu;

	if (session->geometry.overwrite)
		return true;
	for_each_possible_cpu(cpu)
		if (!tl_ring_tail_valid(tl_session_ring(session, cpu)))
			return false;
	return true;
}

/* Handlers wake nobody; while somebody polls, this looks for them. */
static enum hrtimer_restart tl_session_wake(struct hrtimer *timer)
{
	struct tl_session *session = container_of(timer, struct tl_session, wake);
	__poll_t events = tl_session_events(session);

	if (events)
		wake_up_interruptible_poll(&session->readers, events);
	/*
	 * A poller that is missed here has queued itself and starts the timer. Started
	 * here too, not forwarded: he may be doing so at this moment.
	 */
	if (wq_has_sleeper(&session->readers))
		hrtimer_start(timer, ns_to_ktime(TL_WAKE_INTERVAL_NS), HRTIMER_MODE_REL);
	return HRTIMER_NORESTART;
}

/* When somebody has queued himself in session->readers. */
void tl_session_arm(struct tl_session *session)
{
	smp_mb();	/* pairs with wq_has_sleeper(): queued, then the timer looked at */
	if (!hrtimer_is_queued(&session->wake))
		hrtimer_start(&session->wake, ns_to_ktime(TL_WAKE_INTERVAL_NS), HRTIMER_MODE_REL);
}

/* Of the calling task, or an ERR_PTR. */
struct tl_session *tl_session_create(void)
{
	struct tl_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return ERR_PTR(-ENOMEM);
	kref_init(&session->held);
	mutex_init(&session->lock);
	xa_init(&session->probes);
	init_waitqueue_head(&session->readers);
	tl_hrtimer_setup(&session->wake, tl_session_wake, HRTIMER_MODE_REL);
	tl_load_init(session);
	session->tsc = tl_clock_tsc_trusted();
	session->id = get_random_u64() | 1;
	session->owner = current->tgid;
	session->uid = current_euid();
	get_task_comm(session->comm, current);

	mutex_lock(&tl_sessions_lock);
	if (tl_session_last == U32_MAX) {
		mutex_unlock(&tl_sessions_lock);
		tl_session_drop(session);
		return ERR_PTR(-EOVERFLOW);	/* a number is never used twice */
	}
	session->number = ++tl_session_last;
	list_add_tail_rcu(&session->list, &tl_sessions);
	mutex_unlock(&tl_sessions_lock);
	return session;
}

static void tl_session_free(struct kref *held)
{
	struct tl_session *session = container_of(held, struct tl_session, held);

	mutex_destroy(&session->lock);
	kfree(session);
}

/* The open session of that number, to be dropped; NULL: there is none. */
struct tl_session *tl_session_find(u32 number)
{
	struct tl_session *session;

	mutex_lock(&tl_sessions_lock);
	list_for_each_entry(session, &tl_sessions, list) {
		if (session->number != number)
			continue;
		/* Its file leaves the list before it drops the session. */
		kref_get(&session->held);
		mutex_unlock(&tl_sessions_lock);
		return session;
	}
	mutex_unlock(&tl_sessions_lock);
	return NULL;
}

void tl_session_drop(struct tl_session *session)
{
	kref_put(&session->held, tl_session_free);
}

static void tl_session_free_rings(struct tl_ring __percpu *rings)
{
	int cpu;

	if (!rings)
		return;
	for_each_possible_cpu(cpu)
		tl_ring_free(per_cpu_ptr(rings, cpu));
	free_percpu(rings);
}

static void tl_session_free_metadata(struct tl_session *session)
{
	unsigned int i;

	tl_frames_free(&session->metadata_frames);
	for (i = 0; i < session->metadata_pages; i++)
		tl_page_free(session->metadata[i]);
	kvfree(session->metadata);
}

/*
 * Lifts @only, or everything, as far as it comes until ktime_get() is past @until.
 * Returns whether it was done.
 */
bool tl_session_lift(struct tl_session *session, struct tl_probe *only, ktime_t until)
{
	struct tl_probe *batch[64];
	struct tl_probe *probe;
	unsigned long id;
	unsigned int n = 0;

	if (only) {
		session->planted -= only->planted;
		tl_probes_lift(&only, 1);
		return true;
	}
	xa_for_each(&session->probes, id, probe) {
		if (!probe->planted)
			continue;
		session->planted--;
		batch[n++] = probe;
		if (n == ARRAY_SIZE(batch)) {
			tl_probes_lift(batch, n);
			n = 0;
			if (ktime_after(ktime_get(), until))
				return !session->planted;
		}
	}
	tl_probes_lift(batch, n);
	return true;
}

/*
 * The last descriptor and mapping are gone, however their owner went. Nobody is left who
 * could know the session but dumps that have found it by its number: they look at it under
 * its mutex, a message's worth at a time, and never after they have seen it closed. So this
 * waits for one message at most, and what they keep is the memory of the struct alone.
 */
void tl_session_destroy(struct tl_session *session)
{
	struct tl_probe *probe;
	unsigned long id;

	mutex_lock(&tl_sessions_lock);
	list_del_rcu(&session->list);
	mutex_unlock(&tl_sessions_lock);
	synchronize_rcu_expedited();	/* a crash's dump may be reading it */

	mutex_lock(&session->lock);
	session->closed = true;
	mutex_unlock(&session->lock);

	WRITE_ONCE(session->active, false);
	tl_load_destroy(session);
	tl_session_lift(session, NULL, KTIME_MAX);
	kick_all_cpus_sync();	/* see tl_session_wait_for_handlers() */
	tl_filter_destroy(&session->filter);
	hrtimer_cancel(&session->wake);
	xa_for_each(&session->probes, id, probe) {
		tl_probe_free(probe);
		cond_resched();
	}
	xa_destroy(&session->probes);
	free_percpu(session->load.cpus);
	tl_session_free_rings(session->rings);
	tl_session_free_metadata(session);
	tl_session_drop(session);
}

static int tl_session_make_rings(struct tl_session *session,
				 const struct tl_session_config *config)
{
	struct tl_ring_geometry *geometry = &session->geometry;
	struct tl_ring __percpu *rings;
	int cpu;

	geometry->size = config->ring_size;
	geometry->chunk_size = min_t(u64, TRAPLINE_CHUNK_MAX, config->ring_size / 4);
	geometry->cpus = nr_cpu_ids;
	geometry->session = session->id;
	geometry->clock_hz = tl_clock_hz(session->tsc);
	geometry->overwrite = config->overwrite;
	session->wake_chunks = config->wake_chunks;

	rings = __alloc_percpu_gfp(sizeof(struct tl_ring), SMP_CACHE_BYTES, GFP_KERNEL_ACCOUNT);
	if (!rings)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		int error = tl_ring_alloc(per_cpu_ptr(rings, cpu), cpu, geometry);

		if (error) {
			tl_session_free_rings(rings);
			return error;
		}
	}
	/* Pairs with the acquires in mmap and poll, which don't take the mutex. */
	smp_store_release(&session->rings, rings);
	return 0;
}

static int tl_session_make_filter(struct tl_session *session,
				  const struct tl_session_config *config, const char **text)
{
	struct tl_filter *filter = &session->filter;
	unsigned int i;
	int error;

	filter->excluded = config->excluded ?: -1;
	error = tl_filter_narrow(filter, &config->only, text);
	if (error || !config->restricted)
		return error;
	error = tl_filter_restrict(filter, config->follow);
	if (error) {
		*text = error == -ENOMEM ? "no memory for the filter" :
			error == -EOPNOTSUPP ?
			"no filter by process: kprobes are switched off: see /sys/kernel/debug/kprobes/enabled and the sysctl kernel.ftrace_enabled" :
			"no filter by process: the kernel allows no probe on wake_up_new_task";
		return error;
	}
	for (i = 0; i < config->tgids_count; i++)
		tl_filter_add(filter, config->tgids[i]);
	return 0;
}

/* Once. On failure the session is as bare as before, and @text may say why. */
int tl_session_configure(struct tl_session *session, const struct tl_session_config *config,
			 const char **text)
{
	int error;

	lockdep_assert_held(&session->lock);
	if (session->rings) {
		*text = "the session is configured already";
		return -EBUSY;
	}
	error = tl_session_make_filter(session, config, text);
	if (error)
		goto fail;
	error = tl_load_configure(session, config->guard);
	if (error) {
		*text = "no memory for the guard";
		goto fail;
	}
	error = tl_session_make_rings(session, config);
	if (error) {
		if (error == -ENOMEM)
			*text = "no memory for the rings: ask for smaller ones";
		goto fail;
	}
	session->maxactive = config->maxactive;
	session->limit = config->limit;
	return 0;
fail:
	free_percpu(session->load.cpus);
	session->load.cpus = NULL;
	session->load.most = 0;
	tl_filter_destroy(&session->filter);
	return error;
}

static int tl_session_metadata_page(struct tl_session *session)
{
	struct page *page = alloc_page(TL_GFP);

	if (!page)
		return -ENOMEM;
	tl_page_mark(page, TL_PAGE_METADATA, session->id);
	session->metadata[session->metadata_pages++] = page;
	return 0;
}

/* Lists the metadata's pages anew, and tells every ring where. */
static int tl_session_publish_metadata(struct tl_session *session)
{
	struct tl_frames frames = {};
	int error = tl_frames_make(&frames, session->metadata, session->metadata_pages,
				   session->id);
	int cpu;

	if (error)
		return error;
	for_each_possible_cpu(cpu)
		tl_ring_control(tl_session_ring(session, cpu))->metadata = frames.top;
	tl_frames_free(&session->metadata_frames);
	session->metadata_frames = frames;
	return 0;
}

/* Appends @bytes at @offset, which is how much there is already. */
int tl_session_metadata(struct tl_session *session, u64 offset, const void *data, u32 bytes,
			const char **text)
{
	const u32 room = PAGE_SIZE - sizeof(struct tl_page_head);
	u32 end = offset + bytes;

	lockdep_assert_held(&session->lock);
	if (!bytes) {
		*text = "DATA is empty";
		return -EINVAL;
	}
	if (offset != session->metadata_bytes) {
		*text = "metadata comes in order, without gaps";
		return -EINVAL;
	}
	if (session->generation) {
		*text = "metadata comes before the session is started";
		return -EBUSY;
	}
	if (offset + bytes > TRAPLINE_METADATA_MAX) {
		*text = "metadata is 64 MiB at most";
		return -E2BIG;
	}
	if (!session->metadata)
		session->metadata = kvcalloc(DIV_ROUND_UP(TRAPLINE_METADATA_MAX, room),
					     sizeof(*session->metadata), GFP_KERNEL_ACCOUNT);
	*text = "no memory for the metadata";
	if (!session->metadata)
		return -ENOMEM;
	/* Pages first: what fails after that leaves nothing half done. */
	while ((u64)session->metadata_pages * room < end)
		if (tl_session_metadata_page(session))
			return -ENOMEM;
	if (tl_session_publish_metadata(session))
		return -ENOMEM;
	while (session->metadata_bytes < end) {
		struct page *page = session->metadata[session->metadata_bytes / room];
		u32 used = session->metadata_bytes % room;
		u32 piece = min(end - session->metadata_bytes, room - used);

		memcpy(page_address(page) + sizeof(struct tl_page_head) + used, data, piece);
		tl_page_seal(page, used + piece);
		session->metadata_bytes += piece;
		data += piece;
	}
	return 0;
}

/*
 * Handlers run with preemption disabled, marks with interrupts, so a grace period waits for
 * both; for handlers in the idle loop, where RCU doesn't look, with interrupts off, an
 * interrupt does.
 */
static void tl_session_wait_for_handlers(void)
{
	synchronize_rcu();
	kick_all_cpus_sync();
}

/* All probes begin together. */
struct tl_instant tl_session_start(struct tl_session *session)
{
	struct tl_instant now;
	struct tl_probe *probe;
	unsigned long id;

	lockdep_assert_held(&session->lock);
	xa_for_each(&session->probes, id, probe)
		tl_probe_begin(probe);
	session->generation++;
	now = tl_clock_instant(session->tsc);
	session->begun = now;
	atomic64_set(&session->admitted, 0);
	atomic64_set(&session->taken, 0);
	WRITE_ONCE(session->ended, TRAPLINE_ENDED_NOT);
	WRITE_ONCE(session->dumped, false);
	WRITE_ONCE(session->silenced, 0);
	WRITE_ONCE(session->unprinted, false);
	WRITE_ONCE(session->dumps, 0);
	WRITE_ONCE(session->started, true);
	tl_load_begin(session, now.ticks);
	/* Handlers that see the flag see the generation: a return's own check else. */
	smp_store_release(&session->active, true);
	return now;
}

/*
 * When this returns nothing is in flight, and what was written is published whole. A
 * trigger may have ended the run before.
 */
struct tl_instant tl_session_stop(struct tl_session *session)
{
	struct tl_instant now;
	int cpu;

	lockdep_assert_held(&session->lock);
	WRITE_ONCE(session->active, false);
	tl_load_end(session);
	tl_session_wait_for_handlers();
	/* Now nobody is left who could set it, nor end the next run. */
	WRITE_ONCE(session->triggered, false);
	WRITE_ONCE(session->started, false);
	now = tl_clock_instant(session->tsc);
	for_each_possible_cpu(cpu)
		tl_ring_finish(&tl_session_ring(session, cpu)->writer, now.ticks);
	return now;
}

/*
 * Every record older than the returned time is visible, and no trigger lost: one that was
 * cleared here was set by a handler that had taken its record's time before, so the record
 * is older; and that began before the grace period, so it is visible. One that is set after
 * the clearing is announced again, even if its record made it into this time. One that ended
 * the run stays announced until STOP: no other will come.
 */
struct tl_instant tl_session_sync(struct tl_session *session)
{
	struct tl_instant now;

	/*
	 * The clearing is visible before the time is taken. Pairs with the release in
	 * tl_passed() too: a trigger that has ended the run is seen here, or sets it again.
	 */
	smp_store_mb(session->triggered, false);
	if (READ_ONCE(session->started) && !READ_ONCE(session->active) &&
	    !READ_ONCE(session->silenced))
		WRITE_ONCE(session->triggered, true);
	now = tl_clock_instant(session->tsc);
	/* Somebody watches: soon matters. A record of the idle loop may still come late. */
	synchronize_rcu_expedited();
	return now;
}

void tl_session_totals(struct tl_session *session, u64 *recorded, u64 *lost)
{
	int cpu;

	*recorded = 0;
	*lost = 0;
	if (!smp_load_acquire(&session->rings))	/* pairs with tl_session_make_rings() */
		return;
	for_each_possible_cpu(cpu) {
		const struct tl_ring_control *control =
			tl_ring_control(tl_session_ring(session, cpu));

		*recorded += READ_ONCE(control->written);
		*lost += READ_ONCE(control->lost_full) + READ_ONCE(control->lost_nested) +
			 READ_ONCE(control->lost_too_big);
	}
}
