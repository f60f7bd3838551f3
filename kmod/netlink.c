// SPDX-License-Identifier: GPL-2.0
/* netlink.c - the control side: the generic netlink family of shared/trapline.h */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include "device.h"
#include "dump.h"
#include "mark.h"
#include "netlink.h"
#include "session.h"

/* No message plants or lifts for longer: Ctrl-C works and progress can be shown. */
#define TL_PLANT_NS		(50 * NSEC_PER_MSEC)
#define TL_REPLY_SMALL		1024
#define TL_REPLY_VERDICTS	16384

static struct netlink_range_validation tl_id_range = { .min = 1, .max = TL_ID_MAX };

static const struct nla_policy tl_policy[TRAPLINE_A_MAX + 1] = {
	[TRAPLINE_A_FD] = { .type = NLA_U32 },
	[TRAPLINE_A_RING_SIZE] = { .type = NLA_U64 },
	[TRAPLINE_A_MAXACTIVE] = { .type = NLA_U32 },
	[TRAPLINE_A_TGIDS] = { .type = NLA_NESTED },
	[TRAPLINE_A_TGID] = { .type = NLA_U32 },
	[TRAPLINE_A_FOLLOW] = { .type = NLA_FLAG },
	[TRAPLINE_A_EXCLUDE_TGID] = { .type = NLA_U32 },
	[TRAPLINE_A_OFFSET] = { .type = NLA_U64 },
	[TRAPLINE_A_DATA] = { .type = NLA_BINARY, .len = TRAPLINE_METADATA_PIECE },
	[TRAPLINE_A_PROBES] = { .type = NLA_NESTED },
	[TRAPLINE_A_EVENT_ID] = NLA_POLICY_FULL_RANGE(NLA_U16, &tl_id_range),
	[TRAPLINE_A_PENDING] = { .type = NLA_FLAG },
	[TRAPLINE_A_OVERWRITE] = { .type = NLA_FLAG },
	[TRAPLINE_A_WAKE_CHUNKS] = { .type = NLA_FLAG },
	[TRAPLINE_A_TEXT] = { .type = NLA_BINARY },
	[TRAPLINE_A_SESSION_NUMBER] = { .type = NLA_U32 },
	[TRAPLINE_A_ONLY_CPUS] = { .type = NLA_BINARY },
	[TRAPLINE_A_ONLY_UIDS] = { .type = NLA_BINARY, .len = TRAPLINE_ONLY_MAX * sizeof(u32) },
	[TRAPLINE_A_ONLY_COMMS] = { .type = NLA_BINARY, .len = TRAPLINE_ONLY_MAX * TL_COMM_SIZE },
	[TRAPLINE_A_ONLY_CGROUPS] = { .type = NLA_BINARY, .len = TRAPLINE_ONLY_MAX * sizeof(u32) },
	[TRAPLINE_A_LIMIT] = { .type = NLA_U64 },
	[TRAPLINE_A_GUARD] = NLA_POLICY_RANGE(NLA_U32, 1, 100),
};

static const struct nla_policy tl_probe_policy[TRAPLINE_P_MAX + 1] = {
	[TRAPLINE_P_KIND] = NLA_POLICY_MAX(NLA_U8, TRAPLINE_KINDS - 1),
	[TRAPLINE_P_EVENT_ID] = NLA_POLICY_FULL_RANGE(NLA_U16, &tl_id_range),
	[TRAPLINE_P_SYMBOL] = { .type = NLA_NUL_STRING, .len = TRAPLINE_SYMBOL_MAX - 1 },
	[TRAPLINE_P_OFFSET] = { .type = NLA_U64 },
	[TRAPLINE_P_ADDRESS] = { .type = NLA_U64 },
	[TRAPLINE_P_MAXACTIVE] = { .type = NLA_U32 },
	[TRAPLINE_P_ENTRY_PROGRAM] = { .type = NLA_BINARY, .len = TL_INSNS_MAX * sizeof(struct tl_insn) },
	[TRAPLINE_P_RETURN_PROGRAM] = { .type = NLA_BINARY, .len = TL_INSNS_MAX * sizeof(struct tl_insn) },
	[TRAPLINE_P_TRIGGER] = NLA_POLICY_MAX(NLA_U8, TRAPLINE_TRIGGERS - 1),
	[TRAPLINE_P_LABEL] = { .type = NLA_BINARY, .len = TRAPLINE_LABEL_MAX },
	[TRAPLINE_P_MAX_RATE] = { .type = NLA_U32 },
};

