/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * ring.h - one CPU's ring: its layout, its writer, its readers
 *
 * One writer at a time (handlers of this CPU, which the kprobes core never runs
 * inside one another), one reader. Positions are bytes written or read since the
 * ring was made; they never wrap. The data area is cut into power-of-two chunks,
 * each a CTF packet; no record crosses one.
 *
 *   writer   fill records, then store_release(head)
 *   reader   load_acquire(head), read records, then store_release(tail)
 *   writer   load_acquire(tail) before it fills a chunk that was used before
 *
 * A chunk is filled again only when the tail has passed it; until then records
 * are dropped and counted (discard mode). The writer takes nothing from memory
 * the reader can write but the tail, and of that only "room or no room".
 *
 * In overwrite mode, in a ring of two chunks at least, the oldest chunk gives way and
 * nothing is dropped for want of room. The writer looks at nothing, and the reader copies:
 *
 *   writer   store_release(floor), write barrier, then fill the chunk before the floor
 *   reader   load_acquire(floor), load_acquire(head), copy a chunk, read barrier,
 *            load the floor again: if it passed the chunk, the copy is worth nothing
 *
 * The floor is never past the chunk that the head is in, so whoever sees a floor finds
 * something published behind it.
 */
#ifndef TL_RING_H
#define TL_RING_H

#include <linux/types.h>
#include "order.h"
#include "record.h"

#define TL_PAGE_SIZE		4096	/* layout unit, not the kernel's page size */
#define TL_RING_MAGIC		0x474e495250415254ULL	/* "TRAPRING" in memory */
#define TL_LAYOUT_VERSION	2

#define TL_CTF_MAGIC		0xc1fc1fc1U
#define TL_STREAM_ID		0

/* How every page begins that a memory image can be searched for. */
struct tl_page_head {
	__u64 magic;		/* TL_RING_MAGIC */
	__u32 version;		/* TL_LAYOUT_VERSION */
	__u32 kind;		/* tl_page_kind */
	__u64 frame;		/* this page's own frame number */
	__u64 session;		/* the same in all pages of a session, never 0 */
	__u32 checksum;		/* frame lists and metadata: see image.h */
	__u32 used;		/* frame lists and metadata: bytes after this head */
};

enum tl_page_kind {
	TL_PAGE_RING = 1,	/* control page of a ring */
	TL_PAGE_FRAMES,		/* frame numbers of data pages or of lists of them */
	TL_PAGE_METADATA,	/* a piece of the CTF metadata */
};

/* Read-only for the reader. The writer's cache lines start at head. */
struct tl_ring_control {
	struct tl_page_head page;
	__u32 cpu;
	__u32 cpus;		/* rings of the session */
	__u64 size;		/* bytes of data, a power of two */
	__u32 chunk_size;	/* bytes, a power of two */
	__u32 page_size;	/* bytes in a frame */
	__u64 frames;		/* frame number of the top frame list */
	__u32 frame_levels;	/* 1: the top list holds data pages */
	__u32 overwrite;	/* not 0: the oldest chunk gives way to the newest */
	__u64 metadata;		/* frame number of the top list of metadata pages, 0: none */
	__u64 clock_hz;		/* nominal */
	__u8 pad1[128 - 40 - 56];

	__u64 head;		/* end of what is published */
	__u64 written;		/* records ever, TL_ID_TASK not counted */
	__u64 lost_full;	/* records: no free chunk */
	__u64 lost_nested;	/* records: another was being written */
	__u64 lost_too_big;	/* records: larger than a chunk */
	__u64 floor;		/* overwrite: everything before may have been written over */
	__u8 pad2[64 - 48];
};

/* Writable by the reader. */
struct tl_ring_consumer {
	__u64 tail;		/* everything before was read */
};

/* A chunk's first bytes: CTF packet header {magic, stream_id}, then context. */
struct tl_packet {
	__u32 magic;
	__u32 stream_id;
	__u64 timestamp_begin;	/* ticks: its first record's */
	__u64 timestamp_end;	/* ticks: its last record's; from here valid once closed */
	__u64 content_size;	/* bits, header included */
	__u64 packet_size;	/* bits */
	__u64 events_discarded;	/* by this ring, ever, when the chunk was closed */
	__u64 packet_seq_num;	/* chunks before it in this ring */
	__u64 first_event;	/* records ever written when the chunk was begun */
	__u32 cpu_id;
} __attribute__((__packed__, __aligned__(4)));

