// SPDX-License-Identifier: GPL-2.0
/*
 * handler.c - what runs when a trap is hit
 *
 * Handlers run with preemption disabled, never inside one another on a CPU, in
 * any context but another handler. They take no lock, allocate nothing, wake
 * nobody; every hit ends in exactly one counter.
 *
 * There is a general handler for each kind of probe, one before it for conditions that are
 * comparisons of one value (shared/guard.h), one before all for filters by CPU, user, name or
 * cgroup, and fast ones for what is common: registers for fields, the TSC for a clock, a task that
 * allowed preemption, room in the chunk, a task already named, and, but for the entry of a call,
 * which only puts fields down, no trigger and no limit. A fast handler that finds anything else
 * undoes nothing, for it has done nothing, and jumps to the general one. It calls no function, so
 * it saves no registers. There are none where machine.h has no TL_FAST_HANDLERS.
 */
#include <linux/hardirq.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include "handler.h"
#include "machine.h"
#include "session.h"
#include "shared/rate.h"

/*
 * preempt_count() in a handler whose trap was hit in a task that allowed
 * preemption: the way into every handler but a breakpoint's disables it once.
 */
#define TL_OWN_COUNT	(IS_ENABLED(CONFIG_PREEMPT_COUNT) ? PREEMPT_OFFSET : 0)

#ifdef TL_FAST_HANDLERS

#define tl_return_count	TL_OWN_COUNT

void tl_handler_learn_returns(void)
{
}

#else

/*
 * The same in a return's handler. Some arm64 kernels get there by a breakpoint, which disables
 * preemption once more, so this is found out by a return.
 */
static u32 tl_return_count = TL_OWN_COUNT;
static DEFINE_MUTEX(tl_learn_lock);	/* for what follows */
static u32 tl_learn_outside;
static bool tl_learned;

static noinline notrace void tl_learn_from(void)
{
	barrier();
}

static int tl_learn_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	tl_return_count = preempt_count() - tl_learn_outside;
	tl_learned = true;
	return 0;
}
NOKPROBE_SYMBOL(tl_learn_return);

/* Once; before the first return probe is armed. */
void tl_handler_learn_returns(void)
{
	struct kretprobe rp = {
		.kp.addr = (void *)tl_learn_from,
		.handler = tl_learn_return,
		.maxactive = 1,
	};

	mutex_lock(&tl_learn_lock);
	if (!tl_learned && !register_kretprobe(&rp)) {
		preempt_disable();
		tl_learn_outside = preempt_count();
		tl_learn_from();
		preempt_enable();
		unregister_kretprobe(&rp);
	}
	mutex_unlock(&tl_learn_lock);
}

#endif

/* The interrupted context's preempt_count(). @kp: NULL in return handlers. */
static __always_inline u32 tl_interrupted_count(const struct kprobe *kp)
{
	u32 count = preempt_count();

	/* PREEMPT_RT keeps this part elsewhere. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		count |= softirq_count();
	/* A breakpoint can be an exception of the NMI kind; it disables no preemption then. */
	if (TL_TRAP_IS_NMI && kp && !(kp->flags & KPROBE_FLAG_FTRACE) && count & NMI_MASK)
		return count - NMI_OFFSET - HARDIRQ_OFFSET;
	return count - (kp ? TL_OWN_COUNT : tl_return_count);
}

/* The record's context flags. @kp: NULL in return handlers. */
static u16 tl_context(const struct kprobe *kp, const struct pt_regs *regs)
{
	u32 count = tl_interrupted_count(kp);
	u16 flags = min_t(u32, count & PREEMPT_MASK, TL_PREEMPT_DEPTH);

	if (tl_regs_irqs_off(regs, kp))
		flags |= TL_IRQS_OFF;
	if (tif_need_resched())
		flags |= TL_NEED_RESCHED;
	if (count & NMI_MASK)
		flags |= TL_NMI;
	if (count & HARDIRQ_MASK)
		flags |= TL_HARDIRQ;
	if (count & SOFTIRQ_OFFSET)
		flags |= TL_SOFTIRQ;
	else if (count & SOFTIRQ_MASK)
		flags |= TL_BH_OFF;
	return flags;
}
NOKPROBE_SYMBOL(tl_context);

