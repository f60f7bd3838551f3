// SPDX-License-Identifier: GPL-2.0
/*
 * console.c - at an oops or a panic, the newest records go to the kernel's log
 *
 * Whatever was held when the kernel crashed is held for ever, so nothing here takes a lock,
 * allocates or sleeps; sessions are found by RCU, and other CPUs may be stopped in the middle
 * of a record. Every step through a ring is checked to stay in it and to come to an end.
 *
 * A session that was dumped records nothing more until it is started anew: what led to the
 * crash stays in its rings too. See shared/console.h for the lines.
 *
 * A panic may come while an oops is being printed, on another CPU or in here. It takes over:
 * what was not printed to its end is printed anew, under a tag of its own. That it never waits
 * for the other CPU, which may be stopped anywhere, each has its own memory, and all that they
 * share are single words of the sessions. The other CPU, if it still runs, prints nothing more.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/rculist.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include "console.h"
#include "session.h"
#include "shared/console.h"

#define TL_DUMP_MAX	65536U

/* How long records that are being written may take to be finished, in steps of 10 us. */
#define TL_SETTLE_LEAST	10
#define TL_SETTLE_MOST	1000

/* A record that may be among the newest. */
struct tl_newest {
	u64 ticks;
	u64 position;		/* in its ring */
	u32 task;		/* what names its task: bytes from its chunk's begin; 0: nothing */
	u16 cpu;
	u16 id;
};

/* All the memory that a dump needs. */
struct tl_console {
	bool gives_way;		/* to a panic */
	unsigned int room;	/* records */
	unsigned int count;
	u32 sequence;		/* of the next line */
	char tag[24];
	DECLARE_BITMAP(ids, TL_ID_MAX + 1);
	u8 item[TL_CONSOLE_ITEM_MAX];
	char line[TL_CONSOLE_PIECE / 3 * 4 + 96];
	struct tl_newest newest[];	/* a heap, the oldest first */
};

/* Whose dump it is. The kernel has one oops at a time, and one panic ever. */
enum tl_crash {
	TL_OOPS,
	TL_PANIC,
	TL_CRASHES
};

static struct tl_console __rcu *tl_consoles[TL_CRASHES];	/* NULL: off */
static unsigned int tl_dump_on_oops;
static bool tl_console_ready;			/* between init and exit */
static DEFINE_MUTEX(tl_console_lock);		/* who changes them */
static atomic_t tl_console_dumping[TL_CRASHES];

/* A record taken apart. */
struct tl_parsed {
	u64 ticks;
	u32 id;
	u32 tid;
	u32 fields;		/* bytes from its begin to its fields */
	u32 size;		/* bytes, all of it */
	u16 flags;
};

/* Bytes of fields that @program has stored at @at; more than @room: not these. */
static u32 tl_stored(const struct tl_program *program, const u8 *at, u32 room)
{
	u32 size = 0;
	u32 i;

	if (program->size == program->least)
		return program->size;
	for (i = 0; i < program->count && size <= room; i++) {
		const struct tl_insn *insn = &program->insns[i];
		u32 least = tl_insn_stores_least(insn);

		if (least == tl_insn_stores(insn)) {
			size += least;
			continue;
		}
		/* A string or a stack: its length is in it. */
		if (size + 4 > room)
			return room + 1;
		size += tl_insn_stored(insn, tl_get_u32(at + size));
	}
	return size;
}

/* Bytes of an event's fields; more than @room: it isn't one. */
static u32 tl_fields_size(struct tl_session *session, u32 id, const u8 *at, u32 room)
{
	const struct tl_probe *probe;
	u32 size;

	if (id == TL_ID_TASK)
		return TL_TASK_FIELDS;
	if (id == TL_ID_MARK)
		return room < 4 ? room + 1 : 4 + tl_align4(tl_get_u32(at) >> 16);
	probe = id <= TL_ID_MAX ? xa_load(&session->probes, id) : NULL;
	if (!probe)
		return room + 1;
	if (probe->kind == TRAPLINE_RETURN)
		return tl_stored(&probe->ret, at, room);
	size = tl_stored(&probe->entry, at, room);
	if (probe->kind == TRAPLINE_ENTRY || size > room)
		return size;
	size += 8;
	return size > room ? size : size + tl_stored(&probe->ret, at + size, room - size);
}

