/* SPDX-License-Identifier: MIT */
/* ratio_edges: edges of equal ratio, the same on every system: libm's pow is not, in its last bit. */
#ifndef GPUHIST_RATIO_EDGES_H
#define GPUHIST_RATIO_EDGES_H

#include <stdint.h>

/*
 * edges[i] = lo (hi/lo)^(i/bins), rounded to the nearest binary64, i from 0 to bins; the first is lo, the last hi.
 * 0 < lo < hi, both finite; bins at most 2^20. They may come out equal where bins are narrower than binary64
 * can tell apart.
 *
 * The power is computed to a relative error below 2^-110. It is never the middle of two binary64: the power of whole
 * numbers of a unit that it would have to be is a whole number of that unit. So an edge is the nearest one unless
 * its power is nearer than 2^-110 to a middle, which among 2^56 of them is to be expected once.
 */
void ratio_edges(double *edges, double lo, double hi, uint32_t bins);

#endif