/* The session that the request names, and its @file held. */
struct tl_session *tl_session_get(struct nlattr **attrs, struct netlink_ext_ack *extack,
				  struct file **file)
{
	struct tl_session *session;

	if (!attrs[TRAPLINE_A_FD]) {
		NL_SET_ERR_MSG(extack, "which session? FD is missing");
		return ERR_PTR(-EINVAL);
	}
	*file = fget(nla_get_u32(attrs[TRAPLINE_A_FD]));
	if (!*file) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TRAPLINE_A_FD], "FD is not an open descriptor");
		return ERR_PTR(-EBADF);
	}
	session = tl_device_session(*file);
	if (!session) {
		NL_SET_ERR_MSG_ATTR(extack, attrs[TRAPLINE_A_FD],
				    "FD is no session: open /dev/trapline");
		fput(*file);
		return ERR_PTR(-ENOTTY);
	}
	return session;
}

/* The same, locked: to be ended with tl_session_put(). */
static struct tl_session *tl_session_get_locked(struct genl_info *info, struct file **file)
{
	struct tl_session *session = tl_session_get(info->attrs, info->extack, file);

	if (!IS_ERR(session))
		mutex_lock(&session->lock);
	return session;
}

static void tl_session_put(struct tl_session *session, struct file *file)
{
	mutex_unlock(&session->lock);
	fput(file);
}

static int tl_need_configured(struct tl_session *session, struct genl_info *info)
{
	if (session->rings)
		return 0;
	NL_SET_ERR_MSG(info->extack, "the session is not configured yet");
	return -ENOTCONN;
}

static int tl_need_attr(struct genl_info *info, enum trapline_attr attr, const char *text)
{
	if (info->attrs[attr])
		return 0;
	/* _msg keeps the pointer: @text is a literal. */
	if (info->extack)
		info->extack->_msg = text;
	return -EINVAL;
}

/* A reply being written. */
static struct sk_buff *tl_reply_new(struct genl_info *info, size_t size, void **header)
{
	struct sk_buff *reply = genlmsg_new(size, GFP_KERNEL);

	if (!reply)
		return NULL;
	*header = genlmsg_put_reply(reply, info, &tl_family, 0, info->genlhdr->cmd);
	if (*header)
		return reply;
	nlmsg_free(reply);
	return NULL;
}

static int tl_reply_send(struct sk_buff *reply, void *header, struct genl_info *info)
{
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

static int tl_put_u64_attr(struct sk_buff *skb, int attr, u64 value)
{
	return nla_put_u64_64bit(skb, attr, value, TRAPLINE_A_PAD);
}

static int tl_reply_instant(struct genl_info *info, const struct tl_instant *instant)
{
	struct sk_buff *reply;
	void *header;

	reply = tl_reply_new(info, TL_REPLY_SMALL, &header);
	if (!reply)
		return -ENOMEM;
	if (tl_put_u64_attr(reply, TRAPLINE_A_TICKS, instant->ticks) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_MONOTONIC, instant->monotonic) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_REALTIME, instant->realtime)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	return tl_reply_send(reply, header, info);
}

