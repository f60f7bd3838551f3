/* SPDX-License-Identifier: GPL-2.0 */
/* ring.h - the memory of one CPU's ring: allocated, mapped, freed */
#ifndef TL_KMOD_RING_H
#define TL_KMOD_RING_H

#include "image.h"
#include "shared/ring.h"

struct vm_area_struct;

struct tl_ring {
	struct tl_ring_writer writer;	/* what handlers use */
	u8 *scratch;			/* TL_FIELDS_MAX bytes for programs' output */
	struct page **pages;		/* the control page, then the data */
	unsigned int count;		/* of pages */
	struct page *consumer;
	void *memory;			/* pages, mapped in a row */
	struct tl_frames frames;
};

/* What all rings of a session have in common. */
struct tl_ring_geometry {
	u64 size;		/* bytes of data in a ring */
	u32 chunk_size;
	u32 cpus;
	u64 session;		/* names the session in memory images */
	u64 clock_hz;
	bool overwrite;
};

int tl_ring_alloc(struct tl_ring *ring, int cpu, const struct tl_ring_geometry *geometry);
void tl_ring_free(struct tl_ring *ring);
int tl_ring_map(struct tl_ring *ring, struct vm_area_struct *vma, unsigned long page);
bool tl_ring_readable(const struct tl_ring *ring, bool chunks);
bool tl_ring_tail_valid(const struct tl_ring *ring);

static inline struct tl_ring_control *tl_ring_control(const struct tl_ring *ring)
{
	return ring->memory;
}

static inline struct tl_ring_consumer *tl_ring_consumer(const struct tl_ring *ring)
{
	return page_address(ring->consumer);
}

#endif
