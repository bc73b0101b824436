/* SPDX-License-Identifier: MIT */
/*
 * groups: which codes share a counter on a device. Pure.
 *
 * The 65,536 codes of 16-bit integers are too many counters for a block's shared memory; but codes
 * of one bin need not be distinguished, nor those outside the range. The counts of a group may be
 * added to any code of it. Statistics need each code's count, so with them there are no groups.
 */
#ifndef GPUHIST_GPU_GROUPS_H
#define GPUHIST_GPU_GROUPS_H

#include "../kernels/rule.h"
#include "bins/sample.h"

/*
 * Chooses at most `most` groups, none of which crosses the border of a bin; every code is checked.
 * Returns how many; 0: there are no such groups, or the type is not a 16-bit integer.
 */
uint32_t groups_choose(struct groups *groups, const struct sample_type *type,
		       const struct binning *binning, uint32_t most);

/* The group of a code as it is in memory, read as little endian. */
uint32_t groups_of_code(const struct groups *groups, const struct sample_type *type, uint32_t code);

#endif
