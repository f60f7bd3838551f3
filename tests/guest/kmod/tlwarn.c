// SPDX-License-Identifier: GPL-2.0
/*
 * tlwarn - misbehaves once, in the way its parameters say, on load or when a function has
 * returned: the proof that qemu/run fails when the kernel complains. It touches nothing else.
 */
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/string.h>

static char *what = "warn";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "warn, bug, oops or none");

static char *after;
module_param(after, charp, 0444);
MODULE_PARM_DESC(after, "panic 700 ms after this function has returned for the first time");

/* The other CPUs go on meanwhile. */
static int tlwarn_returned(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	u64 begun = ktime_get_mono_fast_ns();

	/* Not mdelay(): emulated CPUs are slower than they were when its loops were counted. */
	while (ktime_get_mono_fast_ns() - begun < 700 * NSEC_PER_MSEC)
		cpu_relax();
	panic("tlwarn: planted panic after %s", after);
}

static struct kretprobe tlwarn_probe = { .handler = tlwarn_returned };

static int __init tlwarn_init(void)
{
	int *nowhere = NULL;

	if (after) {
		int error;

		tlwarn_probe.kp.symbol_name = after;
		error = register_kretprobe(&tlwarn_probe);
		if (error)
			return error;
	}
	OPTIMIZER_HIDE_VAR(nowhere);
	if (!strcmp(what, "warn"))
		WARN(1, "tlwarn: planted warning\n");
	else if (!strcmp(what, "bug"))
		BUG();
	else if (!strcmp(what, "oops"))
		*nowhere = 1;
	else if (strcmp(what, "none"))
		return -EINVAL;
	return 0;
}

static void __exit tlwarn_exit(void)
{
	if (after)
		unregister_kretprobe(&tlwarn_probe);
}

module_init(tlwarn_init);
module_exit(tlwarn_exit);

MODULE_DESCRIPTION("Planted kernel complaint for testing qemu/run");
MODULE_LICENSE("GPL");
