// SPDX-License-Identifier: GPL-2.0
/*
 * types.c - of tltypes: functions whose parameters are of every kind of type, and whose values are
 * known. A word written to /proc/tltypes calls one, as tlt_calls has it.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include "types.h"

static struct tlt_data tlt_data = {
	.box = { .from = { 1, -2 }, .to = { 30, 40 }, .weights = { 7, -8, 9 } },
	.word = 0xfffe0102,
	.tiny = -5,
	.letter = 1,
	.any = { .point = { 0x11223344, -1 } },
	.bits = {
		.first = 1, .across = 0x1234, .negative = -9, .last = 0x155, .wide = -123456789012LL,
		.rest = 0xabcdef, .flags = TLT_READ | TLT_SYNC, .yes = true,
	},
	.grid = { { 1, 2, 3 }, { 4, -5, 6 } },
	.points = { { 10, 11 }, { 20, 21 }, { 30, 31 } },
	.name = "fixture",
	.full = { 'f', 'u', 'l', 'l' },
	.mac = { 2, 0, 0xa, 0xb, 0xc, 0xff },
	.ip4 = { 192, 0, 2, 1 },
	.ip6 = { 0x20, 1, 0xd, 0xb8, [15] = 0x42 },
	.text = "a \"quoted\" text\n",
	.empty = "",
	.color = TLT_GREEN,
	.flags = TLT_READ | TLT_SYNC,
	.both = TLT_BOTH,
	.more = (enum tlt_flags)(TLT_WRITE | 0x40),
	.mask = 0xf0f0,
	.count = 18000000000000000000ULL,
	.debt = -9000000000000000000LL,
};

static struct tlt_data tlt_next = { .word = 77, .name = "next" };
static char tlt_room[8] = "room";
static char *tlt_area;	/* a page, behind which there is none */

static DECLARE_WAIT_QUEUE_HEAD(tlt_queue);
static int tlt_awake;
static atomic_t tlt_waiting;
static int tlt_sum;	/* for who calls: what isn't used is left out */

/* What a function doesn't look at, clang lets its callers leave out: barrier_data() is a look. */
noinline __noclone long tlt_look(const struct tlt_data *data, const struct tlt_data *none,
				 int number)
{
	barrier();
	return none ? 0 : data->any.point.x * (long)number;
}

noinline __noclone void tlt_say(const char *text, char *room, const char *empty,
				const char *lost, const char *nothing)
{
	barrier_data(text);
	barrier_data(room);
	barrier_data(empty);
	barrier_data(lost);
	barrier_data(nothing);
	barrier();
}

noinline __noclone enum tlt_color tlt_paint(enum tlt_color color, enum tlt_flags flags,
					    enum tlt_flags both, enum tlt_flags more, bool wet)
{
	barrier_data(flags);
	barrier_data(both);
	barrier_data(more);
	barrier();
	return wet ? TLT_NONE : color;
}

/* The last ones are on the stack. */
noinline __noclone long tlt_add(s8 a, u8 b, s16 c, u16 d, int e, unsigned int f, long g,
				unsigned long h, s64 i, u8 j)
{
	barrier();
	return a + b + c + d + e + f + g + h + i + j;
}

noinline __noclone struct tlt_point tlt_move(struct tlt_point point, int by)
{
	barrier();
	point.x += by;
	point.y -= by;
	return point;
}

noinline __noclone int tlt_fail(int error)
{
	barrier();
	return -error;
}

noinline __noclone void *tlt_fail_pointer(long error)
{
	barrier();
	return ERR_PTR(-error);
}

noinline __noclone long tlt_deep(int depth)
{
	long below = depth ? tlt_deep(depth - 1) : 0;

	barrier();	/* no jump instead of the call */
	return below + depth;
}

/* Sleeps until others have been woken so often; of 0 it doesn't. */
noinline __noclone int tlt_wait(int whom)
{
	if (wait_event_interruptible(tlt_queue, READ_ONCE(tlt_awake) >= whom))
		return -EINTR;
	return 100 + whom;
}

noinline __noclone void tlt_user(const char __user *text, size_t size)
{
	barrier_data(text);
	barrier_data(size);
	barrier();
}

static noinline __noclone __used int tlt_twin(int number)
{
	barrier();
	return number + 1;
}

#ifdef CONFIG_CC_IS_CLANG
/* Which makes none of its own. */
static int tlt_cloned(int number, int always) __asm__("tlt_cloned.constprop.0");
#endif

/* All callers pass the same second argument, so the compiler leaves it out: tlt_cloned.constprop.0 */
static noinline int tlt_cloned(int number, int always)
{
	int i;

	for (i = 0; i < always; i++) {
		barrier();
		number += i ^ always;
	}
	return number;
}