static int tl_do_info(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct sk_buff *reply;
	struct file *file;
	u64 ring_max = tl_session_ring_max();
	void *header;
	bool tsc;

	session = tl_session_get(info->attrs, info->extack, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	tsc = session->tsc;
	fput(file);

	reply = tl_reply_new(info, TL_REPLY_SMALL, &header);
	if (!reply)
		return -ENOMEM;
	if (nla_put_u32(reply, TRAPLINE_A_ABI, TRAPLINE_ABI) ||
	    nla_put_string(reply, TRAPLINE_A_VERSION, TRAPLINE_VERSION) ||
	    nla_put_u32(reply, TRAPLINE_A_CPUS, nr_cpu_ids) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_RING_MIN, TRAPLINE_RING_MIN) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_RING_MAX, ring_max) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_RING_DEFAULT,
			    min_t(u64, TRAPLINE_RING_DEFAULT, ring_max)) ||
	    nla_put_u32(reply, TRAPLINE_A_RECORD_MAX, TL_FIELDS_MAX) ||
	    nla_put_u32(reply, TRAPLINE_A_INSNS_MAX, TL_INSNS_MAX) ||
	    nla_put_u32(reply, TRAPLINE_A_MAXACTIVE, tl_maxactive_default()) ||
	    nla_put_u32(reply, TRAPLINE_A_MAXACTIVE_MAX, TRAPLINE_MAXACTIVE_MAX) ||
	    nla_put_string(reply, TRAPLINE_A_CLOCK_NAME, tsc ? "tsc" : "mono") ||
	    tl_put_u64_attr(reply, TRAPLINE_A_CLOCK_HZ, tl_clock_hz(tsc))) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	return tl_reply_send(reply, header, info);
}

/* A task of the sender's pid namespace to its thread group in the initial one. */
static pid_t tl_tgid_of(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct task_struct *task;
	pid_t tgid = -ESRCH;

	rcu_read_lock();
	task = pid_task(find_vpid(nla_get_u32(attr)), PIDTYPE_PID);
	if (task)
		tgid = task->tgid;
	rcu_read_unlock();
	if (tgid < 0)
		NL_SET_ERR_MSG_ATTR(extack, attr, "no such process");
	return tgid;
}

static int tl_config_tgids(struct tl_session_config *config, const struct nlattr *nest,
			   struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rest;

	config->restricted = true;
	config->tgids = kvcalloc(TRAPLINE_TGIDS_MAX, sizeof(*config->tgids), GFP_KERNEL);
	if (!config->tgids)
		return -ENOMEM;
	nla_for_each_nested(attr, nest, rest) {
		pid_t tgid;

		if (nla_type(attr) != TRAPLINE_A_TGID || nla_len(attr) != sizeof(u32)) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "TGIDS holds TGID attributes only");
			return -EINVAL;
		}
		if (config->tgids_count == TRAPLINE_TGIDS_MAX) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "1024 thread groups at most");
			return -E2BIG;
		}
		tgid = tl_tgid_of(attr, extack);
		if (tgid < 0)
			return tgid;
		config->tgids[config->tgids_count++] = tgid;
	}
	if (rest) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "TGIDS ends with bytes that are no attribute");
		return -EINVAL;
	}
	return 0;
}

/* An array of elements of @size bytes, one at least; NULL, @count 0: none was asked for. */
static int tl_config_array(struct genl_info *info, enum trapline_attr type, size_t size,
			   const void **array, unsigned int *count)
{
	const struct nlattr *attr = info->attrs[type];

	if (!attr)
		return 0;
	if (!nla_len(attr) || nla_len(attr) % size) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "an array of other elements, or of none");
		return -EINVAL;
	}
	*array = nla_data(attr);
	*count = nla_len(attr) / size;
	return 0;
}

static int tl_config_only(struct tl_filter_request *only, struct genl_info *info)
{
	return tl_config_array(info, TRAPLINE_A_ONLY_CPUS, sizeof(u32),
			       (const void **)&only->cpus, &only->cpus_count) ?:
	       tl_config_array(info, TRAPLINE_A_ONLY_UIDS, sizeof(u32),
			       (const void **)&only->uids, &only->uids_count) ?:
	       tl_config_array(info, TRAPLINE_A_ONLY_COMMS, TL_COMM_SIZE,
			       (const void **)&only->comms, &only->comms_count) ?:
	       tl_config_array(info, TRAPLINE_A_ONLY_CGROUPS, sizeof(u32),
			       (const void **)&only->cgroups, &only->cgroups_count);
}

