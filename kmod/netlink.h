/* SPDX-License-Identifier: GPL-2.0 */
/* netlink.h - the control side: the generic netlink family of shared/trapline.h */
#ifndef TL_NETLINK_H
#define TL_NETLINK_H

int tl_netlink_init(void);
void tl_netlink_exit(void);

#endif
