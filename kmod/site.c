// SPDX-License-Identifier: GPL-2.0
/* site.c - the kernel's text where a trap is, read and judged */
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "machine.h"
#include "site.h"

void tl_site_read(struct tl_site_text *site, u64 address)
{
	site->address = address;
	site->size = TRAPLINE_SITE_BYTES;
	while (site->size &&
	       copy_from_kernel_nofault(site->bytes, (void *)address, site->size))
		site->size--;
}

/*
 * Whether there is a trap now where @before was found, and @kp is registered. The kernel says
 * that it has planted also when kprobes or ftrace are switched off, and plants nothing.
 */
bool tl_site_trapped(const struct tl_site_text *before, const struct kprobe *kp)
{
	enum tl_text_kind kind = tl_text_kind(before->bytes);
	struct tl_site_text now;

	/* Somebody else's was there before: the instruction itself is another. */
	if (kind != TL_TEXT_OTHER && kind != tl_text_kind((const u8 *)&kp->opcode))
		return true;
	tl_site_read(&now, before->address);
	return now.size && memcmp(now.bytes, before->bytes, min(now.size, before->size));
}

/*
 * register_kprobe() of @kp, at a function's start or @kp's offset behind it. Where ftrace
 * patches a function's start so that no trap can be there, the entry is what comes behind.
 */
int tl_site_register(struct kprobe *kp)
{
	int error = register_kprobe(kp);
	unsigned int skip = 0;

	if (error == -EINVAL && !kp->offset && kp->addr)
		skip = tl_ftrace_skip((u64)kp->addr);
	if (!skip)
		return error;
	kp->symbol_name = NULL;
	kp->offset = skip;
	return register_kprobe(kp);
}

/* Where @address is in its function, and how large that is; -ENOENT if there is none. */
static int tl_site_find(u64 address, unsigned long *offset, unsigned long *size)
{
	char *name = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	int error = -ENOENT;
	char *plus;

	if (!name)
		return -ENOMEM;
	sprint_symbol(name, address);	/* name+0x10/0x80 [module] */
	plus = strrchr(name, '+');
	if (plus && sscanf(plus, "+0x%lx/0x%lx", offset, size) == 2)
		error = 0;
	kfree(name);
	return error;
}

/*
 * How many bytes @address is into its function; -ENOENT if there is none, or the kernel
 * has no symbols.
 */
long tl_site_offset(u64 address)
{
	unsigned long offset, size;
	int error = tl_site_find(address, &offset, &size);

	return error ?: offset;
}

/*
 * Whether the kernel would fault when it looks for room for a jump in place of a trap at @address:
 * it decodes all of the function, and the last instruction beyond its end, which may be that of a
 * module's text, with nothing mapped behind it.
 */
bool tl_site_ends_text(u64 address)
{
	unsigned long offset, size;
	u64 end, page;
	u8 byte;

	if (!IS_ENABLED(CONFIG_OPTPROBES) || tl_site_find(address, &offset, &size))
		return false;
	end = address - offset + size;
	page = PAGE_ALIGN(end);
	return page < end + MAX_INSN_SIZE && copy_from_kernel_nofault(&byte, (void *)page, 1);
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
