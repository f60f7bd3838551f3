/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pending.h - calls that have not returned, found without help from the handlers
 *
 * A sleeping task's own list of return-probe instances says which of our calls it
 * is in; where the kernel has no such lists, all instances of our probes say whose they
 * are. A task that runs meanwhile is passed over: what it says can't be trusted.
 */
#ifndef TL_PENDING_H
#define TL_PENDING_H

#include "session.h"

struct tl_pending {
	u16 id;			/* the probe's */
	struct trapline_pending call;
};

/*
 * Fills at most @room entries and returns how many; -EOPNOTSUPP where the kernel has
 * other lists, which are not known here (5.11 to 5.17).
 */
int tl_pending_find(struct tl_session *session, struct tl_pending *found, unsigned int room);

#endif
