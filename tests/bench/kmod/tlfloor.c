// SPDX-License-Identifier: GPL-2.0
/*
 * tlfloor.c - what an empty handler costs: the floor that Trapline is measured from
 *
 * kind=kprobe     an empty pre-handler at the entry of sym
 * kind=kretprobe  empty handlers at both ends, 64 bytes of data
 * kind=rejected   the same, and the entry's gives the call up
 */
#include <linux/kprobes.h>
#include <linux/module.h>

static char *kind = "kprobe";
module_param(kind, charp, 0444);
static char *sym = "vfs_read";
module_param(sym, charp, 0444);

static int tlfloor_pre(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static int tlfloor_call(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 0;
}

static int tlfloor_reject(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return 1;
}

static struct kprobe tlfloor_kprobe = { .pre_handler = tlfloor_pre };
static struct kretprobe tlfloor_kretprobe = {
	.entry_handler = tlfloor_call,
	.handler = tlfloor_call,
	.data_size = 64,
	.maxactive = 128,
};

static bool tlfloor_both_ends(void)
{
	return strcmp(kind, "kprobe");
}

static int __init tlfloor_init(void)
{
	tlfloor_kprobe.symbol_name = sym;
	tlfloor_kretprobe.kp.symbol_name = sym;
	if (!strcmp(kind, "rejected"))
		tlfloor_kretprobe.entry_handler = tlfloor_reject;
	return tlfloor_both_ends() ? register_kretprobe(&tlfloor_kretprobe) :
				     register_kprobe(&tlfloor_kprobe);
}

static void __exit tlfloor_exit(void)
{
	if (tlfloor_both_ends())
		unregister_kretprobe(&tlfloor_kretprobe);
	else
		unregister_kprobe(&tlfloor_kprobe);
}

module_init(tlfloor_init);
module_exit(tlfloor_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Trapline's cost floor");