static int tl_config_parse(struct tl_session_config *config, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct nlattr *size = attrs[TRAPLINE_A_RING_SIZE];
	u64 max = tl_session_ring_max();
	int error;

	config->ring_size = min_t(u64, TRAPLINE_RING_DEFAULT, max);
	config->maxactive = tl_maxactive_default();
	if (size) {
		config->ring_size = nla_get_u64(size);
		if (config->ring_size < TRAPLINE_RING_MIN ||
		    config->ring_size > TRAPLINE_RING_MAX || !is_power_of_2(config->ring_size)) {
			NL_SET_ERR_MSG_ATTR(info->extack, size,
					    "a ring is a power of two from 64 KiB to 1 GiB");
			return -ERANGE;
		}
		if (config->ring_size > max) {
			NL_SET_ERR_MSG_ATTR(info->extack, size,
					    "the rings of all CPUs together would exceed 1/16 of RAM");
			return -E2BIG;
		}
	}
	if (attrs[TRAPLINE_A_MAXACTIVE]) {
		config->maxactive = nla_get_u32(attrs[TRAPLINE_A_MAXACTIVE]);
		if (config->maxactive < 1 || config->maxactive > TRAPLINE_MAXACTIVE_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attrs[TRAPLINE_A_MAXACTIVE],
					    "maxactive is 1 to 65536");
			return -ERANGE;
		}
	}
	config->overwrite = nla_get_flag(attrs[TRAPLINE_A_OVERWRITE]);
	config->wake_chunks = nla_get_flag(attrs[TRAPLINE_A_WAKE_CHUNKS]);
	if (attrs[TRAPLINE_A_LIMIT])
		config->limit = nla_get_u64(attrs[TRAPLINE_A_LIMIT]);
	if (attrs[TRAPLINE_A_GUARD])
		config->guard = nla_get_u32(attrs[TRAPLINE_A_GUARD]);
	config->follow = nla_get_flag(attrs[TRAPLINE_A_FOLLOW]);
	if (config->follow && !attrs[TRAPLINE_A_TGIDS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[TRAPLINE_A_FOLLOW],
				    "FOLLOW whom? TGIDS is missing");
		return -EINVAL;
	}
	if (attrs[TRAPLINE_A_EXCLUDE_TGID]) {
		config->excluded = tl_tgid_of(attrs[TRAPLINE_A_EXCLUDE_TGID], info->extack);
		if (config->excluded < 0)
			return config->excluded;
	}
	if (attrs[TRAPLINE_A_TGIDS]) {
		error = tl_config_tgids(config, attrs[TRAPLINE_A_TGIDS], info->extack);
		if (error)
			return error;
	}
	return tl_config_only(&config->only, info);
}

