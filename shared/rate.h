/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate.h - so many in each second, for all CPUs together
 *
 * The state is one word, the number of the latest second and how many it had, so that it can
 * be taken over with one exchange.
 */
#ifndef TL_RATE_H
#define TL_RATE_H

#include <linux/types.h>
#include "order.h"

/*
 * The state after one more in @second, which may have @most; 0: there is no more room. Who
 * comes late from a second that is over counts in the latest.
 */
tl_inline __u64 tl_rate_take(__u64 state, __u32 second, __u32 most)
{
	if ((__s32)(second - (__u32)(state >> 32)) > 0)
		return (__u64)second << 32 | 1;
	return (__u32)state < most ? state + 1 : 0;
}

#endif
