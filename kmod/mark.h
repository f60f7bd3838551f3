/* SPDX-License-Identifier: GPL-2.0 */
/* mark.h - a text from user space, put into the streams of all sessions */
#ifndef TL_MARK_H
#define TL_MARK_H

#include <linux/types.h>

/* What became of a mark. */
struct tl_marks {
	u32 marked;	/* sessions that have it */
	u32 lost;	/* sessions that had no room */
};

void tl_mark(const void *text, u32 length, struct tl_marks *marks);

#endif
