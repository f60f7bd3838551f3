/* SPDX-License-Identifier: GPL-2.0 */
/*
 * clock.h - the clock of a session's records
 *
 * The CPU's own counter where the kernel trusts it, else the monotonic clock that
 * may be read from any context. Both can step back a little; the ring's writer
 * clamps.
 */
#ifndef TL_CLOCK_H
#define TL_CLOCK_H

#include <linux/timekeeping.h>
#include "machine.h"

/* One instant on three clocks. */
struct tl_instant {
	u64 ticks;
	u64 monotonic;	/* ns */
	u64 realtime;	/* ns */
};

static inline bool tl_clock_tsc_trusted(void)
{
	return tl_counter_trusted();
}

static inline u64 tl_clock_hz(bool tsc)
{
	return tsc ? tl_counter_hz() : NSEC_PER_SEC;
}

static __always_inline u64 tl_clock_ticks(bool tsc)
{
	return tsc ? tl_counter() : ktime_get_mono_fast_ns();
}

static inline struct tl_instant tl_clock_instant(bool tsc)
{
	struct tl_instant now;
	unsigned long flags;

	local_irq_save(flags);
	now.ticks = tl_clock_ticks(tsc);
	now.monotonic = ktime_get_ns();
	now.realtime = ktime_get_real_ns();
	local_irq_restore(flags);
	return now;
}

#endif
