// SPDX-License-Identifier: GPL-2.0
/* load.c - how much of a CPU a session's probes take, and when it is too much */
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include "handler.h"
#include "load.h"
#include "machine.h"
#include "session.h"

#define TL_LOAD_CALLS	64	/* in a row, when floors are measured ... */
#define TL_LOAD_TRIES	16	/* ... and of so many rows the fastest counts */

/* A hit that lasts longer was interrupted: microseconds. */
#define TL_LOAD_LONGEST	20

/* What the kernel takes for a hit besides the handlers, in ticks. */
static struct {
	bool known;
	bool tsc;			/* whose ticks */
	u64 breakpoint;
	u64 fast;			/* by ftrace, or by a jump */
	u64 ret;			/* of a call, besides its entry */
} tl_floors;
static DEFINE_MUTEX(tl_floors_lock);

static noinline void tl_load_traced(void)
{
	barrier();
}

/* ftrace doesn't patch it: there is a breakpoint. */
static noinline notrace void tl_load_untraced(void)
{
	barrier();
}

static int tl_load_nothing(struct kprobe *kp, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(tl_load_nothing);

static int tl_load_no_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}
NOKPROBE_SYMBOL(tl_load_no_call);

/* Ticks of one call. */
static u64 tl_load_time(void (*function)(void), bool tsc)
{
	u64 best = U64_MAX;
	int try, call;

	for (try = 0; try < TL_LOAD_TRIES; try++) {
		u64 begun, took;

		preempt_disable();
		begun = tl_clock_ticks(tsc);
		for (call = 0; call < TL_LOAD_CALLS; call++)
			function();
		took = tl_clock_ticks(tsc) - begun;
		preempt_enable();
		best = min(best, took);
	}
	return best / TL_LOAD_CALLS;
}

static u64 tl_load_above(u64 ticks, u64 base)
{
	return ticks > base ? ticks - base : 0;
}

/* What a hit of an empty probe on @function takes; 0: it can't be told. */
static u64 tl_load_kprobe_floor(void (*function)(void), bool tsc)
{
	struct kprobe kp = { .addr = (void *)function, .pre_handler = tl_load_nothing };
	u64 base = tl_load_time(function, tsc);
	u64 floor;

	if (register_kprobe(&kp))
		return 0;
	/* Before the kernel makes a jump of a breakpoint, some 100 ms later. */
	floor = tl_load_above(tl_load_time(function, tsc), base);
	unregister_kprobe(&kp);
	return floor;
}

static u64 tl_load_kretprobe_floor(void (*function)(void), bool tsc)
{
	struct kretprobe rp = {
		.kp.addr = (void *)function,
		.entry_handler = tl_load_no_call,
		.handler = tl_load_no_call,
		.data_size = sizeof(u64),
		.maxactive = 16,
	};
	u64 base = tl_load_time(function, tsc);
	u64 floor;

	if (register_kretprobe(&rp))
		return 0;
	floor = tl_load_above(tl_load_time(function, tsc), base);
	unregister_kretprobe(&rp);
	return floor;
}

/* Once for all sessions, unless kprobes were switched off then. */
static void tl_load_measure(bool tsc)
{
	mutex_lock(&tl_floors_lock);
	if (!tl_floors.known || tl_floors.tsc != tsc) {
		u64 call = tl_load_kretprobe_floor(tl_load_traced, tsc);

		tl_floors.fast = tl_load_kprobe_floor(tl_load_traced, tsc);
		tl_floors.breakpoint = tl_load_kprobe_floor(tl_load_untraced, tsc);
		tl_floors.ret = tl_load_above(call, tl_floors.fast);
		tl_floors.tsc = tsc;
		tl_floors.known = tl_floors.fast && tl_floors.breakpoint;
	}
	mutex_unlock(&tl_floors_lock);
}

/*
 * In its handler. Whether a breakpoint has become a jump, only the kernel's own probe of the place
 * knows, but a jump is no NMI.
 */
u64 tl_load_entry_floor(const struct kprobe *kp)
{
	bool fast = kp->flags & KPROBE_FLAG_FTRACE || (TL_TRAP_IS_NMI && !in_nmi());

	return fast ? tl_floors.fast : tl_floors.breakpoint;
}
NOKPROBE_SYMBOL(tl_load_entry_floor);

u64 tl_load_return_floor(void)
{
	return tl_floors.ret;
}
NOKPROBE_SYMBOL(tl_load_return_floor);

/* A handler was timed, for others of its probe's on this CPU too. */
void tl_load_add(struct tl_session *session, u64 ticks, u64 floor)
{
	u64 longest = div_u64((u64)session->load.khz * TL_LOAD_LONGEST, 1000);

	/* A clock may have stepped back. */
	if ((s64)ticks < 0)
		ticks = 0;
	this_cpu_ptr(session->load.cpus)->spent += TL_LOAD_EVERY * (min(ticks, longest) + floor);
}
NOKPROBE_SYMBOL(tl_load_add);

