/* SPDX-License-Identifier: GPL-2.0 */
/* device.h - /dev/trapline: open makes a session, mmap shows its rings */
#ifndef TL_DEVICE_H
#define TL_DEVICE_H

struct file;
struct tl_session;

int tl_device_init(void);
void tl_device_exit(void);

/* The session that @file is, or NULL if it is another kind of file. */
struct tl_session *tl_device_session(struct file *file);

#endif
