// SPDX-License-Identifier: GPL-2.0
/* probe.c - one probe: planted, counted, lifted */
#include <linux/log2.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include "handler.h"
#include "machine.h"
#include "session.h"

/* Calls inside at once that a return probe can follow, where nobody says a number. */
u32 tl_maxactive_default(void)
{
	return clamp(32 * num_possible_cpus(), 128U, 4096U);
}

static struct kprobe *tl_probe_kprobe(struct tl_probe *probe)
{
	return probe->kind == TRAPLINE_ENTRY ? &probe->kp : &probe->rp.kp;
}

/* Of an instruction inside of a function. */
static const char *tl_patched_text(const struct kprobe *kp)
{
	switch (kp->offset ? tl_patched_kind((u64)kp->addr) : TL_PATCHED_NOTHING) {
	case TL_PATCHED_BRANCH:
		return "a jump label or a static call is there, code that the kernel switches by patching it; probe an instruction before or behind it";
	case TL_PATCHED_CALL:
		return "a static call is there, whose target the kernel sets by patching it; probe what it calls, or an instruction before it";
	default:
		return NULL;
	}
}

/* Why the kernel refused, as far as it can be told. */
static void tl_probe_refusal(struct tl_probe *probe, int error, char *text)
{
	const struct kprobe *kp = tl_probe_kprobe(probe);
	unsigned int left;
	const char *why;

	switch (error) {
	case -ENOENT:
		why = probe->address ? "there is no function of the kernel's at that address" :
		      "the kernel knows no such symbol, or its code is gone";
		break;
	case -EILSEQ:
		left = tl_ftrace_left((u64)kp->addr, probe->offset);
		if (left) {
			snprintf(text, TL_TEXT_SIZE, TL_FTRACE_INSIDE, probe->offset + left);
			return;
		}
		why = "no instruction starts there";
		break;
	case -EINVAL:
		if (probe->kind != TRAPLINE_ENTRY && probe->offset)
			why = "a return can be trapped only from the function's start";
		else if (probe->kind != TRAPLINE_ENTRY && tl_ftrace_skip((u64)kp->addr))
			why = "this kernel can't trap the returns of functions that ftrace patches, only entries: kprobe:FUNC";
		else
			why = tl_patched_text(kp) ?:
			      "the kernel allows no probe there: blacklisted, not kernel code, or code that it patches itself"
			      TL_NOT_STEPPED;
		break;
	case -ERANGE:
		why = "OFFSET is outside of the function";
		break;
	case -EDOM:
		why = "ADDRESS is in the middle of a function: OFFSET must say how far from its start";
		break;
	case -EDEADLK:
		why = "a store-conditional there, or behind it, would never succeed: what ran into the trap would never go on; probe an instruction outside of the loop that tries it";
		break;
	case -EFAULT:
		why = "it is in the last function of a module, behind which nothing is mapped: this kernel would read there, and crash; probe what calls it";
		break;
	case -ENOMEM:
		why = "no memory for it";
		break;
	case -EOPNOTSUPP:
		why = "kprobes are switched off: see /sys/kernel/debug/kprobes/enabled and the sysctl kernel.ftrace_enabled";
		break;
	default:
		why = "the kernel refused it";
		break;
	}
	strscpy(text, why, TL_TEXT_SIZE);
}

static u32 tl_probe_data_size(const struct tl_probe *probe)
{
	return probe->kind == TRAPLINE_CALL ? sizeof(struct tl_call) + probe->entry.size : 0;
}

/* The kernel allocates the instances, and charges nobody: so there is a limit here. */
static int tl_probe_check_memory(struct tl_probe *probe, char *text)
{
	u64 most = tl_session_memory_max();
	u32 each = sizeof(struct kretprobe_instance) + tl_probe_data_size(probe);

	if (probe->kind == TRAPLINE_ENTRY)
		return 0;
	probe->instance_bytes = (u64)probe->maxactive * roundup_pow_of_two(each);
	if (probe->session->instance_bytes + probe->instance_bytes <= most)
		return 0;
	snprintf(text, TL_TEXT_SIZE,
		 "its %u instances take %llu KiB, and all of a session's at most %llu: lower maxactive",
		 probe->maxactive, probe->instance_bytes >> 10, most >> 10);
	return -E2BIG;
}

