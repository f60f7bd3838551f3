// SPDX-License-Identifier: GPL-2.0
/* ring.c - the memory of one CPU's ring: allocated, mapped, freed */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "ring.h"

static struct page *tl_ring_page(int cpu)
{
	return alloc_pages_node(cpu_to_node(cpu), TL_GFP, 0);
}

static void tl_ring_describe(struct tl_ring *ring, int cpu, const struct tl_ring_geometry *geometry)
{
	struct tl_ring_control *control = tl_ring_control(ring);

	control->cpu = cpu;
	control->cpus = geometry->cpus;
	control->size = geometry->size;
	control->chunk_size = geometry->chunk_size;
	control->page_size = PAGE_SIZE;
	control->frames = ring->frames.top;
	control->frame_levels = ring->frames.levels;
	control->clock_hz = geometry->clock_hz;
	control->overwrite = geometry->overwrite;
	tl_page_mark(ring->pages[0], TL_PAGE_RING, geometry->session);
}

/* A zeroed @ring becomes usable, or stays zeroed and an errno says why. */
int tl_ring_alloc(struct tl_ring *ring, int cpu, const struct tl_ring_geometry *geometry)
{
	unsigned int count = 1 + geometry->size / PAGE_SIZE;
	int error = -ENOMEM;

	ring->pages = kvcalloc(count, sizeof(*ring->pages), GFP_KERNEL_ACCOUNT);
	ring->scratch = kmalloc_node(TL_FIELDS_MAX, GFP_KERNEL_ACCOUNT, cpu_to_node(cpu));
	ring->consumer = tl_ring_page(cpu);
	if (!ring->pages || !ring->scratch || !ring->consumer)
		goto fail;
	for (; ring->count < count; ring->count++) {
		if (fatal_signal_pending(current)) {
			error = -EINTR;
			goto fail;
		}
		ring->pages[ring->count] = tl_ring_page(cpu);
		if (!ring->pages[ring->count])
			goto fail;
		cond_resched();
	}
	error = tl_frames_make(&ring->frames, ring->pages + 1, count - 1, geometry->session);
	if (error)
		goto fail;
	error = -ENOMEM;
	ring->memory = vmap(ring->pages, count, VM_MAP, PAGE_KERNEL);
	if (!ring->memory)
		goto fail;
	tl_ring_describe(ring, cpu, geometry);
	tl_ring_writer_init(&ring->writer, tl_ring_control(ring), tl_ring_consumer(ring),
			    ring->memory + PAGE_SIZE);
	return 0;
fail:
	tl_ring_free(ring);
	return error;
}

/* Nobody writes any more, and nothing is mapped. */
void tl_ring_free(struct tl_ring *ring)
{
	unsigned int i;

	vunmap(ring->memory);
	tl_frames_free(&ring->frames);
	for (i = 0; i < ring->count; i++) {
		if (i == 0)
			tl_page_free(ring->pages[i]);
		else
			__free_page(ring->pages[i]);
		cond_resched();
	}
	kvfree(ring->pages);
	kfree(ring->scratch);
	if (ring->consumer)
		__free_page(ring->consumer);
	*ring = (struct tl_ring){};
}

/* Maps the part of the ring that starts at @page: 0 the consumer page, 1 the rest. */
int tl_ring_map(struct tl_ring *ring, struct vm_area_struct *vma, unsigned long page)
{
	unsigned long count = page == 0 ? 1 : ring->count;
	unsigned long at = vma->vm_start;
	unsigned long i;

	if (page > 1 || vma_pages(vma) != count)
		return -EINVAL;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_flags & VM_EXEC)
		return -EACCES;
	if (page == 0) {
		if ((vma->vm_flags & (VM_READ | VM_WRITE)) != (VM_READ | VM_WRITE))
			return -EACCES;
		tl_vm_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
		return vm_insert_page(vma, at, ring->consumer);
	}
	if ((vma->vm_flags & (VM_READ | VM_WRITE)) != VM_READ)
		return -EACCES;
	tl_vm_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	for (i = 0; i < count; i++, at += PAGE_SIZE) {
		int error = vm_insert_page(vma, at, ring->pages[i]);

		if (error)
			return error;
		cond_resched();
	}
	return 0;
}

/* Whether there is something to read; with @chunks, the rest of a finished chunk. */
bool tl_ring_readable(const struct tl_ring *ring, bool chunks)
{
	const struct tl_ring_control *control = tl_ring_control(ring);
	u64 tail = READ_ONCE(tl_ring_consumer(ring)->tail);
	u64 head = READ_ONCE(control->head);

	return chunks ? round_down(head, control->chunk_size) > tail : head != tail;
}

/*
 * Whether what the reader says it has read can be so. The head counts only if it
 * was read while the tail stood still, else both may be far ahead of the pair.
 */
bool tl_ring_tail_valid(const struct tl_ring *ring)
{
	const struct tl_ring_control *control = tl_ring_control(ring);
	const struct tl_ring_consumer *consumer = tl_ring_consumer(ring);
	u64 tail = READ_ONCE(consumer->tail);
	u64 head;

	smp_rmb();	/* tail, then head */
	head = READ_ONCE(control->head);
	smp_rmb();	/* then tail again; the writers' barriers are not relied on */
	return READ_ONCE(consumer->tail) != tail ||
	       (tail <= head && head - tail <= control->size);
}