#define TL_PACKET_SIZE		68

tl_static_assert(sizeof(struct tl_page_head) == 40, "page head");
tl_static_assert(__builtin_offsetof(struct tl_ring_control, head) == 128, "control page");
tl_static_assert(sizeof(struct tl_ring_control) == 192, "control page");
tl_static_assert(sizeof(struct tl_packet) == TL_PACKET_SIZE, "packet header");

/* Why a record was dropped. */
enum tl_drop {
	TL_DROP_NONE,
	TL_DROP_FULL,
	TL_DROP_NESTED,
	TL_DROP_TOO_BIG,
};

#define TL_NOBODY		0xffffffffU	/* no task's tid */

/* The writer's own; never seen by the reader. */
struct tl_ring_writer {
	__u8 *cur;		/* where the next record goes */
	__u8 *limit;		/* end of the open chunk, never reached; == cur: none is open */
	__u64 bias;		/* position = (address) + bias, in the open chunk */
	__u64 last;		/* time of the last record */
	__u64 comm[2];		/* the task last named in this chunk */
	__u32 tid;		/* TL_NOBODY: none was */
	__u32 writing;
	__u32 drop;		/* enum tl_drop, after a failed reserve */
	struct tl_ring_control *control;
	struct tl_ring_consumer *consumer;
	__u8 *data;
	__u64 size;
	__u64 next;		/* position of the next chunk */
	__u64 closed_discarded;	/* events_discarded of the last closed packet */
	__u32 chunk_size;
	__u32 cpu;
	__u32 overwrite;
};

/* The task that a record is about. */
struct tl_task {
	__u64 comm[2];		/* TL_COMM_SIZE bytes */
	__u32 tid;
	__u32 tgid;
};

tl_inline void tl_ring_writer_init(struct tl_ring_writer *w, struct tl_ring_control *control,
				   struct tl_ring_consumer *consumer, void *data)
{
	*w = (struct tl_ring_writer) {};
	w->control = control;
	w->consumer = consumer;
	w->tid = TL_NOBODY;
	w->data = (__u8 *)data;
	w->cur = w->data;
	w->limit = w->data;
	w->size = control->size;
	w->chunk_size = control->chunk_size;
	w->cpu = control->cpu;
	w->overwrite = control->overwrite;
}

/*
 * Guards the one-writer rule. False: a record is being written on this CPU, and
 * nothing was done about the new one. After true, tl_ring_leave().
 */
tl_inline int tl_ring_try_enter(struct tl_ring_writer *w)
{
	if (tl_unlikely(tl_load(&w->writing)))
		return 0;
	tl_store(&w->writing, 1);
	tl_barrier();	/* the record's stores stay behind the flag */
	return 1;
}

/* The same; false: the new record is dropped and counted. */
tl_inline int tl_ring_enter(struct tl_ring_writer *w)
{
	if (tl_likely(tl_ring_try_enter(w)))
		return 1;
	tl_count(&w->control->lost_nested);
	return 0;
}

tl_inline void tl_ring_leave(struct tl_ring_writer *w)
{
	tl_barrier();	/* and before its clearing */
	tl_store(&w->writing, 0);
}

tl_inline __u64 tl_ring_discarded(const struct tl_ring_writer *w)
{
	const struct tl_ring_control *c = w->control;

	return tl_load(&c->lost_full) + tl_load(&c->lost_nested) + tl_load(&c->lost_too_big);
}

tl_inline struct tl_packet *tl_ring_open_packet(struct tl_ring_writer *w)
{
	return (struct tl_packet *)(w->limit - w->chunk_size);
}

/* Completes the open chunk's header. Visible once the head has passed its end. */
tl_inline void tl_ring_close(struct tl_ring_writer *w)
{
	struct tl_packet *p = tl_ring_open_packet(w);
	__u64 discarded = tl_ring_discarded(w);

	tl_put_u64(&p->timestamp_end, w->last);
	tl_put_u64(&p->content_size, (__u64)(w->cur - (__u8 *)p) * 8);
	tl_put_u64(&p->events_discarded, discarded);
	w->closed_discarded = discarded;
	w->cur = w->limit;
}