#ifdef TL_FAST_HANDLERS

/* Raw: with the inverted need-resched bit, so that one look sees both. */
#define TL_USUAL_COUNT	(TL_OWN_COUNT | PREEMPT_NEED_RESCHED)

/*
 * Whether the context flags are all clear, seen at two looks. Need-resched counts once it
 * was folded into preempt_count(), an interrupt after another CPU has asked for it.
 * PREEMPT_RT keeps soft interrupts, and its lazy need-resched, in the task.
 */
static __always_inline bool tl_context_usual(const struct pt_regs *regs)
{
	return tl_raw_count() == TL_USUAL_COUNT && !tl_regs_irqs_off(regs, false) &&
	       (!IS_ENABLED(CONFIG_PREEMPT_RT) || (!softirq_count() && !tif_need_resched()));
}

#endif

/* Whether the interrupted context has user memory of its own. */
static __always_inline bool tl_user_context(const struct kprobe *kp)
{
	u32 count = tl_interrupted_count(kp);

	return !(count & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET)) && current->mm &&
	       !(current->flags & PF_KTHREAD);
}

/* Whether the hit is wanted. */
static __always_inline bool tl_wanted(const struct tl_session *session)
{
	return likely(tl_filter_wants(&session->filter, current->tgid));
}

/* A hit that ends here. */
static __always_inline void tl_count_filtered(struct tl_counts *counts)
{
	counts->hits++;
	counts->filtered++;
}

/*
 * Whether a hit goes on where the session's filter is narrowed; else it ends here, counted if
 * it had to be.
 */
static __always_inline bool tl_admitted(const struct tl_probe *probe)
{
	struct tl_session *session = probe->session;

	if (!READ_ONCE(session->active))
		return false;
	if (tl_filter_admits(&session->filter))
		return true;
	tl_count_filtered(this_cpu_ptr(probe->counts));
	return false;
}

/* Whether this hit is timed for the session's load: see load.h. */
static __always_inline bool tl_sampled(const u64 *hits)
{
	return unlikely(tl_low_byte_is_zero(hits));
}

/*
 * Of a hit that began at @begun, and was counted as @now instead of @before. The first of all
 * stands for itself alone, and is left out.
 */
static __always_inline void tl_load_hit(struct tl_session *session, u64 begun, u64 before,
					u64 now, u64 floor)
{
	if (session->load.most && before && now != before)
		tl_load_add(session, tl_clock_ticks(session->tsc) - begun, floor);
}

/* A hit that is timed: counted before, so that its handler doesn't come here again. */
static noinline int tl_entry_timed(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	u64 begun = tl_clock_ticks(probe->session->tsc);
	u64 hits = counts->hits;

	counts->hits++;
	probe->kp.pre_handler(kp, regs);
	counts->hits--;
	tl_load_hit(probe->session, begun, hits, counts->hits, tl_load_entry_floor(kp));
	return 0;
}
NOKPROBE_SYMBOL(tl_entry_timed);

/* Room for a record in an entered ring; NULL: dropped and counted. */
static u8 *tl_record_begin(const struct tl_probe *probe, struct tl_counts *counts,
			   struct tl_ring_writer *w, u16 flags, u64 now, u32 size)
{
	struct tl_task task = tl_task_of(current);
	u8 *at = tl_ring_reserve(w, &task, probe->id, flags, now, size);

	if (at)
		return at;
	if (w->drop == TL_DROP_FULL)
		counts->lost_full++;
	else
		counts->lost_too_big++;
	return NULL;
}
NOKPROBE_SYMBOL(tl_record_begin);

#ifdef TL_FAST_HANDLERS
/*
 * tl_record_begin() for the usual case, which enters the ring; false: it did
 * nothing, and somebody else must.
 */
static __always_inline bool tl_record_begin_fast(const struct tl_probe *probe,
						 struct tl_ring_writer *w, u64 now, u32 size,
						 u8 **at)
{
	if (unlikely(!tl_ring_try_enter(w)))
		return false;
	{
		/* Not before the barrier: registers are few. */
		const struct tl_task task = tl_task_of(current);

		if (likely(tl_ring_reserve_fast(w, &task, probe->id, 0, now, size, at)))
			return true;
	}
	tl_ring_leave(w);
	return false;
}
#endif

