// SPDX-License-Identifier: GPL-2.0
/* device.c - /dev/trapline: open makes a session, mmap shows its rings */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include "device.h"
#include "session.h"

static int tl_device_open(struct inode *inode, struct file *file)
{
	struct tl_session *session;
	int error;

	if (!perfmon_capable())
		return -EPERM;
	error = security_locked_down(LOCKDOWN_KPROBES);
	if (error)
		return error;
	session = tl_session_create();
	if (IS_ERR(session))
		return PTR_ERR(session);
	file->private_data = session;
	return nonseekable_open(inode, file);
}

static int tl_device_release(struct inode *inode, struct file *file)
{
	tl_session_destroy(file->private_data);
	return 0;
}

static __poll_t tl_device_poll(struct file *file, struct poll_table_struct *wait)
{
	struct tl_session *session = file->private_data;
	__poll_t events;

	poll_wait(file, &session->readers, wait);
	events = tl_session_events(session);
	/* Who waits for something else goes to sleep. */
	if (!(events & poll_requested_events(wait)))
		tl_session_arm(session);
	return events;
}

static int tl_device_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct tl_session *session = file->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = offset / TRAPLINE_MMAP_STRIDE;

	/* Without the mutex, which is held where the mm's lock may be taken. */
	if (!smp_load_acquire(&session->rings))	/* pairs with tl_session_make_rings() */
		return -EINVAL;
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return -ENXIO;
	return tl_ring_map(per_cpu_ptr(session->rings, cpu), vma,
			   (offset % TRAPLINE_MMAP_STRIDE) >> PAGE_SHIFT);
}

/* In /proc/PID/fdinfo: which session a descriptor is. */
static void tl_device_show_fdinfo(struct seq_file *seq, struct file *file)
{
	const struct tl_session *session = file->private_data;

	seq_printf(seq, "session:\t%u\n", session->number);
}

static const struct file_operations tl_device_fops = {
	.owner = THIS_MODULE,
	.open = tl_device_open,
	.release = tl_device_release,
	.poll = tl_device_poll,
	.mmap = tl_device_mmap,
	.show_fdinfo = tl_device_show_fdinfo,
};

static struct miscdevice tl_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = TRAPLINE_DEVICE,
	.mode = 0600,
	.fops = &tl_device_fops,
};

struct tl_session *tl_device_session(struct file *file)
{
	return file->f_op == &tl_device_fops ? file->private_data : NULL;
}

int tl_device_init(void)
{
	return misc_register(&tl_device);
}

void tl_device_exit(void)
{
	misc_deregister(&tl_device);
}