static void tlt_call_look(void)
{
	tlt_look(&tlt_data, NULL, 3);
}

static void tlt_call_say(void)
{
	tlt_say(tlt_data.text, tlt_room, "", tlt_data.lost, NULL);
}

static void tlt_call_paint(void)
{
	tlt_paint(TLT_GREEN, tlt_data.flags, TLT_BOTH, tlt_data.more, false);
	tlt_paint(TLT_NONE, 0, TLT_WRITE, TLT_SYNC, true);
	tlt_paint((enum tlt_color)9, (enum tlt_flags)0x40, 0, 0, true);
}

static void tlt_call_add(void)
{
	tlt_add(-1, 255, -32768, 65535, INT_MIN, UINT_MAX, LONG_MIN, 0x8000000000000001UL, -7, 200);
}

static void tlt_call_move(void)
{
	tlt_move((struct tlt_point){ 5, 60 }, 7);
}

static void tlt_call_fail(void)
{
	tlt_fail(ENOENT);
	tlt_fail(0);
	tlt_fail_pointer(EINVAL);
	tlt_fail_pointer(0);
}

static void tlt_call_deep(void)
{
	tlt_deep(3);
}

static void tlt_call_pass(void)
{
	tlt_wait(0);
}

static void tlt_call_wait(void)
{
	int whom = READ_ONCE(tlt_awake) + 1;	/* before anybody is told to wake it */

	atomic_inc(&tlt_waiting);
	tlt_wait(whom);
	atomic_dec(&tlt_waiting);
}

static int tlt_waiting_get(char *text, const struct kernel_param *param)
{
	return sprintf(text, "%d\n", atomic_read(&tlt_waiting));
}

static const struct kernel_param_ops tlt_waiting_ops = { .get = tlt_waiting_get };

module_param_cb(waiting, &tlt_waiting_ops, NULL, 0444);
MODULE_PARM_DESC(waiting, "how many wait, or are about to");

static void tlt_call_wake(void)
{
	WRITE_ONCE(tlt_awake, tlt_awake + 1);
	wake_up_all(&tlt_queue);
}

static void tlt_call_twins(void)
{
	WRITE_ONCE(tlt_sum, tlt_twin(41) + tlt_call_twin(&tlt_data.points[1]));
}

static void tlt_call_cloned(void)
{
	WRITE_ONCE(tlt_sum, tlt_cloned(5, 7) + tlt_cloned(6, 7));
}

static const struct {
	const char *word;
	void (*call)(void);
} tlt_calls[] = {
	{ "look", tlt_call_look },
	{ "say", tlt_call_say },
	{ "paint", tlt_call_paint },
	{ "add", tlt_call_add },
	{ "move", tlt_call_move },
	{ "fail", tlt_call_fail },
	{ "deep", tlt_call_deep },
	{ "pass", tlt_call_pass },
	{ "wait", tlt_call_wait },
	{ "wake", tlt_call_wake },
	{ "twins", tlt_call_twins },
	{ "cloned", tlt_call_cloned },
};

/* What is written is handed to tlt_user() before it is read, and once more then. */
static ssize_t tlt_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	char word[16] = "";
	size_t i;

	if (size >= sizeof(word))
		return -E2BIG;
	tlt_user(from, size);
	if (copy_from_user(word, from, size))
		return -EFAULT;
	tlt_user(from, size);
	for (i = 0; i < ARRAY_SIZE(tlt_calls); i++) {
		if (!strcmp(strim(word), tlt_calls[i].word)) {
			tlt_calls[i].call();
			return size;
		}
	}
	return -EINVAL;
}

static const struct proc_ops tlt_operations = { .proc_write = tlt_write };

static int __init tlt_init(void)
{
	struct tlt_tail *tail;

	tlt_area = vmalloc(PAGE_SIZE);
	if (!tlt_area)
		return -ENOMEM;
	tail = (struct tlt_tail *)(tlt_area + PAGE_SIZE) - 1;
	tail->low = 3;
	tail->high = 0x98765;
	tlt_data.tail = tail;
	tlt_data.lost = tlt_area + PAGE_SIZE;
	tlt_data.gone = (struct tlt_data *)(tlt_area + PAGE_SIZE);
	tlt_data.room = tlt_room;
	tlt_data.point = &tlt_data.points[1];
	tlt_data.next = &tlt_next;
	if (!proc_create("tltypes", 0200, NULL, &tlt_operations)) {
		vfree(tlt_area);
		return -ENOMEM;
	}
	return 0;
}

static void __exit tlt_exit(void)
{
	remove_proc_entry("tltypes", NULL);
	vfree(tlt_area);
}

module_init(tlt_init);
module_exit(tlt_exit);

MODULE_DESCRIPTION("Values of every kind of type, for testing those who show them");
MODULE_LICENSE("GPL");
