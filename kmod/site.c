// SPDX-License-Identifier: GPL-2.0
/* site.c - the kernel's text where a trap is, read and judged */
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <asm/text-patching.h>
#include "site.h"

void tl_site_read(struct tl_site_text *site, u64 address)
{
	site->address = address;
	site->size = TRAPLINE_SITE_BYTES;
	while (site->size &&
	       copy_from_kernel_nofault(site->bytes, (void *)address, site->size))
		site->size--;
}

static bool tl_site_shows_trap(const struct tl_site_text *site)
{
	switch (site->bytes[0]) {
	case INT3_INSN_OPCODE:
	case CALL_INSN_OPCODE:
	case JMP32_INSN_OPCODE:
		return true;
	default:
		return false;
	}
}

/*
 * Whether there is a trap now where @before was found, and @kp is registered. The kernel says
 * that it has planted also when kprobes or ftrace are switched off, and plants nothing.
 */
bool tl_site_trapped(const struct tl_site_text *before, const struct kprobe *kp)
{
	struct tl_site_text now;

	/* Somebody else's was there before: the instruction's own first byte is another. */
	if (tl_site_shows_trap(before) && before->bytes[0] != kp->opcode)
		return true;
	tl_site_read(&now, before->address);
	return now.size && memcmp(now.bytes, before->bytes, min(now.size, before->size));
}

/* With IBT a function begins with ENDBR, and what ftrace patches comes behind it. */
#define TL_ENDBR_SIZE	(IS_ENABLED(CONFIG_X86_KERNEL_IBT) ? 4 : 0)

/*
 * x86: whether the 5 bytes that ftrace patches, now a nop or a call, begin in the 4
 * before @address, or, where it is known, at the function's start @offset before.
 */
bool tl_site_inside_ftrace(u64 address, u64 offset)
{
	static const u8 nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };
	static const u8 old_nop5[] = { 0x66, 0x66, 0x66, 0x66, 0x90 };	/* before 5.13 */
	u8 found[sizeof(nop5)];
	unsigned int back;

	for (back = 1; back < sizeof(nop5); back++) {
		if (copy_from_kernel_nofault(found, (void *)address - back, sizeof(found)))
			return false;
		if (!memcmp(found, nop5, sizeof(nop5)) ||
		    !memcmp(found, old_nop5, sizeof(nop5)) ||
		    ((back == offset || back + TL_ENDBR_SIZE == offset) &&
		     found[0] == CALL_INSN_OPCODE))
			return true;
	}
	return false;
}

/*
 * How many bytes @address is into its function; -ENOENT if there is none, or the kernel
 * has no symbols.
 */
long tl_site_offset(u64 address)
{
	char *name = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	unsigned long found;
	long offset = -ENOENT;
	char *plus;

	if (!name)
		return -ENOMEM;
	sprint_symbol(name, address);	/* name+0x10/0x80 [module] */
	plus = strrchr(name, '+');
	if (plus && sscanf(plus, "+0x%lx/", &found) == 1)
		offset = found;
	kfree(name);
	return offset;
}

/*
 * Arms @kp, which is registered disabled: its site as it was found goes to @before.
 * -EOPNOTSUPP if nothing was planted.
 */
int tl_site_arm(struct kprobe *kp, struct tl_site_text *before)
{
	int error;

	tl_site_read(before, (u64)kp->addr);
	error = enable_kprobe(kp);
	if (!error && !tl_site_trapped(before, kp))
		error = -EOPNOTSUPP;
	return error;
}
