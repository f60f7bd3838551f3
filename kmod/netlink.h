/* SPDX-License-Identifier: GPL-2.0 */
/* netlink.h - the control side: the generic netlink family of shared/trapline.h */
#ifndef TL_NETLINK_H
#define TL_NETLINK_H

#include <net/genetlink.h>

struct file;
struct tl_session;

int tl_netlink_init(void);
void tl_netlink_exit(void);

extern struct genl_family tl_family;

/*
 * The session that a request's FD is, and its @file held: the caller's to fput(). Only
 * in the sender's context, whose descriptor it is. An ERR_PTR, @extack says why.
 */
struct tl_session *tl_session_get(struct nlattr **attrs, struct netlink_ext_ack *extack,
				  struct file **file);

#endif
