// SPDX-License-Identifier: GPL-2.0
/*
 * tlabi - a module of another ABI: has the device and the netlink family of
 * shared/trapline.h, and answers INFO with the ABI that its parameter says.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <net/genetlink.h>
#include "shared/trapline.h"

static unsigned int abi = TRAPLINE_ABI + 1;
module_param(abi, uint, 0444);
MODULE_PARM_DESC(abi, "what INFO answers");

static struct genl_family tlabi_family;

static int tlabi_info(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header;

	if (!reply)
		return -ENOMEM;
	header = genlmsg_put_reply(reply, info, &tlabi_family, 0, TRAPLINE_C_INFO);
	if (!header || nla_put_u32(reply, TRAPLINE_A_ABI, abi)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	genlmsg_end(reply, header);
	return genlmsg_reply(reply, info);
}

static const struct nla_policy tlabi_policy[TRAPLINE_A_MAX + 1] = {
	[TRAPLINE_A_FD] = { .type = NLA_U32 },
};

static const struct genl_ops tlabi_ops[] = {
	{ .cmd = TRAPLINE_C_INFO, .doit = tlabi_info },
};

static struct genl_family tlabi_family = {
	.name = TRAPLINE_FAMILY,
	.version = TRAPLINE_FAMILY_VERSION,
	.maxattr = TRAPLINE_A_MAX,
	.policy = tlabi_policy,
	.ops = tlabi_ops,
	.n_ops = ARRAY_SIZE(tlabi_ops),
	.module = THIS_MODULE,
};

static const struct file_operations tlabi_fops = {
	.owner = THIS_MODULE,
};

static struct miscdevice tlabi_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = TRAPLINE_DEVICE,
	.mode = 0600,
	.fops = &tlabi_fops,
};

static int __init tlabi_init(void)
{
	int error = genl_register_family(&tlabi_family);

	if (error)
		return error;
	error = misc_register(&tlabi_device);
	if (error)
		genl_unregister_family(&tlabi_family);
	return error;
}

static void __exit tlabi_exit(void)
{
	misc_deregister(&tlabi_device);
	genl_unregister_family(&tlabi_family);
}

module_init(tlabi_init);
module_exit(tlabi_exit);

MODULE_DESCRIPTION("Another module's ABI, for testing those who ask for it");
MODULE_LICENSE("GPL");