/* Takes apart what is at @at, in @room bytes, behind a record of the time @last. */
static bool tl_parse(struct tl_session *session, const u8 *at, u32 room, u64 last,
		     struct tl_parsed *record)
{
	u32 size;

	if (room < TL_COMPACT_SIZE)
		return false;
	record->id = tl_get_u32(at) & 0xffff;
	record->fields = TL_COMPACT_SIZE;
	record->ticks = last + (u32)(tl_get_u32(at + 2) - (u32)last);
	if (record->id == TL_ID_EXTENDED) {
		if (room < TL_EXTENDED_SIZE)
			return false;
		record->fields = TL_EXTENDED_SIZE;
		record->id = tl_get_u32(at + 2);
		record->ticks = tl_get_u64(at + 6);
	}
	record->tid = tl_get_u32(at + record->fields - 4);
	record->flags = tl_get_u32(at + record->fields - 8) >> 16;
	room -= record->fields;
	size = tl_fields_size(session, record->id, at + record->fields, room);
	record->size = record->fields + size;
	return size <= room && size <= TL_FIELDS_MAX;
}

static bool tl_older(const struct tl_newest *a, const struct tl_newest *b)
{
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks;
	return a->cpu != b->cpu ? a->cpu < b->cpu : a->position < b->position;
}

