/* SPDX-License-Identifier: GPL-2.0 */
/* image.h - pages that a memory image can be searched for: see shared/image.h */
#ifndef TL_KMOD_IMAGE_H
#define TL_KMOD_IMAGE_H

#include <linux/gfp.h>
#include "shared/image.h"

/* Charged to whoever asks, and no reason to kill anybody: failing is fine. */
#define TL_GFP (GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN)

/* A tree of frame lists. Zeroed: none. */
struct tl_frames {
	struct page **pages;	/* the lists, the top one last */
	unsigned int count;
	unsigned int levels;	/* 1: the top list holds the listed pages themselves */
	u64 top;		/* frame number of the top list */
};

void tl_page_mark(struct page *page, enum tl_page_kind kind, u64 session);
void tl_page_seal(struct page *page, u32 used);
void tl_page_free(struct page *page);

int tl_frames_make(struct tl_frames *frames, struct page **listed, unsigned int count,
		   u64 session);
void tl_frames_free(struct tl_frames *frames);

#endif
