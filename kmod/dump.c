// SPDX-License-Identifier: GPL-2.0
/*
 * dump.c - PROBE_DUMP and SESSION_LIST
 *
 * A dump begins in the sender's context, where its descriptor is looked up, and goes
 * on in the context of whoever receives: what it needs is held until it is done. That may
 * be never, if nobody receives. So of a session that isn't the asker's only the struct is
 * held, and whether there is still anything in it is asked anew for every message.
 */
#include <linux/file.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "dump.h"
#include "netlink.h"
#include "pending.h"
#include "session.h"

/* Pending calls that one dump can list, of all probes. */
#define TL_PENDING_ROOM		1024

/* What a dump keeps between its messages, whose receivers may be others. */
struct tl_dump {
	struct file *file;
	struct tl_session *asker;	/* as long as the file is held */
	struct tl_session *subject;	/* whose probes are dumped: the asker, or */
	bool found;			/* one found by its number, and held itself */
	struct tl_pending *pending;
	unsigned int pending_count;
	unsigned long next;
	int error;			/* of .start, with its words: */
	struct netlink_ext_ack refusal;
};

static struct tl_dump *tl_dump_of(struct netlink_callback *cb)
{
	return (struct tl_dump *)cb->args[0];
}

/* Locks the session whose probes are dumped, unless it was closed since it was found. */
static bool tl_dump_lock(struct tl_session *session)
{
	mutex_lock(&session->lock);
	if (!session->closed)
		return true;
	mutex_unlock(&session->lock);
	return false;
}

static int tl_dump_closed(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the session was closed meanwhile");
	return -ESRCH;
}

/* Finds the session that the request is about. */
static int tl_dump_find(struct tl_dump *dump, struct nlattr **attrs)
{
	struct nlattr *number = attrs[TRAPLINE_A_SESSION_NUMBER];

	dump->asker = tl_session_get(attrs, &dump->refusal, &dump->file);
	if (IS_ERR(dump->asker)) {
		int error = PTR_ERR(dump->asker);

		dump->asker = NULL;
		return error;
	}
	dump->subject = dump->asker;
	if (!number)
		return 0;
	dump->subject = tl_session_find(nla_get_u32(number));
	if (!dump->subject) {
		NL_SET_ERR_MSG_ATTR(&dump->refusal, number, "no open session has this number");
		return -ESRCH;
	}
	dump->found = true;
	return 0;
}

static int tl_dump_find_pending(struct tl_dump *dump)
{
	int count;

	dump->pending = kvcalloc(TL_PENDING_ROOM, sizeof(*dump->pending), GFP_KERNEL);
	if (!dump->pending)
		return -ENOMEM;
	if (!tl_dump_lock(dump->subject))
		return tl_dump_closed(&dump->refusal);
	count = tl_pending_find(dump->subject, dump->pending, TL_PENDING_ROOM);
	mutex_unlock(&dump->subject->lock);
	if (count < 0) {
		NL_SET_ERR_MSG(&dump->refusal, "this kernel doesn't let calls inside be found");
		return count;
	}
	dump->pending_count = count;
	return 0;
}

int tl_dump_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = tl_dump_attrs(cb);
	struct tl_dump *dump;

	dump = kzalloc(sizeof(*dump), GFP_KERNEL);
	if (!dump)
		return -ENOMEM;
	cb->args[0] = (long)dump;
	dump->error = tl_dump_find(dump, attrs);
	if (!dump->error && nla_get_flag(attrs[TRAPLINE_A_PENDING]))
		dump->error = tl_dump_find_pending(dump);
	return 0;
}

/* A refusal of .start: told here, for only here is there an extended ack (before 6.8). */
static int tl_dump_refused(const struct tl_dump *dump, struct netlink_callback *cb)
{
	if (dump->error && cb->extack)
		*cb->extack = dump->refusal;
	return dump->error;
}

int tl_dump_done(struct netlink_callback *cb)
{
	struct tl_dump *dump = tl_dump_of(cb);

	if (!dump)
		return 0;
	kvfree(dump->pending);
	if (dump->found)
		tl_session_drop(dump->subject);
	if (dump->asker)
		fput(dump->file);
	kfree(dump);
	cb->args[0] = 0;
	return 0;
}

static int tl_put_pending(struct sk_buff *skb, const struct tl_dump *dump, u16 id)
{
	unsigned int count = 0;
	unsigned int i;
	struct trapline_pending *calls;
	struct nlattr *attr;

	for (i = 0; i < dump->pending_count; i++)
		count += dump->pending[i].id == id;
	count = min_t(unsigned int, count, TRAPLINE_PENDING_MAX);
	if (!count)
		return 0;
	attr = nla_reserve_64bit(skb, TRAPLINE_P_PENDING_CALLS, count * sizeof(*calls),
				 TRAPLINE_P_PAD);
	if (!attr)
		return -EMSGSIZE;
	calls = nla_data(attr);
	for (i = 0; count; i++) {
		if (dump->pending[i].id != id)
			continue;
		*calls++ = dump->pending[i].call;
		count--;
	}
	return 0;
}