/* Publishes a record whose fields end at @end. */
static __always_inline void tl_record_end(struct tl_counts *counts, struct tl_ring_writer *w,
					  u8 *end)
{
	tl_ring_commit(w, end);
	counts->recorded++;
}

/*
 * What handlers of hits begin with: false if this one ends here, counted. After
 * true the ring is entered.
 */
static __always_inline bool tl_hit(struct tl_probe *probe, struct tl_counts **counts,
				   struct tl_ring **ring)
{
	struct tl_session *session = probe->session;

	if (!READ_ONCE(session->active))
		return false;
	*counts = this_cpu_ptr(probe->counts);
	(*counts)->hits++;
	if (!tl_wanted(session)) {
		(*counts)->filtered++;
		return false;
	}
	*ring = this_cpu_ptr(session->rings);
	if (likely(tl_ring_enter(&(*ring)->writer)))
		return true;
	(*counts)->lost_nested++;
	return false;
}

/* Ends the run, unless something has. */
void tl_end(struct tl_session *session, enum trapline_ended why)
{
	cmpxchg(&session->ended, TRAPLINE_ENDED_NOT, why);
	WRITE_ONCE(session->active, false);
	/* Pairs with the acquire in tl_session_events(): the run has ended, then it is told. */
	smp_store_release(&session->triggered, true);
}
NOKPROBE_SYMBOL(tl_end);

/* Whether there is one more in the second that @now is in. */
static bool tl_rate_allows(struct tl_probe *probe, u64 now)
{
	const struct tl_session *session = probe->session;
	s64 ticks = now - session->begun.ticks;
	u32 second = ticks > 0 ? div64_u64(ticks, session->geometry.clock_hz) : 0;
	s64 state = atomic64_read(&probe->rate);
	u64 next;

	do {
		next = tl_rate_take(state, second, probe->max_rate);
		if (!next)
			return false;
	} while (!atomic64_try_cmpxchg(&probe->rate, &state, next));
	return true;
}
NOKPROBE_SYMBOL(tl_rate_allows);

/*
 * Whether a hit at @now that has passed all else may become a record; if so tl_settle() is
 * told whether it has.
 */
static __always_inline bool tl_allowed(struct tl_probe *probe, u64 now)
{
	struct tl_session *session = probe->session;

	if (probe->max_rate && !tl_rate_allows(probe, now))
		return false;
	if (likely(!session->limit))
		return true;
	if ((u64)atomic64_inc_return(&session->admitted) <= session->limit)
		return true;
	atomic64_dec(&session->admitted);
	return false;
}

/* The run ends with its last record, not with who was admitted last: he may find no room. */
static __always_inline void tl_settle(struct tl_session *session, bool recorded)
{
	if (likely(!session->limit))
		return;
	if (!recorded)
		atomic64_dec(&session->admitted);
	else if ((u64)atomic64_inc_return(&session->taken) == session->limit)
		tl_end(session, TRAPLINE_ENDED_LIMIT);
}

/*
 * What a probe with a trigger does when its programs have let a hit pass, and its
 * record, if there was room for it, is published.
 */
static __always_inline void tl_passed(const struct tl_probe *probe)
{
	struct tl_session *session = probe->session;

	if (likely(probe->trigger == TRAPLINE_TRIGGER_NONE))
		return;
	if (probe->trigger == TRAPLINE_TRIGGER_STOP)
		tl_end(session, TRAPLINE_ENDED_TRIGGER);
	else
		smp_store_release(&session->triggered, true);	/* as tl_end() */
}

/* A hit of a probe without a second half. @kp: NULL in return handlers. */
static __always_inline void tl_hit_general(struct tl_probe *probe, const struct kprobe *kp,
					   const struct tl_program *program, struct pt_regs *regs)
{
	struct tl_counts *counts;
	struct tl_ring *ring;
	u64 now;
	int size;
	u8 *at;

	if (!tl_hit(probe, &counts, &ring))
		return;
	now = tl_clock_ticks(probe->session->tsc);
	size = tl_program_run(program, regs, NULL, tl_user_context(kp), ring->scratch);
	if (size < 0) {
		counts->filtered++;
	} else if (!tl_allowed(probe, now)) {
		counts->limited++;
	} else {
		at = tl_record_begin(probe, counts, &ring->writer, tl_context(kp, regs), now, size);
		if (at) {
			memcpy(at, ring->scratch, size);
			tl_record_end(counts, &ring->writer, at + size);
		}
		tl_settle(probe->session, at);
		tl_passed(probe);
	}
	tl_ring_leave(&ring->writer);
}