/* The same, and publishes it whole. */
tl_inline void tl_ring_close_whole(struct tl_ring_writer *w)
{
	tl_ring_close(w);
	/* Pairs with the acquires of the head: the header's last words too. */
	tl_store_release(&w->control->head, w->next);
}

/*
 * Opens the next chunk, closing the open one. 0: the reader still owns it. Then the open
 * one is closed and published too, before the loss is counted: a packet's count tells of
 * losses up to its last record, the next one's of those after it.
 */
tl_inline int tl_ring_next(struct tl_ring_writer *w, __u64 now)
{
	__u64 start = w->next;
	struct tl_packet *p;

	if (!w->overwrite) {
		/* Pairs with the release in tl_ring_release(): it is done reading there. */
		__u64 tail = tl_load_acquire(&w->consumer->tail);

		if (start - tail > w->size - w->chunk_size) {
			if (w->cur != w->limit)
				tl_ring_close_whole(w);
			return 0;
		}
	} else if (start + w->chunk_size > w->size) {
		/* Pairs with the acquire in tl_ring_copy(): the head isn't before the floor. */
		tl_store_release(&w->control->floor, start + w->chunk_size - w->size);
		/* Pairs with the read barrier there: the floor before what is filled now. */
		tl_write_barrier();
	}
	if (w->cur != w->limit)
		tl_ring_close(w);

	p = (struct tl_packet *)(w->data + (start & (w->size - 1)));
	tl_put_u32(&p->magic, TL_CTF_MAGIC);
	tl_put_u32(&p->stream_id, TL_STREAM_ID);
	tl_put_u64(&p->timestamp_begin, now);
	tl_put_u64(&p->packet_size, (__u64)w->chunk_size * 8);
	tl_put_u64(&p->packet_seq_num, start / w->chunk_size);
	tl_put_u64(&p->first_event, tl_load(&w->control->written));
	tl_put_u32(&p->cpu_id, w->cpu);

	w->cur = (__u8 *)p + TL_PACKET_SIZE;
	w->limit = (__u8 *)p + w->chunk_size;
	w->bias = start - (__u64)(unsigned long)p;
	w->next = start + w->chunk_size;
	w->last = now;
	w->tid = TL_NOBODY;
	return 1;
}

/* Stores a header at @at; returns where the fields go. */
tl_inline __u8 *tl_ring_put_header(__u8 *at, __u16 id, __u16 flags, __u32 tid, __u64 now, int wide)
{
	if (wide) {
		tl_put_u32(at, TL_ID_EXTENDED | (__u32)id << 16);
		tl_put_u32(at + 4, (__u32)(now << 16));	/* id's upper half is 0 */
		tl_put_u64(at + 8, now >> 16 | (__u64)flags << 48);
		tl_put_u32(at + 16, tid);
		return at + TL_EXTENDED_SIZE;
	}
	/* Three stores are fewer instructions than composing one word. */
	tl_put_u16(at, id);
	tl_put_u32(at + 2, (__u32)now);
	tl_put_u16(at + 6, flags);
	tl_put_u32(at + 8, tid);
	return at + TL_COMPACT_SIZE;
}

/* A new chunk, a task to be named, or a long silence before the record. */
tl_noinline __u8 *tl_ring_reserve_slow(struct tl_ring_writer *w, const struct tl_task *task,
				       __u16 id, __u16 flags, __u64 now, __u32 size)
{
	__u32 named = TL_COMPACT_SIZE + TL_TASK_FIELDS;
	int wide;
	int name = w->tid != task->tid ||
		   w->comm[0] != task->comm[0] || w->comm[1] != task->comm[1];
	__u32 need = TL_COMPACT_SIZE + size + (name ? named : 0);
	__u8 *at;

	if (now < w->last)
		now = w->last;
	wide = (now - w->last) >> 32 != 0;
	if (wide)
		need += TL_EXTENDED_SIZE - TL_COMPACT_SIZE;
	if (need >= (__u64)(w->limit - w->cur)) {
		if (TL_COMPACT_SIZE + size + named >= w->chunk_size - TL_PACKET_SIZE) {
			w->drop = TL_DROP_TOO_BIG;
			tl_count(&w->control->lost_too_big);
			return 0;
		}
		if (!tl_ring_next(w, now)) {
			w->drop = TL_DROP_FULL;
			tl_count(&w->control->lost_full);
			return 0;
		}
		wide = 0;
		name = 1;
	}
	at = w->cur;
	w->last = now;
	if (name) {
		at = tl_ring_put_header(at, TL_ID_TASK, flags, task->tid, now, wide);
		tl_put_u32(at, task->tgid);
		tl_put_u64(at + 4, task->comm[0]);
		tl_put_u64(at + 12, task->comm[1]);
		at += TL_TASK_FIELDS;
		wide = 0;
		w->tid = task->tid;
		w->comm[0] = task->comm[0];
		w->comm[1] = task->comm[1];
	}
	return tl_ring_put_header(at, id, flags, task->tid, now, wide);
}

