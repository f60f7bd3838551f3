// SPDX-License-Identifier: GPL-2.0
/* image.c - frame lists, so that a session is found in an image of memory */
#include <linux/mm.h>
#include <linux/slab.h>
#include "image.h"

/* Writes the head of a zeroed page. */
void tl_page_mark(struct page *page, enum tl_page_kind kind, u64 session)
{
	struct tl_page_head *head = page_address(page);

	head->version = TL_LAYOUT_VERSION;
	head->kind = kind;
	head->frame = page_to_pfn(page);
	head->session = session;
	head->magic = TL_RING_MAGIC;
}

/* Completes a list or a piece of metadata of @used bytes. */
void tl_page_seal(struct page *page, u32 used)
{
	struct tl_page_head *head = page_address(page);

	head->used = used;
	head->checksum = tl_checksum((u8 *)(head + 1), used);
}

/* Frees a marked page, its head wiped. */
void tl_page_free(struct page *page)
{
	if (!page)
		return;
	memzero_explicit(page_address(page), sizeof(struct tl_page_head));
	__free_page(page);
}

static struct page *tl_frames_list(struct page **listed, unsigned int count, u64 session)
{
	struct page *page = alloc_page(TL_GFP);
	struct tl_page_head *head;
	unsigned int i;
	u64 *frames;

	if (!page)
		return NULL;
	tl_page_mark(page, TL_PAGE_FRAMES, session);
	head = page_address(page);
	frames = (u64 *)(head + 1);
	for (i = 0; i < count; i++)
		frames[i] = page_to_pfn(listed[i]);
	tl_page_seal(page, count * sizeof(u64));
	return page;
}

/*
 * Lists @count pages in order: as many levels as it takes, each a run of list
 * pages behind the one below.
 */
int tl_frames_make(struct tl_frames *frames, struct page **listed, unsigned int count, u64 session)
{
	unsigned int fan = tl_frames_per_page(PAGE_SIZE);
	unsigned int total = 0;
	unsigned int level = count;
	unsigned int i;

	if (!count)
		return -EINVAL;
	do {
		level = DIV_ROUND_UP(level, fan);
		total += level;
	} while (level > 1);
	frames->pages = kvcalloc(total, sizeof(*frames->pages), GFP_KERNEL_ACCOUNT);
	if (!frames->pages)
		return -ENOMEM;

	level = count;
	do {
		struct page **made = frames->pages + frames->count;

		for (i = 0; i < level; i += fan) {
			struct page *page = tl_frames_list(listed + i, min(fan, level - i), session);

			if (!page) {
				tl_frames_free(frames);
				return -ENOMEM;
			}
			frames->pages[frames->count++] = page;
		}
		level = DIV_ROUND_UP(level, fan);
		listed = made;
		frames->levels++;
	} while (level > 1);
	frames->top = page_to_pfn(frames->pages[frames->count - 1]);
	return 0;
}

void tl_frames_free(struct tl_frames *frames)
{
	unsigned int i;

	for (i = 0; i < frames->count; i++)
		tl_page_free(frames->pages[i]);
	kvfree(frames->pages);
	*frames = (struct tl_frames){};
}