static int tl_probe_check(struct tl_probe *probe, char *text)
{
	u32 size = probe->entry.size + probe->ret.size;

	if (probe->kind == TRAPLINE_CALL)
		size += sizeof(u64);
	if (size > TL_FIELDS_MAX) {
		snprintf(text, TL_TEXT_SIZE, "a record has at most %u bytes of fields, not %u",
			 TL_FIELDS_MAX, size);
		return -E2BIG;
	}
	BUILD_BUG_ON(sizeof(struct tl_call) + TL_KEPT_MAX > KRETPROBE_MAX_DATA_SIZE);
	if (probe->kind == TRAPLINE_CALL && probe->entry.size > TL_KEPT_MAX) {
		snprintf(text, TL_TEXT_SIZE,
			 "a call can keep at most %u bytes of fields until its return, not %u: record less, or the entry alone",
			 TL_KEPT_MAX, probe->entry.size);
		return -E2BIG;
	}
	return tl_probe_check_memory(probe, text);
}

static int tl_probe_programs(struct tl_probe *probe, const struct tl_probe_request *request,
			     char *text)
{
	/* An address in the middle of a function is found out when it is registered. */
	enum tl_site site = request->offset ? TL_AT_OFFSET : TL_AT_ENTRY;
	enum tl_site end = probe->kind == TRAPLINE_CALL ? TL_AT_CALL_RETURN : TL_AT_RETURN;
	int error = 0;

	if (request->entry_bytes && probe->kind == TRAPLINE_RETURN) {
		strscpy(text, "a return probe has no entry program", TL_TEXT_SIZE);
		return -EINVAL;
	}
	if (request->ret_bytes && probe->kind == TRAPLINE_ENTRY) {
		strscpy(text, "an entry probe has no return program", TL_TEXT_SIZE);
		return -EINVAL;
	}
	error = tl_program_load(&probe->entry, request->entry, request->entry_bytes, site, 0, text,
				TL_TEXT_SIZE);
	if (!error)
		error = tl_program_load(&probe->ret, request->ret, request->ret_bytes, end,
					probe->entry.least, text, TL_TEXT_SIZE);
	if (!error)
		error = tl_probe_check(probe, text);
	return error;
}

/* Only entry probes can be elsewhere; kernels before 5.18 don't say, and have no ENDBR. */
static bool tl_at_function_entry(const struct kprobe *kp)
{
	if (kp->offset)
		return true;	/* tl_site_register() has moved it */
#ifdef KPROBE_FLAG_ON_FUNC_ENTRY
	return kp->flags & KPROBE_FLAG_ON_FUNC_ENTRY;
#else
	return tl_site_offset((u64)kp->addr) <= 0;
#endif
}

/* All instances of a call probe that nobody can have hit yet. */
static void tl_probe_collect_instances(struct tl_probe *probe)
{
#ifdef TL_OWN_INSTANCES
	struct kretprobe_instance *ri;

	if (probe->kind != TRAPLINE_CALL)
		return;
	hlist_for_each_entry(ri, &probe->rp.free_instances, hlist) {
		struct tl_call *call = (struct tl_call *)ri->data;

		call->inside = false;
		call->next = probe->instances;
		probe->instances = ri;
	}
#endif
}

/* Disarmed: nothing hits it yet. */
static int tl_probe_register(struct tl_probe *probe)
{
	struct kprobe *kp = tl_probe_kprobe(probe);
	long into;
	int error;

	/* Not all kernels look, and they answer differently. */
	if (IS_ENABLED(CONFIG_KALLSYMS) && probe->address &&
	    tl_site_offset(probe->address) == -ENOENT)
		return -ENOENT;
	if (probe->address && tl_site_ends_text(probe->address))
		return -EFAULT;
	if (probe->address)
		kp->addr = (kprobe_opcode_t *)(probe->address - probe->offset);
	else
		kp->symbol_name = probe->symbol;
	kp->offset = probe->offset;
	kp->flags = KPROBE_FLAG_DISABLED;

	if (probe->kind != TRAPLINE_ENTRY)
		tl_handler_learn_returns();
	switch (probe->kind) {
	case TRAPLINE_ENTRY:
		kp->pre_handler = tl_handler_entry(probe);
		error = tl_site_register(kp);
		error = tl_kprobe_error(error, (u64)kp->addr);
		break;
	case TRAPLINE_RETURN:
		probe->rp.handler = tl_handler_return;
		probe->rp.maxactive = probe->maxactive;
		error = register_kretprobe(&probe->rp);
		break;
	default:
		probe->rp.entry_handler = tl_handler_call_entry(probe);
		probe->rp.handler = tl_handler_call_return(probe);
		probe->rp.data_size = tl_probe_data_size(probe);
		probe->rp.maxactive = probe->maxactive;
		error = register_kretprobe(&probe->rp);
		break;
	}
	/* Where no instruction starts, or no probe may be, may be outside of the function as well. */
	into = kp->addr ? tl_site_offset((u64)kp->addr) : -ENOENT;
	if ((error == -EILSEQ || error == -EINVAL) && probe->offset && into >= 0 &&
	    into != probe->offset)
		return -ERANGE;
	/* Before 5.18 what is no code at all is refused as what is forbidden. */
	if (error == -EINVAL && IS_ENABLED(CONFIG_KALLSYMS) && kp->addr && into == -ENOENT)
		return -ENOENT;
	if (error)
		return error;
	if (probe->offset && probe->offset < tl_ftrace_skip((u64)kp->addr - probe->offset)) {
		unregister_kprobe(kp);
		return -EILSEQ;
	}
	if (!probe->offset && !tl_at_function_entry(kp)) {
		/* Arguments are not where its program, verified for an entry, looks. */
		unregister_kprobe(kp);
		return -EDOM;
	}

	tl_probe_collect_instances(probe);
	probe->planted = true;
	probe->session->instance_bytes += probe->instance_bytes;
	/* Where the kernel plants behind a function's ENDBR, it is still the entry. */
	if (!probe->address)
		probe->address = (u64)kp->addr - (probe->offset || into < 0 ? 0 : into);
	/* The kernel doesn't ask whether that is outside of the function. */
	if (probe->offset && into >= 0 && into != probe->offset)
		return -ERANGE;
	return tl_never_passes((u64)kp->addr, into < 0 ? probe->offset : into) ? -EDEADLK : 0;
}