static int tl_reply_geometry(struct genl_info *info, const struct tl_session *session)
{
	struct sk_buff *reply;
	void *header;

	reply = tl_reply_new(info, TL_REPLY_SMALL, &header);
	if (!reply)
		return -ENOMEM;
	if (tl_put_u64_attr(reply, TRAPLINE_A_RING_SIZE, session->geometry.size) ||
	    tl_put_u64_attr(reply, TRAPLINE_A_CHUNK_SIZE, session->geometry.chunk_size) ||
	    nla_put_u32(reply, TRAPLINE_A_CPUS, session->geometry.cpus) ||
	    nla_put_u32(reply, TRAPLINE_A_MAXACTIVE, session->maxactive)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	return tl_reply_send(reply, header, info);
}

static int tl_do_configure(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session_config config = {};
	struct tl_session *session;
	const char *text = NULL;
	struct file *file;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_config_parse(&config, info);
	if (!error) {
		error = tl_session_configure(session, &config, &text);
		if (text && info->extack)
			info->extack->_msg = text;
	}
	if (!error)
		error = tl_reply_geometry(info, session);
	kvfree(config.tgids);
	tl_session_put(session, file);
	return error;
}

static int tl_do_metadata(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	const char *text = NULL;
	struct file *file;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_configured(session, info) ?:
		tl_need_attr(info, TRAPLINE_A_OFFSET, "OFFSET is missing") ?:
		tl_need_attr(info, TRAPLINE_A_DATA, "DATA is missing");
	if (!error) {
		error = tl_session_metadata(session, nla_get_u64(info->attrs[TRAPLINE_A_OFFSET]),
					    nla_data(info->attrs[TRAPLINE_A_DATA]),
					    nla_len(info->attrs[TRAPLINE_A_DATA]), &text);
		if (error && info->extack)
			info->extack->_msg = text;
	}
	tl_session_put(session, file);
	return error;
}

/* What one PROBE nest asks for. @text says what is wrong with it. */
static int tl_request_parse(struct tl_probe_request *request, struct nlattr **attrs,
			    const struct tl_session *session, char *text)
{
	const struct nlattr *symbol = attrs[TRAPLINE_P_SYMBOL];
	const struct nlattr *entry = attrs[TRAPLINE_P_ENTRY_PROGRAM];
	const struct nlattr *ret = attrs[TRAPLINE_P_RETURN_PROGRAM];

	if (!attrs[TRAPLINE_P_KIND]) {
		strscpy(text, "KIND is missing", TL_TEXT_SIZE);
		return -EINVAL;
	}
	request->kind = nla_get_u8(attrs[TRAPLINE_P_KIND]);
	request->maxactive = session->maxactive;
	if (attrs[TRAPLINE_P_MAXACTIVE] && nla_get_u32(attrs[TRAPLINE_P_MAXACTIVE]))
		request->maxactive = nla_get_u32(attrs[TRAPLINE_P_MAXACTIVE]);
	if (request->maxactive > TRAPLINE_MAXACTIVE_MAX) {
		strscpy(text, "MAXACTIVE is 1 to 65536", TL_TEXT_SIZE);
		return -ERANGE;
	}
	if (attrs[TRAPLINE_P_TRIGGER])
		request->trigger = nla_get_u8(attrs[TRAPLINE_P_TRIGGER]);
	if (attrs[TRAPLINE_P_MAX_RATE])
		request->max_rate = nla_get_u32(attrs[TRAPLINE_P_MAX_RATE]);
	if (attrs[TRAPLINE_P_ADDRESS])
		request->address = nla_get_u64(attrs[TRAPLINE_P_ADDRESS]);
	if (attrs[TRAPLINE_P_OFFSET])
		request->offset = nla_get_u64(attrs[TRAPLINE_P_OFFSET]);
	if (symbol)
		request->symbol = nla_data(symbol);
	if (!request->address && (!symbol || nla_len(symbol) < 2)) {
		strscpy(text, "neither SYMBOL nor ADDRESS is given", TL_TEXT_SIZE);
		return -EINVAL;
	}
	if (request->offset > UINT_MAX ||
	    (request->address && request->offset > request->address)) {
		strscpy(text, "OFFSET is out of range", TL_TEXT_SIZE);
		return -ERANGE;
	}
	if (entry) {
		request->entry = nla_data(entry);
		request->entry_bytes = nla_len(entry);
	}
	if (ret) {
		request->ret = nla_data(ret);
		request->ret_bytes = nla_len(ret);
	}
	if (attrs[TRAPLINE_P_LABEL]) {
		request->label = nla_data(attrs[TRAPLINE_P_LABEL]);
		request->label_bytes = nla_len(attrs[TRAPLINE_P_LABEL]);
	}
	return 0;
}

/* Plants one probe of @session. Returns an errno, @probe or @text. */
static int tl_probe_add(struct tl_session *session, struct nlattr **attrs, u16 id,
			struct tl_probe **probe, char *text)
{
	struct tl_probe_request request = { .id = id };
	int error = tl_request_parse(&request, attrs, session, text);

	if (error)
		return error;
	if (xa_load(&session->probes, id)) {
		strscpy(text, "the event id was used before in this session", TL_TEXT_SIZE);
		return -EEXIST;
	}
	error = xa_reserve(&session->probes, id, GFP_KERNEL_ACCOUNT);
	if (error) {
		strscpy(text, "no memory for it", TL_TEXT_SIZE);
		return error;
	}
	*probe = tl_probe_plant(session, &request, text);
	if (IS_ERR(*probe)) {
		xa_release(&session->probes, id);
		return PTR_ERR(*probe);
	}
	tl_probe_begin(*probe);
	/* First: a session that is started records it from then on, and a crash may come. */
	xa_store(&session->probes, id, *probe, GFP_KERNEL_ACCOUNT);
	session->planted++;
	error = tl_probe_arm(*probe, text);
	if (!error)
		return 0;
	xa_erase(&session->probes, id);
	session->planted--;
	/* That waits for a crash's dump which has found it. */
	tl_probes_lift(probe, 1);
	tl_probe_free(*probe);
	return error;
}

static int tl_put_verdict(struct sk_buff *reply, u16 id, int error, u64 address, const char *text)
{
	struct nlattr *nest = nla_nest_start(reply, TRAPLINE_A_VERDICT);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_u16(reply, TRAPLINE_P_EVENT_ID, id) ||
	    nla_put_u32(reply, TRAPLINE_P_ERROR, -error) ||
	    nla_put_u64_64bit(reply, TRAPLINE_P_ADDRESS, address, TRAPLINE_P_PAD) ||
	    (error && nla_put_string(reply, TRAPLINE_P_TEXT, text))) {
		nla_nest_cancel(reply, nest);
		return -EMSGSIZE;
	}
	nla_nest_end(reply, nest);
	return 0;
}

