/* SPDX-License-Identifier: GPL-2.0 */
/* places.h - of tlplaces, what its two files share */
#ifndef TLP_PLACES_H
#define TLP_PLACES_H

int tlp_call_twin(int number);

#endif