static noinline int tl_entry_general(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);

	tl_hit_general(probe, kp, &probe->entry, regs);
	return 0;
}
NOKPROBE_SYMBOL(tl_entry_general);

static notrace int tl_entry_any(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);

	if (!READ_ONCE(probe->session->active))
		return 0;
	if (tl_sampled(&this_cpu_ptr(probe->counts)->hits))
		return tl_entry_timed(kp, regs);
	return tl_entry_general(kp, regs);
}
NOKPROBE_SYMBOL(tl_entry_any);

/* What its guard rejects goes no further, and is counted as the program would have it counted. */
static notrace int tl_entry_guarded(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);
	struct tl_session *session = probe->session;
	struct tl_counts *counts;

	if (!READ_ONCE(session->active))
		return 0;
	counts = this_cpu_ptr(probe->counts);
	if (tl_sampled(&counts->hits))
		return tl_entry_timed(kp, regs);
	if (tl_wanted(session) && !tl_program_guards(&probe->entry, regs))
		return tl_entry_general(kp, regs);
	tl_count_filtered(counts);
	return 0;
}
NOKPROBE_SYMBOL(tl_entry_guarded);

#ifdef TL_FAST_HANDLERS

static __always_inline int tl_entry_fast(struct kprobe *kp, struct pt_regs *regs,
					 enum tl_shape shape)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);
	struct tl_session *session = probe->session;
	struct tl_ring_writer *w;
	struct tl_counts *counts;
	u32 size;
	u8 *at;

	if (tl_low_byte_is_zero(&session->active))
		return 0;
	counts = this_cpu_ptr(probe->counts);
	if (tl_sampled(&counts->hits))
		return tl_entry_timed(kp, regs);
	if (!tl_wanted(session)) {
		tl_count_filtered(counts);
		return 0;
	}
	if (unlikely(!tl_context_usual(regs)))
		return tl_entry_general(kp, regs);
	w = &this_cpu_ptr(session->rings)->writer;
	size = probe->entry.size;
	if (unlikely(!tl_record_begin_fast(probe, w, tl_counter(), size, &at)))
		return tl_entry_general(kp, regs);
	counts->hits++;
	if (shape == TL_SHAPE_ARGS)
		tl_program_args(size, regs, at);
	else if (shape == TL_SHAPE_WORDS)
		tl_program_words(&probe->entry, regs, at);
	else
		tl_program_parts(&probe->entry, regs, at);
	tl_record_end(counts, w, at + size);
	tl_ring_leave(w);
	return 0;
}

static notrace int tl_entry_args(struct kprobe *kp, struct pt_regs *regs)
{
	return tl_entry_fast(kp, regs, TL_SHAPE_ARGS);
}
NOKPROBE_SYMBOL(tl_entry_args);

static notrace int tl_entry_words(struct kprobe *kp, struct pt_regs *regs)
{
	return tl_entry_fast(kp, regs, TL_SHAPE_WORDS);
}
NOKPROBE_SYMBOL(tl_entry_words);

static notrace int tl_entry_parts(struct kprobe *kp, struct pt_regs *regs)
{
	return tl_entry_fast(kp, regs, TL_SHAPE_PARTS);
}
NOKPROBE_SYMBOL(tl_entry_parts);

#endif

static notrace int tl_entry_narrowed(struct kprobe *kp, struct pt_regs *regs)
{
	struct tl_probe *probe = container_of(kp, struct tl_probe, kp);

	if (tl_sampled(&this_cpu_ptr(probe->counts)->hits) && READ_ONCE(probe->session->active))
		return tl_entry_timed(kp, regs);
	return tl_admitted(probe) ? probe->admitted(kp, regs) : 0;
}
NOKPROBE_SYMBOL(tl_entry_narrowed);

