/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * image.h - how a session is found again in an image of the machine's memory
 *
 * A ring's control page names the frame of a frame list; that lists the ring's
 * data pages in order, or, level by level, pages of such lists. The same form
 * lists the pages that hold the trace's CTF metadata. Every page but data pages
 * begins with struct tl_page_head, with its own frame number in it: a page that
 * was copied or freed doesn't pass for one. Heads are wiped when memory is freed.
 */
#ifndef TL_IMAGE_H
#define TL_IMAGE_H

#include "ring.h"

/* FNV-1a over the @n bytes that follow a page's head. */
tl_inline __u32 tl_checksum(const __u8 *bytes, __u32 n)
{
	__u32 sum = 2166136261U;
	__u32 i;

	for (i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 16777619U;
	return sum;
}

/* Frame numbers in one list page of @page_size bytes. */
tl_inline __u32 tl_frames_per_page(__u32 page_size)
{
	return (page_size - (__u32)sizeof(struct tl_page_head)) / 8;
}

#endif