/*
 * Plants what @request wants, disarmed, for the caller to add it to @session and arm it then.
 * On failure an ERR_PTR, nothing left behind, and @text (TL_TEXT_SIZE) says why.
 */
struct tl_probe *tl_probe_plant(struct tl_session *session, const struct tl_probe_request *request,
				char *text)
{
	struct tl_probe *probe = kzalloc(sizeof(*probe), GFP_KERNEL_ACCOUNT);
	int error = -ENOMEM;

	strscpy(text, "no memory for it", TL_TEXT_SIZE);
	if (!probe)
		return ERR_PTR(-ENOMEM);
	probe->session = session;
	probe->id = request->id;
	probe->kind = request->kind;
	probe->trigger = request->trigger;
	probe->address = request->address;
	probe->offset = request->offset;
	probe->maxactive = request->maxactive;
	probe->max_rate = request->max_rate;
	probe->symbol = kstrdup(request->symbol ?: "", GFP_KERNEL_ACCOUNT);
	probe->counts = __alloc_percpu_gfp(sizeof(struct tl_counts), sizeof(u64),
					   GFP_KERNEL_ACCOUNT);
	if (!probe->symbol || !probe->counts)
		goto fail;
	if (request->label_bytes) {
		probe->label = kmemdup(request->label, request->label_bytes, GFP_KERNEL_ACCOUNT);
		if (!probe->label)
			goto fail;
		probe->label_bytes = request->label_bytes;
	}
	error = tl_probe_programs(probe, request, text);
	if (error)
		goto fail;
	error = tl_probe_register(probe);
	if (error) {
		tl_probe_refusal(probe, error, text);
		if (error == -EDOM || error == -EDEADLK || error == -EFAULT)
			error = -EINVAL;
		tl_probes_lift(&probe, 1);
		goto fail;
	}
	return probe;
fail:
	tl_probe_free(probe);
	return ERR_PTR(error);
}

/*
 * Arms a probe that is in its session: who finds a record of it finds the probe. The site is
 * read before, as it was found. On failure @text says why, and the probe is as it was planted.
 */
int tl_probe_arm(struct tl_probe *probe, char *text)
{
	int error = tl_site_arm(tl_probe_kprobe(probe), &probe->before);

	if (error)
		tl_probe_refusal(probe, error, text);
	return error;
}

/* Lifts @count probes of one kind family, those that are planted; they can be few. */
static void tl_probes_lift_batch(struct tl_probe **probes, unsigned int count, bool entries)
{
	void *batch[64];
	unsigned int n = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct tl_probe *probe = probes[i];

		if (!probe->planted || (probe->kind == TRAPLINE_ENTRY) != entries)
			continue;
		batch[n++] = entries ? (void *)&probe->kp : (void *)&probe->rp;
	}
	if (n && entries)
		unregister_kprobes((struct kprobe **)batch, n);
	else if (n)
		unregister_kretprobes((struct kretprobe **)batch, n);
}

