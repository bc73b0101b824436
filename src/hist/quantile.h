/* SPDX-License-Identifier: MIT */
/*
 * quantile: quantiles from a digest (count/digest.h).
 *
 * Quantile q of n finite samples is the sample of rank max(1, ceil(q n)). If the cell that holds it
 * has one value, that is the quantile. Otherwise it is the decimal number with the fewest digits, three
 * at least, in the cell and between the extremes; of several, the one nearest to the cell's middle,
 * or to the extreme before it. So it depends on the samples alone, not on bins, threads or the order of merging.
 */
#ifndef GPUHIST_QUANTILE_H
#define GPUHIST_QUANTILE_H

#include "count/digest.h"
#include "count/stats.h"
#include "hist/hist.h"

/* Add a quantile, unless the list has it. False: the list is full. */
bool quantiles_add(struct quantiles *asked, uint32_t at);

/* The rank, from 1, of quantile `at` (in units of a millionth) of n samples. */
uint64_t quantile_rank(uint64_t n, uint32_t at);

/*
 * For types of more than 16 bits: set the quantile that is sample `nth`, from 1, of a cell; it is 0
 * so far. `of` has the zeros and the extremes. With `whole`, floats are whole numbers.
 */
void quantile_of_cell(struct hist_quantile *q, const struct sample_type *type, bool whole,
		      const struct digest_rule *rule, uint32_t index, uint64_t nth,
		      const struct stats_result *of);

/* Remove infinities and NaNs, whose numbers are in `of`, from a digest of samples. */
void digest_keep_finite(struct digest *d, const struct sample_type *type,
			const struct stats_result *of);

/* Could these samples be in such a digest? Compares number, zeros and extremes. */
bool digest_agrees(const struct digest *d, const struct sample_type *type,
		   const struct stats_result *of);

#endif
