/* SPDX-License-Identifier: GPL-2.0 */
/* site.h - the kernel's text where a trap is, read and judged */
#ifndef TL_SITE_H
#define TL_SITE_H

#include <linux/kprobes.h>
#include "shared/trapline.h"

/* The text at an address, as it was found. */
struct tl_site_text {
	u64 address;
	u8 bytes[TRAPLINE_SITE_BYTES];
	u8 size;	/* of them that could be read */
};

void tl_site_read(struct tl_site_text *site, u64 address);
bool tl_site_trapped(const struct tl_site_text *before, const struct kprobe *kp);
int tl_site_register(struct kprobe *kp);
long tl_site_offset(u64 address);
bool tl_site_ends_text(u64 address);
int tl_site_arm(struct kprobe *kp, struct tl_site_text *before);

#endif
