/* SPDX-License-Identifier: GPL-2.0 */
/*
 * no_cold.h - for compilers that align no cold functions, where ftrace needs all aligned
 *
 * So does the kernel's compiler_types.h, if it was built with such a compiler itself. Included
 * behind it, see kbuild-arguments.
 */
#undef __cold
#define __cold
