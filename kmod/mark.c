// SPDX-License-Identifier: GPL-2.0
/* mark.c - a text from user space, put into the streams of all sessions */
#include <linux/irqflags.h>
#include "handler.h"
#include "mark.h"
#include "session.h"

/*
 * Puts the mark into @session's ring of this CPU, as a handler puts its record, unless
 * nothing is recorded there now.
 *
 * With interrupts off: no handler but an NMI's, or that of a trap on what is called from
 * here, runs on this CPU meanwhile, and finds the ring entered and goes away. And a grace
 * period that began after the session's active was cleared ends after this has: then STOP
 * may close the chunk.
 */
static noinline void tl_mark_session(struct tl_session *session, const void *text, u32 length,
				     struct tl_marks *marks)
{
	const struct tl_task task = tl_task_of(current);
	u32 size = 4 + tl_align4(length);
	struct tl_ring_writer *w;
	unsigned long flags;
	u8 *at = NULL;
	u64 now;

	local_irq_save(flags);
	/* Pairs with the release in tl_session_start(): what START has set, rings before it. */
	if (!smp_load_acquire(&session->active)) {
		local_irq_restore(flags);
		return;
	}
	w = &this_cpu_ptr(session->rings)->writer;
	now = tl_clock_ticks(session->tsc);
	if (tl_ring_enter(w)) {
		at = tl_ring_reserve(w, &task, TL_ID_MARK, 0, now, size);
		if (at) {
			tl_put_u32(at + size - 4, 0);	/* the padding, if there is any */
			tl_put_u16(at, TL_STR_WHOLE);
			tl_put_u16(at + 2, length);
			memcpy(at + 4, text, length);
			tl_ring_commit(w, at + size);
		}
		tl_ring_leave(w);
	}
	local_irq_restore(flags);
	if (at)
		marks->marked++;
	else
		marks->lost++;
}
NOKPROBE_SYMBOL(tl_mark_session);
NOKPROBE_SYMBOL(tl_ring_reserve_slow);

/*
 * Puts @length bytes of @text into every session that records, and adds up what became of
 * them. Sessions' own mutexes are not taken: a STOP that holds one waits for us as it
 * waits for handlers. The list's is held: a session that is on it is not freed.
 */
void tl_mark(const void *text, u32 length, struct tl_marks *marks)
{
	struct tl_session *session;

	mutex_lock(&tl_sessions_lock);
	list_for_each_entry(session, &tl_sessions, list)
		tl_mark_session(session, text, length, marks);
	mutex_unlock(&tl_sessions_lock);
}
