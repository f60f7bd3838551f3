/* SPDX-License-Identifier: GPL-2.0 */
/*
 * comm.h - a task's name, compared as two words
 *
 * What is behind a name's NUL in a task may be anything.
 */
#ifndef TL_COMM_H
#define TL_COMM_H

#include "record.h"

#define TL_COMM_WORDS	(TL_COMM_SIZE / 8)

/* A name: the bits in mask must be those of want. */
struct tl_comm {
	__u64 want[TL_COMM_WORDS];
	__u64 mask[TL_COMM_WORDS];
};

/* Byte @n of the name is to be @byte. */
tl_inline void tl_comm_want(struct tl_comm *comm, __u32 n, __u8 byte)
{
	comm->want[n / 8] |= (__u64)byte << n % 8 * 8;
	comm->mask[n / 8] |= 0xffULL << n % 8 * 8;
}

/* Whether the TL_COMM_SIZE bytes that begin with @first and end with @second are that name. */
tl_inline int tl_comm_is(const struct tl_comm *comm, __u64 first, __u64 second)
{
	return (first & comm->mask[0]) == comm->want[0] &&
	       (second & comm->mask[1]) == comm->want[1];
}

#endif
