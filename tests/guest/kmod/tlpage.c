// SPDX-License-Identifier: GPL-2.0
/*
 * tlpage - a text of the kernel's that ends on the last byte before memory that isn't there:
 * "echo N >/sys/module/tlpage/parameters/take" hands one of N bytes to tlpage_take().
 */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#define TLPAGE_SIZE	(2 * PAGE_SIZE)

static noinline __used void tlpage_take(const char *text)
{
	asm volatile("" : : "r" (text) : "memory");
}

static int tlpage_set(const char *value, const struct kernel_param *param)
{
	unsigned int length;
	char *area;
	int error = kstrtouint(value, 0, &length);

	if (error)
		return error;
	if (length >= TLPAGE_SIZE)
		return -E2BIG;
	area = vmalloc(TLPAGE_SIZE);	/* a page that isn't there follows */
	if (!area)
		return -ENOMEM;
	memset(area, 'k', TLPAGE_SIZE - 1);
	area[TLPAGE_SIZE - 1] = 0;
	tlpage_take(area + TLPAGE_SIZE - 1 - length);
	vfree(area);
	return 0;
}

static const struct kernel_param_ops tlpage_ops = { .set = tlpage_set };

module_param_cb(take, &tlpage_ops, NULL, 0200);
MODULE_PARM_DESC(take, "take a text of so many bytes");

MODULE_DESCRIPTION("A text at a page's end, for testing those who read it");
MODULE_LICENSE("GPL");
