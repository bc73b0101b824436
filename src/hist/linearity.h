/* SPDX-License-Identifier: MIT */
/*
 * linearity: DNL and INL of an ADC, from the histogram of its codes (--linearity).
 *
 * The share of the samples at or below a code gives the level at which the code ends: for a ramp
 * the share itself, for a sine -cos(pi share). DNL is the width of a code between its two levels,
 * in mean widths, less 1. INL at a code is the sum of DNL of the codes below it. The first and the
 * last code that was hit have only one level each and are left out; samples below and above the
 * bins count as theirs.
 */
#ifndef GPUHIST_LINEARITY_H
#define GPUHIST_LINEARITY_H

#include "hist/hist.h"

enum waveform { WAVE_NONE, WAVE_SINE, WAVE_RAMP };

/* The results of a channel. */
struct linearity {
	uint32_t first, last; /* the codes between these bins have results */
	double *dnl, *inl;    /* of all bins of the channel, 0 outside; in memory of channel 0 */
	uint32_t worst_dnl, worst_inl; /* the first bins of the largest magnitudes */
	uint64_t missing;              /* codes between first and last without samples */
	double error; /* standard error of DNL at a code of mean width, at the worst level */
};

/* Why linearity cannot be measured with these bins; NULL: it can. */
const char *linearity_refuses(const struct axis *axis, uint32_t channels);

/*
 * Set hist->linearity, which hist_free frees. -1: a channel has no codes between its first and last
 * (STATUS_DATA), or no memory.
 */
int linearity_measure(struct hist *hist, enum waveform wave, struct fail *fail);

/*
 * Format dnl or inl of a bin with six decimals, as text that is also a number of JSON; "": the bin
 * has none.
 */
void linearity_format(char text[NUMBER_TEXT], const struct linearity *l, const double *values,
		      uint32_t bin);

static inline bool linearity_has(const struct linearity *l, uint32_t bin)
{
	return l->first < bin && bin < l->last;
}

#endif