/*
 * tl_ring_reserve() for the usual case and nothing else: where that doesn't do,
 * 0 and nothing has changed; else 1, and @fields is where the fields go.
 */
tl_inline int tl_ring_reserve_fast(struct tl_ring_writer *w, const struct tl_task *task,
				   __u16 id, __u16 flags, __u64 now, __u32 size, __u8 **fields)
{
	__u8 *at = w->cur;

	/* A clock that went back wraps, and is not usual either. */
	if (tl_unlikely(at + TL_COMPACT_SIZE + size >= w->limit || (now - w->last) >> 32 ||
			w->tid != task->tid || w->comm[0] != task->comm[0] ||
			w->comm[1] != task->comm[1]))
		return 0;
	w->last = now;
	*fields = tl_ring_put_header(at, id, flags, task->tid, now, 0);
	return 1;
}

/*
 * Room for a record of @id with @size bytes of fields (a multiple of 4), its
 * header stored. Returns where the fields go, to be followed by
 * tl_ring_commit(); or 0, the record dropped and counted, the cause in w->drop.
 * Between enter and leave only. A @now older than the last record's becomes that.
 */
tl_inline __u8 *tl_ring_reserve(struct tl_ring_writer *w, const struct tl_task *task,
				__u16 id, __u16 flags, __u64 now, __u32 size)
{
	__u8 *at;

	if (tl_likely(tl_ring_reserve_fast(w, task, id, flags, now, size, &at)))
		return at;
	return tl_ring_reserve_slow(w, task, id, flags, now, size);
}

/* Publishes the record whose fields end at @end. */
tl_inline void tl_ring_commit(struct tl_ring_writer *w, __u8 *end)
{
	struct tl_ring_control *control = w->control;
	__u64 head = (__u64)(unsigned long)end + w->bias;

	w->cur = end;
	tl_count(&control->written);
	/* Pairs with the acquires in tl_ring_peek() and tl_ring_copy(): the record first. */
	tl_store_release(&control->head, head);
}

/*
 * Closes the open chunk and publishes it whole; if records were dropped since, and
 * there is room, an empty packet says so. Nobody may be writing.
 */
tl_inline void tl_ring_finish(struct tl_ring_writer *w, __u64 now)
{
	if (now < w->last)
		now = w->last;
	if (w->cur == w->limit && tl_ring_discarded(w) != w->closed_discarded)
		tl_ring_next(w, now);
	if (w->cur != w->limit)
		tl_ring_close_whole(w);
}

/* The reader's own. One reads with peek and release, or (overwrite mode) copy and pass. */
struct tl_ring_reader {
	const struct tl_ring_control *control;
	struct tl_ring_consumer *consumer;
	const __u8 *data;
	__u64 size;
	__u64 pos;		/* read up to here; overwrite: a chunk's start */
	__u32 chunk_size;
};

/* What can be read in one piece: whole records of one chunk. */
struct tl_ring_span {
	const __u8 *packet;	/* its chunk's header */
	const __u8 *start;
	__u64 length;		/* bytes; 0: nothing to read */
	__u64 next;		/* position after it, for tl_ring_release() */
};

tl_inline void tl_ring_reader_init(struct tl_ring_reader *r, const struct tl_ring_control *control,
				   struct tl_ring_consumer *consumer, const void *data)
{
	r->control = control;
	r->consumer = consumer;
	r->data = (const __u8 *)data;
	r->size = control->size;
	r->chunk_size = control->chunk_size;
	r->pos = tl_load(&consumer->tail);
	if (control->overwrite)
		r->pos &= ~(__u64)(r->chunk_size - 1);
}

