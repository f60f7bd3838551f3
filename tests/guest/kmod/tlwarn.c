// SPDX-License-Identifier: GPL-2.0
/*
 * tlwarn - misbehaves once, in the way its parameters say, on load, when a function has returned
 * or when the log has got a line: the proof that qemu/run fails when the kernel complains. It touches nothing else.
 */
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/console.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>

static char *what = "warn";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "warn, bug, oops or none");

static char *after;
module_param(after, charp, 0444);
MODULE_PARM_DESC(after, "panic 700 ms after this function has returned for the first time");

static char *printed;
module_param(printed, charp, 0444);
MODULE_PARM_DESC(printed, "panic on another CPU when the log has got a line with this");

static bool tlwarn_seen;
static int tlwarn_cpu;	/* that prints */

static void tlwarn_write(struct console *console, const char *text, unsigned int size)
{
	if (strnstr(text, printed, size))
		WRITE_ONCE(tlwarn_seen, true);
}

static struct console tlwarn_console = {
	.name = "tlwarn",
	.write = tlwarn_write,
	.flags = CON_ENABLED,
	.index = -1,
};

/*
 * Who prints gets no further than to the next watchdog that is held off, or where there is none
 * to the next line, till the panic stops it.
 */
static int tlwarn_touched(struct kprobe *kp, struct pt_regs *regs)
{
	while (READ_ONCE(tlwarn_seen) && raw_smp_processor_id() == tlwarn_cpu)
		cpu_relax();
	return 0;
}

static struct kprobe tlwarn_touch = {
	.symbol_name = "touch_softlockup_watchdog",
	.pre_handler = tlwarn_touched,
};

static int tlwarn_wait(void *unused)
{
	while (!READ_ONCE(tlwarn_seen)) {
		cpu_relax();
		cond_resched();
	}
	panic("tlwarn: planted panic while \"%s\" was printed", printed);
}

/* On a CPU that isn't this one, which is about to print. */
static int tlwarn_panic_elsewhere(void)
{
	struct task_struct *task;
	int cpu, error;

	tlwarn_cpu = get_cpu();
	cpu = cpumask_any_but(cpu_online_mask, tlwarn_cpu);
	put_cpu();
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	error = register_kprobe(&tlwarn_touch);
	if (error == -ENOENT) {
		tlwarn_touch.symbol_name = "vprintk_emit";
		error = register_kprobe(&tlwarn_touch);
	}
	if (error)
		return error;
	task = kthread_create(tlwarn_wait, NULL, "tlwarn");
	if (IS_ERR(task)) {
		unregister_kprobe(&tlwarn_touch);
		return PTR_ERR(task);
	}
	kthread_bind(task, cpu);
	register_console(&tlwarn_console);
	wake_up_process(task);
	return 0;
}

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
	if (printed) {
		int error = tlwarn_panic_elsewhere();

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
