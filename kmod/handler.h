/* SPDX-License-Identifier: GPL-2.0 */
/* handler.h - what runs when a trap is hit */
#ifndef TL_HANDLER_H
#define TL_HANDLER_H

#include <linux/kprobes.h>
#include <linux/sched.h>
#include "shared/ring.h"
#include "shared/trapline.h"

struct tl_probe;
struct tl_session;

kprobe_pre_handler_t tl_handler_entry(struct tl_probe *probe);
kretprobe_handler_t tl_handler_call_entry(struct tl_probe *probe);
kretprobe_handler_t tl_handler_call_return(const struct tl_probe *probe);
int tl_handler_return(struct kretprobe_instance *ri, struct pt_regs *regs);
void tl_handler_learn_returns(void);
void tl_end(struct tl_session *session, enum trapline_ended why);

/* @task as records name it. */
static __always_inline struct tl_task tl_task_of(const struct task_struct *task)
{
	BUILD_BUG_ON(sizeof(task->comm) != TL_COMM_SIZE);
	return (struct tl_task){
		.comm = { tl_get_u64(task->comm), tl_get_u64(task->comm + 8) },
		.tid = task->pid,
		.tgid = task->tgid,
	};
}

#endif
