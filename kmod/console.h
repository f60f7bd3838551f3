/* SPDX-License-Identifier: GPL-2.0 */
/* console.h - what crashing kernels print of the rings */
#ifndef TL_KMOD_CONSOLE_H
#define TL_KMOD_CONSOLE_H

int tl_console_init(void);
void tl_console_exit(void);

#endif