/* Puts @record where the heap's place @i is, or below. */
static void tl_heap_down(struct tl_console *console, unsigned int i, struct tl_newest record)
{
	struct tl_newest *heap = console->newest;
	unsigned int child;

	while ((child = 2 * i + 1) < console->count) {
		if (child + 1 < console->count && tl_older(&heap[child + 1], &heap[child]))
			child++;
		if (!tl_older(&heap[child], &record))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = record;
}

static void tl_heap_add(struct tl_console *console, struct tl_newest record)
{
	struct tl_newest *heap = console->newest;
	unsigned int i;

	if (console->count == console->room) {
		if (tl_older(&heap[0], &record))
			tl_heap_down(console, 0, record);
		return;
	}
	for (i = console->count++; i && tl_older(&record, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = record;
}

static struct tl_newest tl_heap_take(struct tl_console *console)
{
	struct tl_newest oldest = console->newest[0];

	console->count--;
	tl_heap_down(console, 0, console->newest[console->count]);
	return oldest;
}

static const u8 *tl_chunk(const struct tl_ring_writer *w, u64 position)
{
	return w->data + (position & (w->size - 1) & ~(u64)(w->chunk_size - 1));
}

/* Of the chunk at @start, which has records up to @end. */
static void tl_collect_chunk(struct tl_console *console, struct tl_session *session,
			     const struct tl_ring_writer *w, u64 start, u32 end)
{
	const u8 *chunk = tl_chunk(w, start);
	u64 last = tl_get_u64(&((const struct tl_packet *)chunk)->timestamp_begin);
	struct tl_parsed record;
	u32 task = 0;
	u32 at;

	for (at = TL_PACKET_SIZE; at < end; at += record.size) {
		if (!tl_parse(session, chunk + at, end - at, last, &record))
			break;
		last = record.ticks;
		if (record.id == TL_ID_TASK)
			task = at;
		else
			tl_heap_add(console, (struct tl_newest) {
				.ticks = record.ticks, .position = start + at, .task = task,
				.cpu = w->cpu, .id = record.id });
	}
}

/* Of a ring, read or not: whatever has not been written over. From the newest chunk on. */
static void tl_collect_ring(struct tl_console *console, struct tl_session *session, int cpu)
{
	const struct tl_ring *ring = per_cpu_ptr(session->rings, cpu);
	const struct tl_ring_writer *w = &ring->writer;
	u64 head = READ_ONCE(tl_ring_control(ring)->head);
	u64 next = READ_ONCE(w->next);
	u32 chunk_size = w->chunk_size;
	/* But for the oldest chunk: the writer may have stopped where it was opening that anew. */
	u64 oldest = next + chunk_size > w->size ? next + chunk_size - w->size : 0;
	u64 start;

	if (!head || head > next)
		return;
	for (start = (head - 1) & ~(u64)(chunk_size - 1); start >= oldest; start -= chunk_size) {
		const struct tl_packet *p = (const struct tl_packet *)tl_chunk(w, start);
		u64 end = head - start;

		if (end >= chunk_size)
			end = tl_get_u64(&p->content_size) / 8;
		if (end >= TL_PACKET_SIZE && end <= chunk_size)
			tl_collect_chunk(console, session, w, start, end);
		/* All that was before is older. */
		if (console->count == console->room &&
		    tl_get_u64(&p->timestamp_begin) < console->newest[0].ticks)
			break;
		if (start < chunk_size)
			break;
	}
}

/* Base64 of @n bytes, padded; returns its end. */
static char *tl_base64(char *to, const u8 *bytes, u32 n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	u32 i;

	for (i = 0; i < n; i += 3) {
		u32 rest = n - i;
		u32 bits = bytes[i] << 16 | (rest > 1 ? bytes[i + 1] << 8 : 0) |
			   (rest > 2 ? bytes[i + 2] : 0);

		*to++ = digits[bits >> 18];
		*to++ = digits[bits >> 12 & 63];
		*to++ = rest > 1 ? digits[bits >> 6 & 63] : '=';
		*to++ = rest > 2 ? digits[bits & 63] : '=';
	}
	return to;
}

/* Whether a panic has taken over: then this dump ends where it is. */
static bool tl_taken_over(const struct tl_console *console)
{
	return console->gives_way && atomic_read(&tl_console_dumping[TL_PANIC]);
}

/* Prints the first @size bytes of console->item. */
static void tl_print_item(struct tl_console *console, char kind, u32 size)
{
	u32 parts = DIV_ROUND_UP(size, TL_CONSOLE_PIECE);
	u32 part;

	for (part = 0; part < parts && !tl_taken_over(console); part++) {
		char *line = console->line;
		u32 from = part * TL_CONSOLE_PIECE;
		char *end = line;

		end += scnprintf(line, 80, "%s %u %c %u/%u ", console->tag, console->sequence++,
				 kind, part + 1, parts);
		end = tl_base64(end, console->item + from, min_t(u32, size - from, TL_CONSOLE_PIECE));
		*end = 0;
		touch_nmi_watchdog();
		pr_emerg("%s%s %08x\n", TL_CONSOLE_MARK, line,
			 tl_checksum((const u8 *)line, end - line));
	}
}

static struct tl_console_instant tl_console_instant(const struct tl_instant *instant)
{
	return (struct tl_console_instant) { instant->ticks, instant->monotonic,
					     instant->realtime };
}

static void tl_print_session(struct tl_console *console, struct tl_session *session)
{
	const struct new_utsname *name = init_utsname();
	const char *const names[] = { name->sysname, name->release, name->version, name->machine,
				      name->nodename, TRAPLINE_VERSION };
	/* The clocks that can be read in any context. */
	const struct tl_instant now = { tl_clock_ticks(session->tsc), ktime_get_mono_fast_ns(),
					ktime_get_real_fast_ns() };
	struct tl_console_session about = {
		.format = TL_CONSOLE_FORMAT,
		.tsc = session->tsc,
		.clock_hz = session->geometry.clock_hz,
		.start = tl_console_instant(&session->begun),
		.now = tl_console_instant(&now),
		.overwrite = session->geometry.overwrite,
	};
	u32 size = sizeof(about);
	u32 i;

	tl_session_totals(session, &about.recorded, &about.lost);
	memcpy(console->item, &about, sizeof(about));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		u32 length = strnlen(names[i], __NEW_UTS_LEN);

		memcpy(console->item + size, names[i], length);
		size += length;
		console->item[size++] = 0;
	}
	tl_print_item(console, TL_CONSOLE_SESSION, size);
}

static void tl_print_labels(struct tl_console *console, struct tl_session *session)
{
	unsigned int id;

	for_each_set_bit(id, console->ids, TL_ID_MAX + 1) {
		const struct tl_probe *probe = xa_load(&session->probes, id);

		if (!probe || !probe->label)
			continue;
		tl_put_u16(console->item, id);
		memcpy(console->item + 2, probe->label, probe->label_bytes);
		tl_print_item(console, TL_CONSOLE_LABEL, 2 + probe->label_bytes);
	}
}

static bool tl_print_record(struct tl_console *console, struct tl_session *session,
			    const struct tl_newest *newest)
{
	const struct tl_ring_writer *w = &per_cpu_ptr(session->rings, newest->cpu)->writer;
	const u8 *chunk = tl_chunk(w, newest->position);
	u32 at = newest->position & (w->chunk_size - 1);
	struct tl_console_record about = { .cpu = newest->cpu };
	struct tl_parsed record;
	u8 *fields;

	/* It was there when it was collected: only a writer that nothing stops changes that. */
	if (!tl_parse(session, chunk + at, w->chunk_size - at, newest->ticks, &record) ||
	    record.id != newest->id || record.ticks != newest->ticks)
		return false;
	if (newest->task && newest->task <= w->chunk_size - TL_EXTENDED_SIZE - TL_TASK_FIELDS) {
		const u8 *task = chunk + newest->task;

		task += (tl_get_u32(task) & 0xffff) == TL_ID_EXTENDED ? TL_EXTENDED_SIZE :
								       TL_COMPACT_SIZE;
		about.tgid = tl_get_u32(task);
		memcpy(about.comm, task + 4, sizeof(about.comm));
	}
	memcpy(console->item, &about, sizeof(about));
	fields = tl_ring_put_header(console->item + sizeof(about), newest->id, record.flags,
				    record.tid, newest->ticks, 1);
	memcpy(fields, chunk + at + record.fields, record.size - record.fields);
	tl_print_item(console, TL_CONSOLE_RECORD,
		      fields + record.size - record.fields - console->item);
	return true;
}

/* No handler that sees the flag from now on writes; waits for those that saw it before. */
static void tl_console_settle(struct tl_session *session)
{
	bool writing;
	int i, cpu;

	for (i = 0; i < TL_SETTLE_MOST; i++) {
		writing = i < TL_SETTLE_LEAST;
		for_each_possible_cpu(cpu)
			if (READ_ONCE(per_cpu_ptr(session->rings, cpu)->writer.writing))
				writing = true;
		if (!writing)
			return;
		udelay(10);
	}
}

static void tl_make_tag(struct tl_console *console, struct tl_session *session)
{
	u8 number = READ_ONCE(session->dumps) + 1;
	int length = scnprintf(console->tag, sizeof(console->tag), "%08x.%u", (u32)session->id,
			       session->generation);

	WRITE_ONCE(session->dumps, number);
	if (number > 1)
		scnprintf(console->tag + length, sizeof(console->tag) - length, ".%u", number);
}

static void tl_dump_session(struct tl_console *console, struct tl_session *session)
{
	u32 printed = 0;
	unsigned int i;
	int cpu;

	tl_console_settle(session);
	console->count = 0;
	console->sequence = 0;
	bitmap_zero(console->ids, TL_ID_MAX + 1);
	tl_make_tag(console, session);
	for_each_possible_cpu(cpu) {
		touch_nmi_watchdog();
		tl_collect_ring(console, session, cpu);
	}
	pr_emerg("trapline: the newest %u records of session %s; show them with: trapline report --console LOG\n",
		 console->count, console->tag);
	for (i = 0; i < console->count; i++)
		if (console->newest[i].id <= TL_ID_MAX)
			__set_bit(console->newest[i].id, console->ids);
	tl_print_session(console, session);
	tl_print_labels(console, session);
	while (console->count && !tl_taken_over(console)) {
		struct tl_newest newest = tl_heap_take(console);

		printed += tl_print_record(console, session, &newest);
	}
	/* Again: nothing can be read without these, and a log may have lost its beginning. */
	tl_print_session(console, session);
	tl_print_labels(console, session);
	tl_put_u32(console->item, printed);
	tl_print_item(console, TL_CONSOLE_END, sizeof(u32));
	if (tl_taken_over(console))
		return;
	pr_emerg("trapline: session %s records nothing more\n", console->tag);
	WRITE_ONCE(session->unprinted, false);
}

static bool tl_to_be_dumped(struct tl_session *session)
{
	/* Pairs with tl_session_make_rings(). */
	return smp_load_acquire(&session->rings) && READ_ONCE(session->started) &&
	       !READ_ONCE(session->dumped);
}

static void tl_console_silence(struct tl_session *session)
{
	if (READ_ONCE(session->active))
		WRITE_ONCE(session->silenced, ktime_get_mono_fast_ns());
	WRITE_ONCE(session->active, false);
	WRITE_ONCE(session->dumped, true);
	WRITE_ONCE(session->unprinted, true);
}

static void tl_console_dump_all(struct tl_console *console)
{
	struct tl_session *session;

	/* All at once, for the printing takes its time. */
	list_for_each_entry_rcu(session, &tl_sessions, list)
		if (tl_to_be_dumped(session))
			tl_console_silence(session);
	/* Those, and no other that is started meanwhile: it would go on writing. */
	list_for_each_entry_rcu(session, &tl_sessions, list) {
		if (tl_taken_over(console))
			return;
		if (READ_ONCE(session->unprinted))
			tl_dump_session(console, session);
	}
}

/* Of each crash one at a time: an oops in here, or behind a panic, is not dumped. */
static void tl_console_dump(enum tl_crash crash)
{
	struct tl_console *console;

	if (atomic_cmpxchg(&tl_console_dumping[crash], 0, 1))
		return;
	rcu_read_lock();
	console = rcu_dereference(tl_consoles[crash]);
	if (console && !tl_taken_over(console))
		tl_console_dump_all(console);
	rcu_read_unlock();
	/* Nothing comes after a panic. */
	if (crash == TL_OOPS)
		atomic_set(&tl_console_dumping[crash], 0);
}

static int tl_console_die(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == DIE_OOPS)
		tl_console_dump(TL_OOPS);
	return NOTIFY_DONE;
}

static int tl_console_panic(struct notifier_block *block, unsigned long event, void *data)
{
	tl_console_dump(TL_PANIC);
	return NOTIFY_DONE;
}

/* Before those that end a machine. */
static struct notifier_block tl_die_block = {
	.notifier_call = tl_console_die,
	.priority = INT_MAX - 1,
};

static struct notifier_block tl_panic_block = {
	.notifier_call = tl_console_panic,
	.priority = INT_MAX - 1,
};

/* From now on for @records; 0: for none. */
static int tl_console_resize(unsigned int records)
{
	struct tl_console *consoles[TL_CRASHES] = {};
	unsigned int i;

	lockdep_assert_held(&tl_console_lock);
	for (i = 0; records && i < TL_CRASHES; i++) {
		consoles[i] = vzalloc(struct_size(consoles[i], newest, records));
		if (!consoles[i]) {
			while (i--)
				vfree(consoles[i]);
			return -ENOMEM;
		}
		consoles[i]->room = records;
		consoles[i]->gives_way = i == TL_OOPS;
	}
	for (i = 0; i < TL_CRASHES; i++)
		consoles[i] = rcu_replace_pointer(tl_consoles[i], consoles[i],
						  lockdep_is_held(&tl_console_lock));
	if (consoles[TL_OOPS])
		synchronize_rcu();
	for (i = 0; i < TL_CRASHES; i++)
		vfree(consoles[i]);
	return 0;
}

static int tl_console_set(const char *text, const struct kernel_param *param)
{
	unsigned int records;
	int error = kstrtouint(text, 0, &records);

	if (error)
		return error;
	if (records > TL_DUMP_MAX)
		return -ERANGE;
	mutex_lock(&tl_console_lock);
	/* Before init nothing is allocated that a failing load would leave behind. */
	if (tl_console_ready)
		error = tl_console_resize(records);
	if (!error)
		tl_dump_on_oops = records;
	mutex_unlock(&tl_console_lock);
	return error;
}

static const struct kernel_param_ops tl_console_param = {
	.set = tl_console_set,
	.get = param_get_uint,
};

module_param_cb(dump_on_oops, &tl_console_param, &tl_dump_on_oops, 0644);
MODULE_PARM_DESC(dump_on_oops,
		 "at an oops or a panic, print that many of each session's newest records (default 0: none; at most 65536)");

int tl_console_init(void)
{
	int error;

	mutex_lock(&tl_console_lock);
	error = tl_console_resize(tl_dump_on_oops);
	tl_console_ready = !error;
	mutex_unlock(&tl_console_lock);
	if (error)
		return error;
	register_die_notifier(&tl_die_block);
	atomic_notifier_chain_register(&panic_notifier_list, &tl_panic_block);
	return 0;
}

void tl_console_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &tl_panic_block);
	unregister_die_notifier(&tl_die_block);
	mutex_lock(&tl_console_lock);
	tl_console_ready = false;
	tl_console_resize(0);
	mutex_unlock(&tl_console_lock);
}