/* The share that CPU took of the @elapsed ticks since the oldest look. */
static u32 tl_load_percent(struct tl_load *load, int cpu, u64 elapsed)
{
	struct tl_load_cpu *of = per_cpu_ptr(load->cpus, cpu);
	u64 spent = READ_ONCE(of->spent);
	u64 taken = spent - of->before[load->round];

	of->before[load->round] = spent;
	return div64_u64(taken * 100, elapsed);
}

static enum hrtimer_restart tl_load_look(struct hrtimer *timer)
{
	struct tl_session *session = container_of(timer, struct tl_session, load.timer);
	struct tl_load *load = &session->load;
	u64 now = tl_clock_ticks(session->tsc);
	u64 second = (u64)load->khz * 1000;
	/* In the first second as if nothing had been before. */
	u64 elapsed = max(now - load->times[load->round], second);
	u32 most = 0;
	int cpu;

	for_each_possible_cpu(cpu) {
		u32 percent = tl_load_percent(load, cpu, elapsed);

		if (percent <= most)
			continue;
		most = percent;
		load->cpu = cpu;
	}
	load->times[load->round] = now;
	load->round = (load->round + 1) % TL_LOAD_LOOKS;
	if (most <= load->most || !READ_ONCE(session->active)) {
		hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_SEC / TL_LOAD_LOOKS));
		return HRTIMER_RESTART;
	}
	load->percent = most;
	tl_end(session, TRAPLINE_ENDED_GUARD);
	queue_work(system_unbound_wq, &load->lift);
	return HRTIMER_NORESTART;
}

/* Whoever reads the session may not get to it: too much is lifted from here. */
static void tl_load_lift(struct work_struct *work)
{
	struct tl_session *session = container_of(work, struct tl_session, load.lift);
	bool done;

	do {
		mutex_lock(&session->lock);
		done = READ_ONCE(session->ended) != TRAPLINE_ENDED_GUARD ||
		       tl_session_lift(session, NULL, ktime_add_ms(ktime_get(), 50));
		mutex_unlock(&session->lock);
		cond_resched();
	} while (!done);
}

void tl_load_init(struct tl_session *session)
{
	/* No thread's, on a real-time kernel: what it guards against may keep threads waiting. */
	tl_hrtimer_setup(&session->load.timer, tl_load_look, HRTIMER_MODE_REL_HARD);
	INIT_WORK(&session->load.lift, tl_load_lift);
}

/* @most percent of a CPU may be taken; 0: nobody looks. */
int tl_load_configure(struct tl_session *session, u32 most)
{
	struct tl_load *load = &session->load;

	if (!most)
		return 0;
	load->cpus = __alloc_percpu_gfp(sizeof(*load->cpus), sizeof(u64), GFP_KERNEL_ACCOUNT);
	if (!load->cpus)
		return -ENOMEM;
	load->khz = div_u64(tl_clock_hz(session->tsc), 1000);
	load->most = most;
	tl_load_measure(session->tsc);
	return 0;
}

/* START, at @now. */
void tl_load_begin(struct tl_session *session, u64 now)
{
	struct tl_load *load = &session->load;
	int cpu, look;

	if (!load->most)
		return;
	for (look = 0; look < TL_LOAD_LOOKS; look++) {
		load->times[look] = now;
		for_each_possible_cpu(cpu) {
			struct tl_load_cpu *of = per_cpu_ptr(load->cpus, cpu);

			of->before[look] = READ_ONCE(of->spent);
		}
	}
	load->percent = 0;
	hrtimer_start(&load->timer, ns_to_ktime(NSEC_PER_SEC / TL_LOAD_LOOKS),
		      HRTIMER_MODE_REL_HARD);
}

void tl_load_end(struct tl_session *session)
{
	hrtimer_cancel(&session->load.timer);
}

/* With the session's mutex free. */
void tl_load_destroy(struct tl_session *session)
{
	hrtimer_cancel(&session->load.timer);
	cancel_work_sync(&session->load.lift);
}

/* Of all CPUs, since the session was made. */
u64 tl_load_spent_ns(const struct tl_session *session)
{
	const struct tl_load *load = &session->load;
	u64 ticks = 0;
	int cpu;

	if (!load->most)
		return 0;
	for_each_possible_cpu(cpu)
		ticks += READ_ONCE(per_cpu_ptr(load->cpus, cpu)->spent);
	return div64_u64(ticks * 1000, load->khz) * NSEC_PER_USEC;
}
