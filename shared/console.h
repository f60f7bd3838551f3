/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * console.h - how records get out of a crashing kernel: as lines of its log
 *
 * A dump of a session is a row of items, and each item is one line, or several where it is
 * long. A line may come with anything before it (times, levels, callers), others in between,
 * and may be cut: it says itself what it is, and whether it is whole.
 *
 *   trapline: @TAG SEQUENCE KIND PART/PARTS DATA SUM
 *
 *   TAG       8 hexadecimal digits of the session's id, a point, the number of its run; where
 *             a panic has begun that run's dump anew, another point and a 2
 *   SEQUENCE  the line's number in the dump, from 0
 *   KIND      the item's, a letter: see below
 *   PART      of the item, from 1: its lines have SEQUENCEs in a row
 *   DATA      base64 of the part's bytes, padded
 *   SUM       8 hexadecimal digits: tl_checksum() of "TAG ... DATA"
 *
 * Items, all numbers little endian:
 *
 *   S   struct tl_console_session, then what uname tells: system, release, version, machine,
 *       node; and TRAPLINE_VERSION; each with a NUL. It comes first, and again before the end
 *   L   u16 event id, then the LABEL that its probe was added with
 *   R   struct tl_console_record, then the record in its extended form
 *   E   u32 how many R there were: the dump's last
 */
#ifndef TL_CONSOLE_H
#define TL_CONSOLE_H

#include "image.h"
#include "record.h"
#include "trapline.h"

#define TL_CONSOLE_MARK		"trapline: @"
#define TL_CONSOLE_FORMAT	1

#define TL_CONSOLE_SESSION	'S'
#define TL_CONSOLE_LABEL	'L'
#define TL_CONSOLE_RECORD	'R'
#define TL_CONSOLE_END		'E'

/* Bytes in a line's DATA before base64: most records fit, and the kernel's log cuts at 1000. */
#define TL_CONSOLE_PIECE	480

struct tl_console_instant {
	__u64 ticks;
	__u64 monotonic;	/* ns */
	__u64 realtime;		/* ns */
};

struct tl_console_session {
	__u32 format;		/* TL_CONSOLE_FORMAT */
	__u32 tsc;		/* not 0: ticks are the TSC's, else nanoseconds */
	__u64 clock_hz;
	struct tl_console_instant start;
	struct tl_console_instant now;
	__u64 recorded;		/* records since the session was made */
	__u64 lost;		/* records that found no room */
	__u32 overwrite;	/* not 0: a flight recorder */
	__u32 pad;
};

struct tl_console_record {
	__u32 cpu;
	__u32 tgid;
	__u8 comm[TL_COMM_SIZE];
};

tl_static_assert(sizeof(struct tl_console_session) == 88, "console session");
tl_static_assert(sizeof(struct tl_console_record) == 24, "console record");

/* An item's bytes, at most: a label's or a record's. */
#define TL_CONSOLE_ITEM_MAX	(64 + TL_FIELDS_MAX)

tl_static_assert(TRAPLINE_LABEL_MAX <= TL_FIELDS_MAX, "a label is an item too");

#endif
