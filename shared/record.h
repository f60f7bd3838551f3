/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * record.h - what one record looks like
 *
 * A record is a CTF 1.8 event, little endian, 4-byte aligned, without a length:
 * whoever reads it knows the fields of its id.
 *
 *   compact   u16 id | u32 time | u16 flags | u32 tid | fields        12 bytes
 *   extended  u16 65535 | u32 id | u64 time | u16 flags | u32 tid | fields    20
 *
 * time is in ticks of the session's clock: the low 32 bits in the compact form,
 * to be completed from the record or packet header before it, which is less than
 * 2^32 ticks older. {id, time} is CTF's event header, {flags, tid} its context.
 *
 * Fields start at multiples of 4 bytes from the first; the bytes between are
 * zero. By kind of probe they are
 *
 *   entry    the fields its entry program stored
 *   return   the fields its return program stored
 *   call     entry fields, u64 duration in ticks, return fields
 *
 * TL_ID_TASK records (u32 tgid, char comm[16]) name the task of the records that
 * follow in the same packet, until the next. They are not events: no counter
 * knows them.
 *
 * TL_ID_MARK records are events: their one field is a string, see TL_STR_WHOLE.
 */
#ifndef TL_RECORD_H
#define TL_RECORD_H

#include <linux/types.h>
#include "order.h"

#define TL_ID_TASK		0
#define TL_ID_MAX		65533	/* of probes */
#define TL_ID_MARK		65534
#define TL_ID_EXTENDED		65535

#define TL_COMPACT_SIZE		12
#define TL_EXTENDED_SIZE	20
#define TL_COMM_SIZE		16
#define TL_TASK_FIELDS		(4 + TL_COMM_SIZE)

/* Bytes of fields in one record, whatever its kind. */
#define TL_FIELDS_MAX		8000

/* Bytes of them that a call keeps from its entry until its return. */
#define TL_KEPT_MAX		4064

/* Context flags: the context that was interrupted by the trap, not the handler's. */
#define TL_PREEMPT_DEPTH	0x000f	/* preemption disabled this often, 15: or more */
#define TL_IRQS_OFF		0x0010
#define TL_NEED_RESCHED		0x0020
#define TL_SOFTIRQ		0x0040	/* serving a soft interrupt */
#define TL_HARDIRQ		0x0080
#define TL_NMI			0x0100
#define TL_BH_OFF		0x0200	/* soft interrupts disabled, none served */

/*
 * A string field: u16 status, u16 length, then length bytes without a NUL, then
 * zeros up to the next multiple of 4.
 */
#define TL_STR_WHOLE		0	/* an empty string is a whole one of length 0 */
#define TL_STR_CUT		1	/* longer than the program allowed */
#define TL_STR_FAULT		2	/* unreadable; length bytes could be read */
#define TL_STR_NULL		3	/* a null pointer */

/*
 * A stack field: u16 status, u16 length, then length return addresses of 8 bytes each, the
 * innermost first.
 */
#define TL_STACK_WHOLE		0	/* up to where the kernel was entered */
#define TL_STACK_CUT		1	/* deeper than the program allowed */
#define TL_STACK_FAULT		2	/* could be followed no further; length may be 0 */

tl_inline __u32 tl_align4(__u32 n)
{
	return (n + 3) & ~3U;
}

#endif
