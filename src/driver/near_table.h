/* SPDX-License-Identifier: MIT */
/*
 * near_table: explicit edges as a kernel needs them in its shared memory (struct near in
 * kernels/rule.h).
 *
 * The processor's guide (table.h) is as short as it can be without one more step, because all
 * samples take the same number of steps. A kernel's sample takes as many as its own entry needs, so
 * the kernel's guide is as fine as fits, and for integers it may be by ratio.
 */
#ifndef GPUHIST_NEAR_TABLE_H
#define GPUHIST_NEAR_TABLE_H

#include "../kernels/rule.h"
#include "bins/sample.h"

/*
 * Makes the guide and the keys of a binning of the kind TABLE, in at most `words` words; the caller
 * frees them. Sets all of *near except where it will be. NULL: they do not fit, or memory is short.
 */
uint32_t *near_make(struct near *near, const struct binning *binning,
		    const struct sample_type *type, uint32_t words);

#endif
