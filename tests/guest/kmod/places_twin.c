// SPDX-License-Identifier: GPL-2.0
/* places_twin.c - of tlplaces: a function whose name places.c has too */
#include <linux/compiler.h>
#include "places.h"

static noinline __used int tlp_twin(int number)
{
	barrier();
	return number + 2;
}

int tlp_call_twin(int number)
{
	return tlp_twin(number);
}
