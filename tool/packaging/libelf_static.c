// SPDX-License-Identifier: GPL-2.0
// libelf.a of elfutils 0.192 lacks these functions of its own. They are for elf_getdata_rawchunk(),
// which nobody uses here: where somebody does, the linker misses eu_search_tree_find().

__attribute__((weak)) void eu_search_tree_init(void *tree,
					       int (*compare)(const void *, const void *))
{
	(void)tree;
	(void)compare;
}

__attribute__((weak)) void eu_search_tree_fini(void *tree, void (*free_node)(void *))
{
	(void)tree;
	(void)free_node;
}
