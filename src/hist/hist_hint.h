/* SPDX-License-Identifier: MIT */
/*
 * hist_hint: what the counts alone say against the type or the bins that they were counted by.
 *
 * A hint must be right; to miss one costs little. So each rests on evidence that neither chance nor
 * ordinary data produce: uniform noise, zeros, silence, small integers, timestamps and audio get no
 * hint.
 *
 *   floats counted as integers  The bits of a float begin with its exponent, so as integers floats are in blocks of
 *                               equal size, one for each exponent. Where the density near 0 is finite and not 0, as in
 *                               audio, pictures, noise, each block holds half of the next one's, over many blocks.
 *                               Integers for which that holds would have to be near 2^30 and fall by halves at
 *                               multiples of 2^23.
 *   integers counted as floats  Integers below 2^23 are denormal floats, and small negative ones NaN: all finite
 *                               samples are positive and none is as large as the smallest normal number.
 *   the range                   More than half are under or over, or all are in one bin of many that is wider than
 *                               one value. --auto would then find the range.
 */
#ifndef GPUHIST_HIST_HINT_H
#define GPUHIST_HIST_HINT_H

#include "hist/hist.h"

enum hint_kind { HINT_NONE, HINT_FLOATS, HINT_INTEGERS, HINT_OUTSIDE, HINT_ONE_BIN };

struct hint {
	enum hint_kind kind;
	char type[16]; /* FLOATS, INTEGERS: what the samples may be, as in -t */
	uint32_t bin;  /* ONE_BIN: which */
};

/*
 * Examines a finished histogram. `certain`: the input itself declared its type. Bounded: at most
 * 2^24 counts are looked at.
 */
struct hint hist_hint(const struct hist *h, bool certain);

#endif
