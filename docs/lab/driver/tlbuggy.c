// SPDX-License-Identifier: GPL-2.0
/*
 * tlbuggy.c - /dev/tlbuggy, a mailbox, faulty on purpose: the lab looks for its bugs
 *
 * What is written waits in slots, at most 64 bytes in each, until it is read. A read
 * takes from one slot; when all are empty it is at the end of the file.
 *
 * The small functions are noinline so that a tracer finds them.
 */
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#define TLBUGGY_SLOTS 16
#define TLBUGGY_SLOT_SIZE 64

struct tlbuggy_slot {
	char text[TLBUGGY_SLOT_SIZE];
	size_t begin, end;
};

static DEFINE_MUTEX(tlbuggy_lock); /* of what follows */
static struct tlbuggy_slot tlbuggy_slots[TLBUGGY_SLOTS];
static unsigned int tlbuggy_first, tlbuggy_used;

/* 0 when there is a free slot; gives up after a second. */
static noinline int tlbuggy_wait_for_room(void)
{
	int tries;

	for (tries = 0; tlbuggy_used == TLBUGGY_SLOTS; tries++) {
		if (tries == 10)
			return -ENOSPC;
		if (msleep_interruptible(100))
			return -EINTR;
	}
	return 0;
}

/* Fills one slot. The text in it ends in a zero, to be shown by a debugger. */
static noinline ssize_t tlbuggy_put(const char __user *from, size_t size)
{
	struct tlbuggy_slot *slot;

	slot = &tlbuggy_slots[(tlbuggy_first + tlbuggy_used) % TLBUGGY_SLOTS];
	size = min_t(size_t, size, TLBUGGY_SLOT_SIZE - 1);
	if (copy_from_user(slot->text, from, size))
		return -EFAULT;
	slot->text[size] = '\0';
	slot->begin = 0;
	slot->end = size;
	tlbuggy_used++;
	return size;
}

/* Takes from the oldest slot, which is free again when all of it was taken. */
static noinline ssize_t tlbuggy_take(char __user *to, size_t size)
{
	struct tlbuggy_slot *slot = &tlbuggy_slots[tlbuggy_first];

	size = min(size, slot->end - slot->begin);
	if (copy_to_user(to, slot->text + slot->begin, size))
		return -EFAULT;
	slot->begin += size;
	if (slot->begin == slot->end) {
		tlbuggy_first = (tlbuggy_first + 1) % TLBUGGY_SLOTS;
		tlbuggy_used--;
	}
	return size;
}

static ssize_t tlbuggy_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	ssize_t result = 0;
	size_t done = 0;

	if (mutex_lock_interruptible(&tlbuggy_lock))
		return -ERESTARTSYS;
	while (done < size) {
		size_t piece = min_t(size_t, size - done, TLBUGGY_SLOT_SIZE);

		result = tlbuggy_wait_for_room();
		if (result)
			break;
		result = tlbuggy_put(from + done, piece);
		if (result < 0)
			break;
		done += piece;
	}
	mutex_unlock(&tlbuggy_lock);
	return done ? done : result;
}

static ssize_t tlbuggy_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	ssize_t result = 0;

	if (mutex_lock_interruptible(&tlbuggy_lock))
		return -ERESTARTSYS;
	if (tlbuggy_used)
		result = tlbuggy_take(to, size);
	mutex_unlock(&tlbuggy_lock);
	return result;
}

static const struct file_operations tlbuggy_operations = {
	.owner = THIS_MODULE,
	.open = stream_open,
	.read = tlbuggy_read,
	.write = tlbuggy_write,
};

static struct miscdevice tlbuggy_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tlbuggy",
	.fops = &tlbuggy_operations,
};
module_misc_device(tlbuggy_device);

MODULE_DESCRIPTION("A mailbox with planted bugs, for Trapline's lab");
MODULE_LICENSE("GPL");
