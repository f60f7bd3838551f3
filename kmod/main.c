// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - Trapline, the module
 *
 * Plants kprobes and kretprobes for the sessions that open /dev/trapline, and
 * writes a record a hit into their rings. Loading it changes nothing until a
 * session is started. shared/trapline.h is the protocol; docs/design.md the rest.
 */
#include <linux/module.h>
#include <linux/stringify.h>
#include "console.h"
#include "device.h"
#include "netlink.h"
#include "stack.h"
#include "shared/trapline.h"

static int __init trapline_init(void)
{
	int error = tl_netlink_init();

	if (error)
		return error;
	tl_stack_init();
	error = tl_console_init();
	if (error)
		goto no_console;
	error = tl_device_init();
	if (error)
		goto no_device;
	return 0;
no_device:
	tl_console_exit();
no_console:
	tl_netlink_exit();
	return error;
}

/* No session is open: each holds the module. */
static void __exit trapline_exit(void)
{
	tl_device_exit();
	tl_console_exit();
	tl_netlink_exit();
}

module_init(trapline_init);
module_exit(trapline_exit);

MODULE_LICENSE("GPL");
MODULE_VERSION(TRAPLINE_VERSION);
/* For modinfo: so that the tool can tell before it is loaded. */
MODULE_INFO(trapline_abi, __stringify(TRAPLINE_ABI));
MODULE_DESCRIPTION("Traces kernel functions with kprobes into per-CPU lock-free rings");
