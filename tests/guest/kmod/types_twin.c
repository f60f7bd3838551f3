// SPDX-License-Identifier: GPL-2.0
/* types_twin.c - of tltypes: a function whose name types.c has too, with other parameters */
#include <linux/compiler.h>
#include "types.h"

static noinline __noclone __used int tlt_twin(const struct tlt_point *point, bool twice)
{
	barrier();
	return twice ? 2 * point->y : point->y;
}

int tlt_call_twin(const struct tlt_point *point)
{
	return tlt_twin(point, true);
}