/*
 * Finds what was published and not released: 1 with @span set, its length 0 where
 * a chunk held no (more) records; 0 when everything was read; -1 when the ring's
 * words contradict each other.
 */
tl_inline int tl_ring_peek(const struct tl_ring_reader *r, struct tl_ring_span *span)
{
	/* Pairs with the releases of the head in commit and close. */
	__u64 head = tl_load_acquire(&r->control->head);
	__u64 start = r->pos & ~(__u64)(r->chunk_size - 1);
	__u64 from = r->pos - start;
	__u64 end;

	if (head == r->pos)
		return 0;
	if (head - r->pos > r->size)
		return -1;
	span->packet = r->data + (start & (r->size - 1));
	if (head - start >= r->chunk_size) {
		const struct tl_packet *p = (const struct tl_packet *)span->packet;

		end = tl_get_u64(&p->content_size) / 8;
		span->next = start + r->chunk_size;
	} else {
		end = head - start;
		span->next = head;
	}
	if (from == 0)
		from = TL_PACKET_SIZE;
	if (end < from || end > r->chunk_size)
		return -1;
	span->start = span->packet + from;
	span->length = end - from;
	return 1;
}

/* Gives the span's memory back to the writer. */
tl_inline void tl_ring_release(struct tl_ring_reader *r, const struct tl_ring_span *span)
{
	r->pos = span->next;
	/* Pairs with the acquire in tl_ring_next(): reading ends before reuse. */
	tl_store_release(&r->consumer->tail, span->next);
}

/* A chunk's copy, as far as it was published: its header, then whole records. */
struct tl_ring_copied {
	__u64 position;		/* of the chunk */
	__u32 length;		/* bytes copied */
	int finished;		/* else its header is valid up to timestamp_begin, and so are
				 * packet_size, packet_seq_num, first_event and cpu_id
				 */
};

/*
 * Copies the first chunk that the reader has not passed and the writer not taken back, from
 * its start, also if it was copied before, when it held less: 1 with @copy set; 0 when
 * nothing is published that wasn't passed; -1 when the ring's words contradict each other.
 * At most @room bytes are copied: a chunk's size; or TL_PACKET_SIZE, for the header alone.
 *
 * Goes on as long as it is overtaken, every time by one chunk or more.
 */
tl_inline int tl_ring_copy(struct tl_ring_reader *r, void *to, __u32 room,
			   struct tl_ring_copied *copy)
{
	const struct tl_packet *p = (const struct tl_packet *)to;
	__u64 floor, head, end;

	for (;;) {
		/* Pairs with its release in tl_ring_next(). */
		floor = tl_load_acquire(&r->control->floor);
		/* Pairs with the releases of the head in commit and close. */
		head = tl_load_acquire(&r->control->head);
		if (floor & (r->chunk_size - 1))
			return -1;
		if (r->pos < floor)
			r->pos = floor;
		if (head == r->pos)
			return 0;
		end = head - r->pos;
		copy->finished = end >= r->chunk_size;
		if (copy->finished)
			end = r->chunk_size;
		copy->length = end < room ? (__u32)end : room;
		tl_copy(to, r->data + (r->pos & (r->size - 1)), copy->length);
		/* Pairs with the write barrier in tl_ring_next(): newer words, newer floor. */
		tl_read_barrier();
		if (tl_load(&r->control->floor) <= r->pos)
			break;
	}
	/* The floor that was current with this head, or a later one, doesn't explain it. */
	if (head - r->pos > r->size)
		return -1;
	if (copy->finished)
		end = tl_get_u64(&p->content_size) / 8;
	if (end < TL_PACKET_SIZE || end > r->chunk_size || end & 3)
		return -1;
	if (end < copy->length)
		copy->length = (__u32)end;
	copy->position = r->pos;
	return 1;
}

/* Goes on behind a finished chunk; a reader to come starts there. */
tl_inline void tl_ring_pass(struct tl_ring_reader *r, const struct tl_ring_copied *copy)
{
	if (!copy->finished)
		return;
	r->pos = copy->position + r->chunk_size;
	tl_store(&r->consumer->tail, r->pos);
}

#endif
