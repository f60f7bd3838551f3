// SPDX-License-Identifier: GPL-2.0
/* pending.c - calls that have not returned, found without help from the handlers */
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include "pending.h"

static unsigned long tl_task_switches(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

/* Whether @task sleeps and is off its CPU. */
static bool tl_task_sleeps(struct task_struct *task)
{
#ifdef CONFIG_SMP
	if (READ_ONCE(task->on_cpu))
		return false;
#endif
	return task != current && tl_task_state(task) != TASK_RUNNING;
}

/* That @task is inside of @call, if both are what they seem. */
static void tl_pending_describe(const struct tl_session *session, struct tl_pending *found,
				u16 id, const struct tl_call *call, struct task_struct *task,
				u64 now)
{
	u64 ticks = now - READ_ONCE(call->time);

	if (ticks > session->geometry.clock_hz << 30)
		ticks = 0;	/* a clock that stepped back, or garbage */
	found->id = id;
	found->call.tid = task->pid;
	found->call.tgid = task->tgid;
	found->call.age = mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, session->geometry.clock_hz);
	get_task_comm(found->call.comm, task);
}

#ifndef TL_OWN_INSTANCES

/* More return probes on one stack than anybody has; also ends a torn list. */
#define TL_INSTANCES_MAX	256

/* What a task's list of instances, an instance and its probe have in common, by kernel. */
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#define tl_task_instances(task)	((task)->rethooks.first)
#define tl_instance_of(list)	container_of(list, struct kretprobe_instance, node.llist)
#define tl_instance_owner(ri)	((ri)->node.rethook)
#define tl_owner_probe(owner)	(&(owner)->data)
#define tl_probe_owner(probe)	((probe)->rp.rh)
#else
#define tl_task_instances(task)	((task)->kretprobe_instances.first)
#define tl_instance_of(list)	container_of(list, struct kretprobe_instance, llist)
#define tl_instance_owner(ri)	((ri)->rph)
#define tl_owner_probe(owner)	(&(owner)->rp)
#define tl_probe_owner(probe)	((probe)->rp.rph)
#endif

/*
 * The probe that @ri is an instance of, if it is one of @session's. Others'
 * memory may be anything by now: it is read with care, and believed only when the
 * session's own table points back.
 */
static const struct tl_probe *tl_pending_probe(struct tl_session *session,
					       const struct kretprobe_instance *ri)
{
	typeof(tl_instance_owner(ri)) owner = READ_ONCE(tl_instance_owner(ri));
	const struct tl_probe *probe;
	void *rp;
	u16 id;

	if (copy_from_kernel_nofault(&rp, tl_owner_probe(owner), sizeof(rp)))
		return NULL;
	probe = container_of((struct kretprobe *)rp, struct tl_probe, rp);
	if (copy_from_kernel_nofault(&id, &probe->id, sizeof(id)) ||
	    xa_load(&session->probes, id) != probe || probe->kind != TRAPLINE_CALL)
		return NULL;
	/* A probe that was there before ours, in the same memory, had another owner. */
	if (READ_ONCE(tl_probe_owner(probe)) != owner)
		return NULL;
	return probe;
}

/*
 * What @task is inside of. Its list's memory stays valid under RCU; whether it
 * was the list of a sleeper is known only afterwards: unless the task slept at
 * both ends and was not switched to in between, all that was found is dropped.
 */
static unsigned int tl_pending_task(struct tl_session *session, struct task_struct *task,
				    u64 now, struct tl_pending *found, unsigned int room)
{
	unsigned long switches = tl_task_switches(task);
	struct llist_node *node;
	unsigned int steps = 0;
	unsigned int n = 0;

	if (!tl_task_sleeps(task))
		return 0;
	smp_rmb();	/* the list after the state; no partner but the scheduler's barriers */
	for (node = READ_ONCE(tl_task_instances(task));
	     node && n < room && steps < TL_INSTANCES_MAX; node = READ_ONCE(node->next), steps++) {
		const struct kretprobe_instance *ri = tl_instance_of(node);
		const struct tl_probe *probe = tl_pending_probe(session, ri);
		const struct tl_call *call = (const struct tl_call *)ri->data;

		if (probe && READ_ONCE(call->generation) == session->generation)
			tl_pending_describe(session, &found[n++], probe->id, call, task, now);
	}
	smp_rmb();	/* and the state again after the list */
	if (!tl_task_sleeps(task) || tl_task_switches(task) != switches)
		return 0;
	return n;
}

int tl_pending_find(struct tl_session *session, struct tl_pending *found, unsigned int room)
{
	u64 now = tl_clock_ticks(session->tsc);
	struct task_struct *process, *task;
	unsigned int n = 0;

	lockdep_assert_held(&session->lock);
	rcu_read_lock();
	for_each_process_thread(process, task)
		n += tl_pending_task(session, task, now, found + n, room - n);
	rcu_read_unlock();
	return n;
}

#else

/*
 * Whether @task was there when what @found says began. Instances of calls that never return
 * outlive their tasks, and another may be in the same memory by now, with the same pid.
 * The two clocks run apart by less than a thousandth.
 */
static bool tl_task_was_there(const struct task_struct *task, const struct tl_pending *found)
{
	return ktime_get_ns() - task->start_time >= found->call.age - found->call.age / 1024;
}

/* The task that @ri was taken by, if there still is one. */
static struct task_struct *tl_instance_task(const struct kretprobe_instance *ri)
{
	struct task_struct *task = READ_ONCE(ri->task);
	pid_t pid;

	if (copy_from_kernel_nofault(&pid, &task->pid, sizeof(pid)) ||
	    pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID) != task)
		return NULL;
	return task;
}

/*
 * Whether @ri's task is inside of a call, which goes to @found. As above: it is
 * believed if the task slept at both ends, was not switched to in between, and the
 * instance was its own at both ends too.
 */
static bool tl_pending_instance(struct tl_session *session, const struct tl_probe *probe,
				const struct kretprobe_instance *ri, u64 now,
				struct tl_pending *found)
{
	const struct tl_call *call = (const struct tl_call *)ri->data;
	struct task_struct *task;
	unsigned long switches;

	if (!READ_ONCE(call->inside) || READ_ONCE(call->generation) != session->generation)
		return false;
	task = tl_instance_task(ri);
	if (!task)
		return false;
	switches = tl_task_switches(task);
	if (!tl_task_sleeps(task))
		return false;
	smp_rmb();	/* the instance after the state; the scheduler's barriers pair with it */
	if (!READ_ONCE(call->inside) || READ_ONCE(ri->task) != task)
		return false;
	tl_pending_describe(session, found, probe->id, call, task, now);
	smp_rmb();	/* and the state again after the instance */
	return tl_task_sleeps(task) && tl_task_switches(task) == switches &&
	       tl_task_was_there(task, found);
}

int tl_pending_find(struct tl_session *session, struct tl_pending *found, unsigned int room)
{
	u64 now = tl_clock_ticks(session->tsc);
	struct kretprobe_instance *ri;
	struct tl_probe *probe;
	unsigned long id;
	unsigned int n = 0;

	lockdep_assert_held(&session->lock);
	xa_for_each(&session->probes, id, probe) {
		if (!probe->planted || probe->kind != TRAPLINE_CALL)
			continue;
		rcu_read_lock();
		for (ri = probe->instances; ri && n < room; ri = ((struct tl_call *)ri->data)->next)
			n += tl_pending_instance(session, probe, ri, now, &found[n]);
		rcu_read_unlock();
		cond_resched();
	}
	return n;
}

#endif
