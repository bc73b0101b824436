/* SPDX-License-Identifier: MIT */
/*
 * ratio_edges: edges of equal ratio, the same on every system; the last bit of libm's pow is not.
 */
#ifndef GPUHIST_RATIO_EDGES_H
#define GPUHIST_RATIO_EDGES_H

#include <stdint.h>

/*
 * edges[i] = lo (hi/lo)^(i/bins), rounded to the nearest binary64, i from 0 to bins; the first is
 * lo, the last hi. 0 < lo < hi, both finite; bins at most 2^20. Neighbours come out equal where
 * bins are narrower than binary64 can tell apart.
 *
 * The power is computed to a relative error below 2^-110. It is never exactly the middle of two
 * binary64 numbers: a middle has an odd mantissa of 54 digits, whose power by `bins` has more
 * digits than the product lo^(bins-i) hi^i can have. So an edge is the nearest binary64 unless its
 * power is nearer than 2^-110 to a middle, which is to be expected once among 2^56 edges.
 */
void ratio_edges(double *edges, double lo, double hi, uint32_t bins);

#endif
