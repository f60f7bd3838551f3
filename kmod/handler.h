/* SPDX-License-Identifier: GPL-2.0 */
/* handler.h - what runs when a trap is hit */
#ifndef TL_HANDLER_H
#define TL_HANDLER_H

#include <linux/kprobes.h>

struct tl_probe;

kprobe_pre_handler_t tl_handler_entry(const struct tl_probe *probe);
kretprobe_handler_t tl_handler_call_entry(const struct tl_probe *probe);
kretprobe_handler_t tl_handler_call_return(const struct tl_probe *probe);
int tl_handler_return(struct kretprobe_instance *ri, struct pt_regs *regs);

#endif
