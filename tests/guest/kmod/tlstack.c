// SPDX-License-Identifier: GPL-2.0
/*
 * tlstack - functions that call one another, as its parameter is written to: a number of times
 * tlstack_again() calls itself, then tlstack_last().
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/module.h>

/* What follows each call keeps it from becoming a jump. */
static noinline __noclone long tlstack_last(long times)
{
	barrier();
	return times;
}

static noinline __noclone long tlstack_again(long times)
{
	long sum = times ? tlstack_again(times - 1) : tlstack_last(times);

	barrier();
	return sum + 1;
}

static int tlstack_set(const char *text, const struct kernel_param *param)
{
	long times;
	int error = kstrtol(text, 0, &times);

	if (error)
		return error;
	return tlstack_again(clamp(times, 0L, 20L)) > 0 ? 0 : -EINVAL;
}

static const struct kernel_param_ops tlstack_ops = { .set = tlstack_set };

module_param_cb(again, &tlstack_ops, NULL, 0200);
MODULE_PARM_DESC(again, "how often tlstack_again() calls itself, 20 at most");

MODULE_DESCRIPTION("Functions that call one another, for testing who is said to have called");
MODULE_LICENSE("GPL");
