/* SPDX-License-Identifier: MIT */
/*
 * near_table: explicit edges as a kernel wants them in its shared memory (struct near in kernels/rule.h).
 *
 * The processor's guide (table.h) is as short as it can be without one more step, because all samples take
 * the same number of steps. A kernel's samples take as many as their own entry needs, so its guide is as fine as
 * fits, and integers may have one by ratio.
 */
#ifndef GPUHIST_NEAR_TABLE_H
#define GPUHIST_NEAR_TABLE_H

#include "../kernels/rule.h"
#include "bins/sample.h"

/*
 * The guide and the keys of a binning of the kind TABLE, in at most `words` words. Sets all of *near but
 * where it is. NULL: they do not fit, or memory is short; else the memory is the caller's to free.
 */
uint32_t *near_make(struct near *near, const struct binning *binning, const struct sample_type *type, uint32_t words);

#endif