#if defined(TL_HAVE_GET_KRETPROBE) && !defined(CONFIG_KRETPROBE_ON_RETHOOK)
/*
 * There an instance forgets whose it is when its probe is lifted, also between the kernel's look
 * and ours: then it is the probe of a session that doesn't record.
 */
static int tl_gone_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 1;
}
NOKPROBE_SYMBOL(tl_gone_call);

static struct tl_session tl_gone_session;
static DEFINE_PER_CPU(struct tl_counts, tl_gone_counts);
static struct tl_probe tl_gone_probe = {
	.session = &tl_gone_session,
	.counts = &tl_gone_counts,
	.rp = { .entry_handler = tl_gone_call, .handler = tl_gone_call },
	.admitted_call = tl_gone_call,
};

static __always_inline struct tl_probe *tl_probe_of(struct kretprobe_instance *ri)
{
	struct kretprobe *rp = tl_kretprobe_of(ri);

	return likely(rp) ? container_of(rp, struct tl_probe, rp) : &tl_gone_probe;
}
#else
static __always_inline struct tl_probe *tl_probe_of(struct kretprobe_instance *ri)
{
	return container_of(tl_kretprobe_of(ri), struct tl_probe, rp);
}
#endif

/* As tl_entry_timed(), of a call's entry. */
static noinline int tl_call_entry_timed(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	u64 begun = tl_clock_ticks(probe->session->tsc);
	u64 hits = counts->hits;
	int over;

	counts->hits++;
	over = probe->rp.entry_handler(ri, regs);
	counts->hits--;
	tl_load_hit(probe->session, begun, hits, counts->hits, tl_load_entry_floor(&probe->rp.kp));
	return over;
}
NOKPROBE_SYMBOL(tl_call_entry_timed);

/* Of a call's return. */
static noinline int tl_call_return_timed(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	u64 begun = tl_clock_ticks(probe->session->tsc);
	u64 returned = counts->returned;

	counts->returned++;
	probe->rp.handler(ri, regs);
	counts->returned--;
	tl_load_hit(probe->session, begun, returned, counts->returned,
		    tl_load_return_floor());
	return 0;
}
NOKPROBE_SYMBOL(tl_call_return_timed);

/* Of a return probe, where the kernel's share is both ends'. */
static noinline int tl_return_timed(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	u64 begun = tl_clock_ticks(probe->session->tsc);
	u64 hits = counts->hits;

	counts->hits++;
	probe->rp.handler(ri, regs);
	counts->hits--;
	tl_load_hit(probe->session, begun, hits, counts->hits,
		    tl_load_entry_floor(&probe->rp.kp) + tl_load_return_floor());
	return 0;
}
NOKPROBE_SYMBOL(tl_return_timed);

/* Return probes: no entry, the return is the hit. */
int tl_handler_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_counts *counts = this_cpu_ptr(probe->counts);

	if (!READ_ONCE(probe->session->active))
		return 0;
	tl_return_regs(ri, regs);
	if (tl_sampled(&counts->hits))
		return tl_return_timed(ri, regs);
	if (probe->session->filter.narrowed && !tl_admitted(probe))
		return 0;
	if (probe->ret.guarded && tl_program_guards(&probe->ret, regs)) {
		tl_count_filtered(counts);
		return 0;
	}
	tl_hit_general(probe, NULL, &probe->ret, regs);
	return 0;
}
NOKPROBE_SYMBOL(tl_handler_return);

/* Where the instances are ours to look through: nobody is inside any more. */
static __always_inline void tl_call_over(struct tl_call *call)
{
#ifdef TL_OWN_INSTANCES
	WRITE_ONCE(call->inside, false);
#endif
}

/* The entry of a call, by the entry program's shape. Not 0: forget the call. */
static __always_inline int tl_call_entry(struct kretprobe_instance *ri, struct pt_regs *regs,
					 enum tl_shape shape)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_session *session = probe->session;
	struct tl_call *call = (struct tl_call *)ri->data;
	struct tl_counts *counts;
	int size;

	/* Its last call may never have returned. */
	tl_call_over(call);
	if (!READ_ONCE(session->active))
		return 1;
	counts = this_cpu_ptr(probe->counts);
	if (tl_sampled(&counts->hits))
		return tl_call_entry_timed(ri, regs);
	counts->hits++;
	if (!tl_wanted(session)) {
		counts->filtered++;
		return 1;
	}
	call->generation = READ_ONCE(session->generation);
