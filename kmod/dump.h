/* SPDX-License-Identifier: GPL-2.0 */
/* dump.h - PROBE_DUMP and SESSION_LIST: callbacks of the family's operations */
#ifndef TL_DUMP_H
#define TL_DUMP_H

struct netlink_callback;
struct sk_buff;

int tl_dump_start(struct netlink_callback *cb);
int tl_dump_done(struct netlink_callback *cb);
int tl_dump_probes(struct sk_buff *skb, struct netlink_callback *cb);
int tl_dump_sessions(struct sk_buff *skb, struct netlink_callback *cb);

#endif
