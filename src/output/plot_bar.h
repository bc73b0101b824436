/* SPDX-License-Identifier: MIT */
/*
 * plot_bar: how long the bar of a count is. Whole numbers only, so that every system draws the
 * same.
 */
#ifndef GPUHIST_PLOT_BAR_H
#define GPUHIST_PLOT_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/wide.h"

#define PLOT_BAR_UNITS 4096u /* the longest bar */

/*
 * The length of a bar if `most` has `units`: count / most of them, rounded, or log2(count + 1) /
 * log2(most + 1) of them. It is 0 only for no samples. count <= most, most < 2^100, units <=
 * PLOT_BAR_UNITS.
 */
unsigned plot_bar_length(uint128_t count, uint128_t most, unsigned units, bool log);

#endif