#ifdef TL_FAST_HANDLERS
	if (shape != TL_SHAPE_PROGRAM) {
		if (shape == TL_SHAPE_ARGS)
			tl_program_args(probe->entry.size, regs, call->fields);
		else
			tl_program_parts(&probe->entry, regs, call->fields);
		call->time = tl_counter();
	} else
#endif
	{
		size = tl_program_run(&probe->entry, regs, NULL, tl_user_context(&probe->rp.kp),
				      call->fields);
		if (size < 0) {
			counts->filtered++;
			return 1;
		}
		call->size = size;
		call->time = tl_clock_ticks(session->tsc);
	}
#ifdef TL_OWN_INSTANCES
	WRITE_ONCE(call->inside, true);
#endif
	counts->entered++;
	return 0;
}

static int tl_call_entry_general(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return tl_call_entry(ri, regs, TL_SHAPE_PROGRAM);
}
NOKPROBE_SYMBOL(tl_call_entry_general);

static notrace int tl_call_entry_guarded(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_session *session = probe->session;
	struct tl_counts *counts;

	tl_call_over((struct tl_call *)ri->data);
	if (!READ_ONCE(session->active))
		return 1;
	counts = this_cpu_ptr(probe->counts);
	if (tl_sampled(&counts->hits))
		return tl_call_entry_timed(ri, regs);
	if (tl_wanted(session) && !tl_program_guards(&probe->entry, regs))
		return tl_call_entry_general(ri, regs);
	tl_count_filtered(counts);
	return 1;
}
NOKPROBE_SYMBOL(tl_call_entry_guarded);

static notrace int tl_call_entry_narrowed(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);

	if (tl_sampled(&this_cpu_ptr(probe->counts)->hits) && READ_ONCE(probe->session->active))
		return tl_call_entry_timed(ri, regs);
	if (tl_admitted(probe))
		return probe->admitted_call(ri, regs);
	tl_call_over((struct tl_call *)ri->data);
	return 1;
}
NOKPROBE_SYMBOL(tl_call_entry_narrowed);

#ifdef TL_FAST_HANDLERS

static notrace int tl_call_entry_fast(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return tl_call_entry(ri, regs, TL_SHAPE_ARGS);
}
NOKPROBE_SYMBOL(tl_call_entry_fast);

static notrace int tl_call_entry_parts(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return tl_call_entry(ri, regs, TL_SHAPE_PARTS);
}
NOKPROBE_SYMBOL(tl_call_entry_parts);

#endif

/* A clock may step back between CPUs. */
static __always_inline u64 tl_call_duration(const struct tl_call *call, u64 now)
{
	s64 ticks = now - call->time;

	return likely(ticks >= 0) ? ticks : 0;
}

/* Whether the return is that of a call to be recorded; else it is counted. */
static __always_inline bool tl_call_current(const struct tl_session *session,
					    struct tl_call *call, struct tl_counts *counts)
{
	tl_call_over(call);
	if (unlikely(!READ_ONCE(session->active))) {
		counts->late++;
		return false;
	}
	if (unlikely(call->generation != READ_ONCE(session->generation))) {
		counts->stale++;
		return false;
	}
	return true;
}

static __always_inline void tl_put_call(u8 *at, const struct tl_call *call, u32 size, u64 now,
					const u8 *ret, u32 ret_size)
{
	memcpy(at, call->fields, size);
	tl_put_u64(at + size, tl_call_duration(call, now));
	memcpy(at + size + 8, ret, ret_size);
}