/* The most that a verdict takes in a reply. */
#define TL_VERDICT_SIZE	(TL_TEXT_SIZE + 64)

/* One PROBE of the nest, which has to name its event, into @attrs. */
static int tl_probe_nest(const struct nlattr *attr, struct nlattr **attrs,
			 struct netlink_ext_ack *extack)
{
	int error;

	if (nla_type(attr) != TRAPLINE_A_PROBE) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "PROBES holds PROBE attributes only");
		return -EINVAL;
	}
	error = nla_parse_nested(attrs, TRAPLINE_P_MAX, attr, tl_probe_policy, extack);
	if (error)
		return error;
	if (attrs[TRAPLINE_P_EVENT_ID])
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "EVENT_ID is missing");
	return -EINVAL;
}

/* Looks at the probes of the nest one by one until time or room is up. */
static void tl_probes_add(struct tl_session *session, struct genl_info *info,
			  struct sk_buff *reply)
{
	u64 begun = ktime_get_ns();
	struct nlattr *attr;
	int rest;

	nla_for_each_nested(attr, info->attrs[TRAPLINE_A_PROBES], rest) {
		struct nlattr *attrs[TRAPLINE_P_MAX + 1];
		struct tl_probe *probe = NULL;
		char text[TL_TEXT_SIZE];
		u16 id;
		int error;

		/* As tl_probes_check() has found them. */
		if (tl_probe_nest(attr, attrs, info->extack))
			break;
		id = nla_get_u16(attrs[TRAPLINE_P_EVENT_ID]);
		error = tl_probe_add(session, attrs, id, &probe, text);
		tl_put_verdict(reply, id, error, error ? 0 : probe->address, text);
		if (ktime_get_ns() - begun > TL_PLANT_NS || skb_tailroom(reply) < TL_VERDICT_SIZE)
			break;
	}
}

/* Before anything is planted: a malformed probe leaves nothing behind. */
static int tl_probes_check(struct genl_info *info)
{
	struct nlattr *attrs[TRAPLINE_P_MAX + 1];
	struct nlattr *attr;
	unsigned int count = 0;
	int rest;

	nla_for_each_nested(attr, info->attrs[TRAPLINE_A_PROBES], rest) {
		int error;

		if (++count > TRAPLINE_BATCH_MAX) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "256 probes at most in one message");
			return -E2BIG;
		}
		error = tl_probe_nest(attr, attrs, info->extack);
		if (error)
			return error;
	}
	if (rest) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[TRAPLINE_A_PROBES],
				    "PROBES ends with bytes that are no attribute");
		return -EINVAL;
	}
	return 0;
}

