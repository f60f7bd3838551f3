// SPDX-License-Identifier: GPL-2.0
/*
 * places.c - of tlplaces: functions of one name, one that the compiler makes a clone of, one with a
 * branch that the kernel switches, and one with a call whose target it sets. Writing a number to
 * the parameter "call" calls each.
 */
#include <linux/jump_label.h>
#include <linux/module.h>
#include <linux/static_call.h>
#include "places.h"

static DEFINE_STATIC_KEY_FALSE(tlp_key);
static int tlp_sum;	/* for who calls: what isn't used is left out */

static noinline __used int tlp_twin(int number)
{
	barrier();
	return number + 1;
}

#ifdef CONFIG_CC_IS_CLANG
/* Which makes none of its own. */
static int tlp_cloned(int number, int always) __asm__("tlp_cloned.constprop.0");
#endif

/* All callers pass the same second argument, so the compiler leaves it out: tlp_cloned.constprop.0 */
static noinline int tlp_cloned(int number, int always)
{
	int i;

	for (i = 0; i < always; i++) {
		barrier();
		number += i ^ always;
	}
	return number;
}

static noinline int tlp_switched(int number)
{
	/* The entry's instruction isn't the jump label's, wherever the trap is put. */
	(void)READ_ONCE(tlp_sum);
	if (static_branch_unlikely(&tlp_key))
		number = tlp_call_twin(number);
	barrier();
	return number * 3;
}

static noinline int tlp_target(int number)
{
	barrier();
	return number + 2;
}

DEFINE_STATIC_CALL(tlp_set, tlp_target);

static noinline int tlp_calls_set(int number)
{
	number += READ_ONCE(tlp_sum);	/* the call isn't the first instruction */
	number = static_call(tlp_set)(number);
	barrier();	/* no jump instead of the call */
	return number * 3;
}

static int tlp_call(const char *text, const struct kernel_param *param)
{
	int number;
	int error = kstrtoint(text, 0, &number);

	if (error)
		return error;
	WRITE_ONCE(tlp_sum, tlp_twin(number) + tlp_call_twin(number) + tlp_cloned(number, 7) +
		   tlp_cloned(number + 1, 7) + tlp_switched(number) + tlp_calls_set(number));
	return 0;
}

static const struct kernel_param_ops tlp_call_ops = { .set = tlp_call };

module_param_cb(call, &tlp_call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "a number to call the functions with");

/* So that they do something that can't be left out. */
static int __init tlp_init(void)
{
	return tlp_call("0", NULL);
}

static void __exit tlp_exit(void)
{
}

module_init(tlp_init);
module_exit(tlp_exit);

MODULE_DESCRIPTION("Functions that are hard to name, for tests");
MODULE_LICENSE("GPL");