static noinline int tl_call_return_general(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_call *call = (struct tl_call *)ri->data;
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	struct tl_session *session = probe->session;
	struct tl_entered entered;
	struct tl_ring *ring;
	u32 entry_size, size;
	u64 now;
	int ret_size;
	u8 *at;

	if (!tl_call_current(session, call, counts))
		return 0;
	counts->returned++;
	ring = this_cpu_ptr(session->rings);
	if (!tl_ring_enter(&ring->writer)) {
		counts->lost_nested++;
		return 0;
	}
	now = tl_clock_ticks(session->tsc);
	/* The fast entry leaves out what is always the same. */
	entry_size = probe->entry.shape == TL_SHAPE_PROGRAM ? call->size : probe->entry.size;
	entered.fields = call->fields;
	entered.duration = tl_call_duration(call, now);
	tl_return_regs(ri, regs);
	ret_size = tl_program_run(&probe->ret, regs, &entered, tl_user_context(NULL),
				  ring->scratch);
	if (ret_size < 0) {
		counts->filtered++;
	} else if (!tl_allowed(probe, now)) {
		counts->limited++;
	} else {
		size = entry_size + 8 + ret_size;
		at = tl_record_begin(probe, counts, &ring->writer, tl_context(NULL, regs), now,
				     size);
		if (at) {
			tl_put_call(at, call, entry_size, now, ring->scratch, ret_size);
			tl_record_end(counts, &ring->writer, at + size);
		}
		tl_settle(session, at);
		tl_passed(probe);
	}
	tl_ring_leave(&ring->writer);
	return 0;
}
NOKPROBE_SYMBOL(tl_call_return_general);

/* What the return program's guard rejects goes no further, as at an entry. */
static notrace int tl_call_return_guarded(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_call *call = (struct tl_call *)ri->data;
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	struct tl_session *session = probe->session;
	u64 value;

	if (tl_sampled(&counts->returned))
		return tl_call_return_timed(ri, regs);
	if (!tl_call_current(session, call, counts))
		return 0;
	tl_return_regs(ri, regs);
	if (probe->ret.guarded != TL_GUARDED_DURATION)
		value = tl_guarded_value(&probe->ret, regs);
	else if (session->tsc)
		value = tl_call_duration(call, tl_counter());
	else	/* that clock is a call of its own */
		return tl_call_return_general(ri, regs);
	if (tl_guard_passes(&probe->ret.guard, value))
		return tl_call_return_general(ri, regs);
	counts->returned++;
	counts->filtered++;
	return 0;
}
NOKPROBE_SYMBOL(tl_call_return_guarded);

static notrace int tl_call_return_any(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct tl_probe *probe = tl_probe_of(ri);

	if (tl_sampled(&this_cpu_ptr(probe->counts)->returned))
		return tl_call_return_timed(ri, regs);
	return tl_call_return_general(ri, regs);
}
NOKPROBE_SYMBOL(tl_call_return_any);
NOKPROBE_SYMBOL(tl_ring_reserve_slow);

#ifdef TL_FAST_HANDLERS

/* Whole words: cheaper for the few that there are than memcpy(). */
static __always_inline u8 *tl_put_words(u8 *at, const u8 *from, u32 size)
{
	const u8 *end = from + size;

	for (; from != end; from += 8, at += 8)
		tl_put_u64(at, *(const u64 *)from);
	return at;
}

/* The same for fields of 4 bytes among them. */
static __always_inline u8 *tl_put_parts(u8 *at, const u8 *from, u32 size)
{
	at = tl_put_words(at, from, size & ~7);
	if (size & 4) {
		tl_put_u32(at, *(const u32 *)(from + (size & ~7)));
		at += 4;
	}
	return at;
}

/*
 * Registers for fields: with @parts any, else whole ones, and the return value. The entry's
 * handler has put them down.
 */
static __always_inline int tl_call_return(struct kretprobe_instance *ri, struct pt_regs *regs,
					  bool parts)
{
	struct tl_probe *probe = tl_probe_of(ri);
	struct tl_call *call = (struct tl_call *)ri->data;
	struct tl_counts *counts = this_cpu_ptr(probe->counts);
	struct tl_session *session = probe->session;
	struct tl_ring_writer *w;
	u32 size;
	u64 now;
	u8 *at;

	if (tl_sampled(&counts->returned))
		return tl_call_return_timed(ri, regs);
	if (!tl_call_current(session, call, counts))
		return 0;
	if (unlikely(!tl_context_usual(regs)))
		return tl_call_return_general(ri, regs);
	w = &this_cpu_ptr(session->rings)->writer;
	size = probe->entry.size;
	now = tl_counter();
	if (unlikely(!tl_record_begin_fast(probe, w, now,
					   size + 8 + (parts ? probe->ret.size : 8), &at)))
		return tl_call_return_general(ri, regs);
	counts->returned++;
	at = parts ? tl_put_parts(at, call->fields, size) : tl_put_words(at, call->fields, size);
	tl_put_u64(at, tl_call_duration(call, now));
	at += 8;
	if (parts) {
		tl_return_regs(ri, regs);
		at = tl_program_parts(&probe->ret, regs, at);
	} else {
		tl_put_u64(at, *(const u64 *)((const u8 *)regs + TL_RETVAL_WORD));
		at += 8;
	}
	tl_record_end(counts, w, at);
	tl_ring_leave(w);
	return 0;
}