static int tl_do_probe_add(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct sk_buff *reply;
	struct nlattr *nest;
	struct file *file;
	void *header;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_configured(session, info) ?:
		tl_need_attr(info, TRAPLINE_A_PROBES, "PROBES is missing");
	if (!error)
		error = tl_probes_check(info);
	if (error)
		goto out;
	error = -ENOMEM;
	reply = tl_reply_new(info, TL_REPLY_VERDICTS, &header);
	if (!reply)
		goto out;
	nest = nla_nest_start(reply, TRAPLINE_A_VERDICTS);
	tl_probes_add(session, info, reply);
	nla_nest_end(reply, nest);
	error = tl_reply_send(reply, header, info);
out:
	tl_session_put(session, file);
	return error;
}

/* The probe that EVENT_ID names. */
static struct tl_probe *tl_probe_named(struct tl_session *session, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[TRAPLINE_A_EVENT_ID];
	struct tl_probe *probe = xa_load(&session->probes, nla_get_u16(attr));

	if (!probe)
		NL_SET_ERR_MSG_ATTR(info->extack, attr, "the session has no probe of that event id");
	return probe;
}

static int tl_do_probe_delete(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct tl_probe *only = NULL;
	struct file *file;
	int error = 0;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	if (info->attrs[TRAPLINE_A_EVENT_ID]) {
		only = tl_probe_named(session, info);
		if (!only)
			error = -ENOENT;
	}
	if (!error && !tl_session_lift(session, only, ktime_add_ns(ktime_get(), TL_PLANT_NS))) {
		NL_SET_ERR_MSG(info->extack, "more probes are planted: ask again");
		error = -EAGAIN;
	}
	tl_session_put(session, file);
	return error;
}

static int tl_tails_error(struct tl_session *session, struct genl_info *info)
{
	if (tl_session_tails_valid(session))
		return 0;
	NL_SET_ERR_MSG(info->extack,
		       "a consumer page holds a position outside of its ring: who writes there?");
	return -EBADMSG;
}

static int tl_do_start(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct tl_instant instant;
	struct file *file;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_configured(session, info);
	if (!error && session->started) {
		NL_SET_ERR_MSG(info->extack, "the session is started already");
		error = -EALREADY;
	}
	if (!error) {
		instant = tl_session_start(session);
		error = tl_reply_instant(info, &instant);
	}
	tl_session_put(session, file);
	return error;
}

static int tl_do_stop(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct tl_instant instant;
	struct file *file;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_configured(session, info);
	if (!error && !session->started) {
		NL_SET_ERR_MSG(info->extack, "the session is not started");
		error = -EALREADY;
	}
	if (!error) {
		instant = tl_session_stop(session);
		error = tl_tails_error(session, info) ?: tl_reply_instant(info, &instant);
	}
	tl_session_put(session, file);
	return error;
}