/* Takes probes out of the kernel's text; no handler of theirs runs afterwards. */
void tl_probes_lift(struct tl_probe **probes, unsigned int count)
{
	while (count) {
		unsigned int n = min(count, 64U);
		unsigned int i;

		tl_probes_lift_batch(probes, n, true);
		tl_probes_lift_batch(probes, n, false);
		for (i = 0; i < n; i++) {
			if (!probes[i]->planted)
				continue;
			probes[i]->planted = false;
			probes[i]->session->instance_bytes -= probes[i]->instance_bytes;
		}
		probes += n;
		count -= n;
		cond_resched();
	}
}

/* Frees a probe that is not planted. */
void tl_probe_free(struct tl_probe *probe)
{
	tl_program_free(&probe->entry);
	tl_program_free(&probe->ret);
	free_percpu(probe->counts);
	kfree(probe->symbol);
	kfree(probe->label);
	kfree(probe);
}

static u64 tl_probe_maxactive_misses(const struct tl_probe *probe)
{
	return probe->kind == TRAPLINE_ENTRY ? 0 : (unsigned int)READ_ONCE(probe->rp.nmissed);
}

/* START: the kernel's misses until now are not ours. */
void tl_probe_begin(struct tl_probe *probe)
{
	probe->missed_recursion = READ_ONCE(tl_probe_kprobe(probe)->nmissed);
	probe->missed_maxactive = tl_probe_maxactive_misses(probe);
	atomic64_set(&probe->rate, 0);
}

void tl_probe_counters(const struct tl_probe *probe, struct trapline_counters *sum)
{
	int cpu;

	*sum = (struct trapline_counters){};
	for_each_possible_cpu(cpu) {
		const struct tl_counts *counts = per_cpu_ptr(probe->counts, cpu);

		sum->hits += READ_ONCE(counts->hits);
		sum->recorded += READ_ONCE(counts->recorded);
		sum->filtered += READ_ONCE(counts->filtered);
		sum->lost_full += READ_ONCE(counts->lost_full);
		sum->lost_nested += READ_ONCE(counts->lost_nested);
		sum->lost_too_big += READ_ONCE(counts->lost_too_big);
		sum->entered += READ_ONCE(counts->entered);
		sum->returned += READ_ONCE(counts->returned);
		sum->late += READ_ONCE(counts->late);
		sum->stale += READ_ONCE(counts->stale);
		sum->limited += READ_ONCE(counts->limited);
	}
	sum->missed_recursion = tl_probe_kprobe((struct tl_probe *)probe)->nmissed -
				probe->missed_recursion;
	/* Where it counts too what a program couldn't read, the lower bound is not known. */
	if (TL_FAULTS_ARE_MISSES && (probe->entry.shape == TL_SHAPE_PROGRAM ||
				     probe->ret.shape == TL_SHAPE_PROGRAM))
		sum->missed_recursion = 0;
	sum->missed_maxactive = tl_probe_maxactive_misses(probe) - probe->missed_maxactive;
}

/* Whether the trap is there: not lifted, gone with its module, or switched off. */
static bool tl_probe_in_place(const struct tl_probe *probe)
{
	const struct kprobe *kprobe = tl_probe_kprobe((struct tl_probe *)probe);

	return probe->planted && !(kprobe->flags & KPROBE_FLAG_GONE) &&
	       tl_site_trapped(&probe->before, kprobe);
}

/*
 * Told by the site's first byte, which is what the CPU executes: the kernel's flags say what
 * it means to have there, before its worker has got to it.
 */
enum trapline_technique tl_probe_technique(const struct tl_probe *probe)
{
	const struct kprobe *kprobe = tl_probe_kprobe((struct tl_probe *)probe);
	bool ftrace = kprobe->flags & KPROBE_FLAG_FTRACE;
	struct tl_site_text now;

	if (!tl_probe_in_place(probe))
		return TRAPLINE_NO_TRAP;
	tl_site_read(&now, probe->before.address);
	if (!now.size)
		return TRAPLINE_NO_TRAP;
	switch (tl_text_kind(now.bytes)) {
	case TL_TEXT_BREAKPOINT:
		/* A call that is just being patched shows a breakpoint for a moment. */
		return ftrace ? TRAPLINE_FTRACE : TRAPLINE_BREAKPOINT;
	case TL_TEXT_JUMP:
		/* The kernel makes no jump of a trap on what is one itself. */
		return tl_text_kind((const u8 *)&kprobe->opcode) == TL_TEXT_JUMP ?
		       TRAPLINE_NO_TRAP : TRAPLINE_JUMP;
	case TL_TEXT_CALL:
		/* Else it is an instruction of the function's own, and no trap. */
		return ftrace ? TRAPLINE_FTRACE : TRAPLINE_NO_TRAP;
	default:
		return TRAPLINE_NO_TRAP;
	}
}