static notrace int tl_call_return_fast(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return tl_call_return(ri, regs, false);
}
NOKPROBE_SYMBOL(tl_call_return_fast);

static notrace int tl_call_return_parts(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return tl_call_return(ri, regs, true);
}
NOKPROBE_SYMBOL(tl_call_return_parts);

/* What fast handlers of records leave out: another clock than the TSC, triggers, limits. */
static bool tl_probe_plain(const struct tl_probe *probe)
{
	return probe->session->tsc && !probe->trigger && !probe->max_rate &&
	       !probe->session->limit;
}

static kprobe_pre_handler_t tl_wanted_entry(const struct tl_probe *probe)
{
	if (probe->entry.guarded)
		return tl_entry_guarded;
	if (!tl_probe_plain(probe) || probe->entry.shape == TL_SHAPE_PROGRAM)
		return tl_entry_any;
	if (probe->entry.shape == TL_SHAPE_PARTS)
		return tl_entry_parts;
	return probe->entry.shape == TL_SHAPE_ARGS ? tl_entry_args : tl_entry_words;
}

/* Arguments in registers, one value out. */
static bool tl_call_common(const struct tl_probe *probe)
{
	return tl_probe_plain(probe) && probe->entry.shape == TL_SHAPE_ARGS &&
	       probe->ret.shape == TL_SHAPE_WORDS && probe->ret.words_count == 1 &&
	       probe->ret.words[0] == TL_RETVAL_WORD;
}

/* Registers alone: what types make of a call. */
static bool tl_call_parts(const struct tl_probe *probe)
{
	return tl_probe_plain(probe) && probe->entry.shape != TL_SHAPE_PROGRAM &&
	       probe->ret.shape != TL_SHAPE_PROGRAM;
}

/* An entry is put down fast whatever becomes of it at the return. */
static kretprobe_handler_t tl_wanted_call_entry(const struct tl_probe *probe)
{
	if (probe->entry.guarded)
		return tl_call_entry_guarded;
	if (!probe->session->tsc || probe->entry.shape == TL_SHAPE_PROGRAM)
		return tl_call_entry_general;
	return probe->entry.shape == TL_SHAPE_ARGS ? tl_call_entry_fast : tl_call_entry_parts;
}

kretprobe_handler_t tl_handler_call_return(const struct tl_probe *probe)
{
	if (probe->ret.guarded)
		return tl_call_return_guarded;
	if (tl_call_common(probe))
		return tl_call_return_fast;
	return tl_call_parts(probe) ? tl_call_return_parts : tl_call_return_any;
}

#else

static kprobe_pre_handler_t tl_wanted_entry(const struct tl_probe *probe)
{
	return probe->entry.guarded ? tl_entry_guarded : tl_entry_any;
}

static kretprobe_handler_t tl_wanted_call_entry(const struct tl_probe *probe)
{
	return probe->entry.guarded ? tl_call_entry_guarded : tl_call_entry_general;
}

kretprobe_handler_t tl_handler_call_return(const struct tl_probe *probe)
{
	return probe->ret.guarded ? tl_call_return_guarded : tl_call_return_any;
}

#endif

kprobe_pre_handler_t tl_handler_entry(struct tl_probe *probe)
{
	if (!probe->session->filter.narrowed)
		return tl_wanted_entry(probe);
	probe->admitted = tl_wanted_entry(probe);
	return tl_entry_narrowed;
}

kretprobe_handler_t tl_handler_call_entry(struct tl_probe *probe)
{
	if (!probe->session->filter.narrowed)
		return tl_wanted_call_entry(probe);
	probe->admitted_call = tl_wanted_call_entry(probe);
	return tl_call_entry_narrowed;
}