static int tl_put_probe(struct sk_buff *skb, const struct tl_dump *dump,
			const struct tl_probe *probe)
{
	struct nlattr *nest = nla_nest_start(skb, TRAPLINE_A_PROBE);
	enum trapline_technique technique = tl_probe_technique(probe);
	struct trapline_counters counters;

	if (!nest)
		return -EMSGSIZE;
	tl_probe_counters(probe, &counters);
	if (nla_put_u8(skb, TRAPLINE_P_KIND, probe->kind) ||
	    nla_put_u16(skb, TRAPLINE_P_EVENT_ID, probe->id) ||
	    nla_put_string(skb, TRAPLINE_P_SYMBOL, probe->symbol) ||
	    nla_put_u64_64bit(skb, TRAPLINE_P_OFFSET, probe->offset, TRAPLINE_P_PAD) ||
	    nla_put_u64_64bit(skb, TRAPLINE_P_ADDRESS, probe->address, TRAPLINE_P_PAD) ||
	    nla_put_u32(skb, TRAPLINE_P_MAXACTIVE, probe->maxactive) ||
	    (technique == TRAPLINE_NO_TRAP && nla_put_flag(skb, TRAPLINE_P_LIFTED)) ||
	    nla_put_u8(skb, TRAPLINE_P_TECHNIQUE, technique) ||
	    nla_put_64bit(skb, TRAPLINE_P_COUNTERS, sizeof(counters), &counters,
			  TRAPLINE_P_PAD) ||
	    tl_put_pending(skb, dump, probe->id)) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

static void *tl_dump_header(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &tl_family,
			   NLM_F_MULTI, cmd);
}

int tl_dump_probes(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct tl_dump *dump = tl_dump_of(cb);
	struct tl_session *session = dump->subject;
	struct tl_probe *probe;
	unsigned long id;
	int error = tl_dump_refused(dump, cb);

	if (error)
		return error;
	if (!tl_dump_lock(session))
		return tl_dump_closed(cb->extack);
	xa_for_each_start(&session->probes, id, probe, dump->next) {
		void *header = tl_dump_header(skb, cb, TRAPLINE_C_PROBE_DUMP);

		if (!header || tl_put_probe(skb, dump, probe)) {
			if (header)
				genlmsg_cancel(skb, header);
			error = -EMSGSIZE;
			break;
		}
		genlmsg_end(skb, header);
		dump->next = id + 1;
	}
	mutex_unlock(&session->lock);
	/* Only a message that didn't fit by itself is an error. */
	return skb->len ?: error;
}

static int tl_put_session(struct sk_buff *skb, struct tl_session *session, bool own)
{
	struct nlattr *nest = nla_nest_start(skb, TRAPLINE_A_SESSION);
	u64 recorded, lost;
	bool configured = smp_load_acquire(&session->rings);	/* last, in CONFIGURE */
	u64 size = configured ? session->geometry.size : 0;
	u64 silenced = READ_ONCE(session->silenced);
	u32 ended = READ_ONCE(session->ended);

	if (!nest)
		return -EMSGSIZE;
	tl_session_totals(session, &recorded, &lost);
	if (nla_put_u32(skb, TRAPLINE_S_TGID, session->owner) ||
	    nla_put_string(skb, TRAPLINE_S_COMM, session->comm) ||
	    nla_put_u32(skb, TRAPLINE_S_UID, from_kuid(&init_user_ns, session->uid)) ||
	    (READ_ONCE(session->started) && nla_put_flag(skb, TRAPLINE_S_STARTED)) ||
	    nla_put_u32(skb, TRAPLINE_S_PROBES, READ_ONCE(session->planted)) ||
	    nla_put_u64_64bit(skb, TRAPLINE_S_RING_SIZE, size, TRAPLINE_S_PAD) ||
	    nla_put_u64_64bit(skb, TRAPLINE_S_RECORDED, recorded, TRAPLINE_S_PAD) ||
	    nla_put_u64_64bit(skb, TRAPLINE_S_LOST, lost, TRAPLINE_S_PAD) ||
	    (own && nla_put_flag(skb, TRAPLINE_S_OWN)) ||
	    nla_put_u32(skb, TRAPLINE_S_NUMBER, session->number) ||
	    (ended && nla_put_u32(skb, TRAPLINE_S_ENDED, ended)) ||
	    (configured && session->load.most &&
	     nla_put_u64_64bit(skb, TRAPLINE_S_SPENT, tl_load_spent_ns(session),
			       TRAPLINE_S_PAD)) ||
	    (ended == TRAPLINE_ENDED_GUARD &&
	     (nla_put_u32(skb, TRAPLINE_S_LOAD, session->load.percent) ||
	      nla_put_u32(skb, TRAPLINE_S_LOAD_CPU, session->load.cpu))) ||
	    (silenced &&
	     nla_put_u64_64bit(skb, TRAPLINE_S_SILENCED, silenced, TRAPLINE_S_PAD)) ||
	    (configured && session->geometry.overwrite &&
	     nla_put_flag(skb, TRAPLINE_S_OVERWRITE))) {
		nla_nest_cancel(skb, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

int tl_dump_sessions(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct tl_dump *dump = tl_dump_of(cb);
	struct tl_session *session;
	int error = tl_dump_refused(dump, cb);

	if (error)
		return error;
	mutex_lock(&tl_sessions_lock);
	list_for_each_entry(session, &tl_sessions, list) {
		void *header;

		/* Not by their places: those before may have been closed meanwhile. */
		if (session->number < dump->next)
			continue;
		header = tl_dump_header(skb, cb, TRAPLINE_C_SESSION_LIST);
		if (!header || tl_put_session(skb, session, session == dump->asker)) {
			if (header)
				genlmsg_cancel(skb, header);
			error = -EMSGSIZE;
			break;
		}
		genlmsg_end(skb, header);
		dump->next = session->number + 1UL;
	}
	mutex_unlock(&tl_sessions_lock);
	return skb->len ?: error;
}