static int tl_do_sync(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_session *session;
	struct tl_instant instant;
	struct file *file;
	int error;

	session = tl_session_get(info->attrs, info->extack, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_configured(session, info);
	if (!error) {
		/* Without the mutex: a grace period is long, and nothing changes. */
		instant = tl_session_sync(session);
		error = tl_tails_error(session, info) ?: tl_reply_instant(info, &instant);
	}
	fput(file);
	return error;
}

static int tl_do_site_read(struct sk_buff *skb, struct genl_info *info)
{
	struct tl_site_text now;
	struct tl_session *session;
	struct tl_probe *probe;
	struct sk_buff *reply;
	struct file *file;
	void *header;
	int error;

	session = tl_session_get_locked(info, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	error = tl_need_attr(info, TRAPLINE_A_EVENT_ID, "EVENT_ID is missing");
	if (error)
		goto out;
	error = -ENOENT;
	probe = tl_probe_named(session, info);
	if (!probe)
		goto out;
	error = -ENOMEM;
	reply = tl_reply_new(info, TL_REPLY_SMALL, &header);
	if (!reply)
		goto out;
	tl_site_read(&now, probe->before.address);
	if (tl_put_u64_attr(reply, TRAPLINE_A_ADDRESS, probe->before.address) ||
	    nla_put(reply, TRAPLINE_A_BYTES_BEFORE, probe->before.size, probe->before.bytes) ||
	    nla_put(reply, TRAPLINE_A_BYTES_NOW, now.size, now.bytes)) {
		nlmsg_free(reply);
		error = -EMSGSIZE;
		goto out;
	}
	error = tl_reply_send(reply, header, info);
out:
	tl_session_put(session, file);
	return error;
}

static int tl_mark_check(const struct nlattr *text, struct netlink_ext_ack *extack)
{
	if (!nla_len(text)) {
		NL_SET_ERR_MSG_ATTR(extack, text, "TEXT is empty");
		return -EINVAL;
	}
	if (nla_len(text) > TRAPLINE_MARK_MAX) {
		NL_SET_ERR_MSG_ATTR(extack, text, "TEXT is 1024 bytes at most");
		return -E2BIG;
	}
	if (memchr(nla_data(text), 0, nla_len(text))) {
		NL_SET_ERR_MSG_ATTR(extack, text, "TEXT has a NUL in it");
		return -EINVAL;
	}
	return 0;
}

static int tl_do_mark(struct sk_buff *skb, struct genl_info *info)
{
	const struct nlattr *text = info->attrs[TRAPLINE_A_TEXT];
	struct tl_session *session;
	struct tl_marks marks = {};
	struct sk_buff *reply;
	struct file *file;
	void *header;
	int error;

	/* Any session: holding one is the permission. */
	session = tl_session_get(info->attrs, info->extack, &file);
	if (IS_ERR(session))
		return PTR_ERR(session);
	fput(file);
	error = tl_need_attr(info, TRAPLINE_A_TEXT, "TEXT is missing") ?:
		tl_mark_check(text, info->extack);
	if (error)
		return error;
	/* First: a mark that was put is told of. */
	reply = tl_reply_new(info, TL_REPLY_SMALL, &header);
	if (!reply)
		return -ENOMEM;
	tl_mark(nla_data(text), nla_len(text), &marks);
	if (nla_put_u32(reply, TRAPLINE_A_MARKED, marks.marked) ||
	    nla_put_u32(reply, TRAPLINE_A_LOST, marks.lost)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	return tl_reply_send(reply, header, info);
}

static const struct genl_ops tl_ops[] = {
	{ .cmd = TRAPLINE_C_INFO, .doit = tl_do_info },
	{ .cmd = TRAPLINE_C_CONFIGURE, .doit = tl_do_configure },
	{ .cmd = TRAPLINE_C_METADATA, .doit = tl_do_metadata },
	{ .cmd = TRAPLINE_C_PROBE_ADD, .doit = tl_do_probe_add },
	{ .cmd = TRAPLINE_C_PROBE_DELETE, .doit = tl_do_probe_delete },
	{ .cmd = TRAPLINE_C_START, .doit = tl_do_start },
	{ .cmd = TRAPLINE_C_STOP, .doit = tl_do_stop },
	{ .cmd = TRAPLINE_C_SYNC, .doit = tl_do_sync },
	{
		.cmd = TRAPLINE_C_PROBE_DUMP,
		.start = tl_dump_start,
		.dumpit = tl_dump_probes,
		.done = tl_dump_done,
	},
	{ .cmd = TRAPLINE_C_SITE_READ, .doit = tl_do_site_read },
	{
		.cmd = TRAPLINE_C_SESSION_LIST,
		.start = tl_dump_start,
		.dumpit = tl_dump_sessions,
		.done = tl_dump_done,
	},
	{ .cmd = TRAPLINE_C_MARK, .doit = tl_do_mark },
};

struct genl_family tl_family __ro_after_init = {
	.name = TRAPLINE_FAMILY,
	.version = TRAPLINE_FAMILY_VERSION,
	.maxattr = TRAPLINE_A_MAX,
	.policy = tl_policy,
	.ops = tl_ops,
	.n_ops = ARRAY_SIZE(tl_ops),
	.parallel_ops = true,
	.netnsok = true,
	.module = THIS_MODULE,
};

int tl_netlink_init(void)
{
	return genl_register_family(&tl_family);
}

void tl_netlink_exit(void)
{
	genl_unregister_family(&tl_family);
}
