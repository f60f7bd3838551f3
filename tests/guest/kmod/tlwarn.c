// SPDX-License-Identifier: GPL-2.0
/*
 * tlwarn - misbehaves once, on load, in the way its parameter says: the proof
 * that qemu/run fails when the kernel complains. It touches nothing else.
 */
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/string.h>

static char *what = "warn";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "warn, bug, oops or none");

static int __init tlwarn_init(void)
{
	int *nowhere = NULL;

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
}

module_init(tlwarn_init);
module_exit(tlwarn_exit);

MODULE_DESCRIPTION("Planted kernel complaint for testing qemu/run");
MODULE_LICENSE("GPL");
