/* SPDX-License-Identifier: MIT */
/*
 * compare: how far a histogram is from a reference with the same bins (--compare).
 *
 * Nothing is interpolated: shares are compared at the ends of bins. If AUTO or RANKS have different
 * k, bins of the smaller k are joined to bins of the larger one.
 */
#ifndef GPUHIST_COMPARE_H
#define GPUHIST_COMPARE_H

#include "base/fail.h"
#include "hist/hist.h"

/* How far a channel is from the reference's. */
struct comparison {
	double ks; /* the largest difference between the shares of samples below a value */
	double at; /* the least such value; NaN: the shares do not differ anywhere */
	/* samples taken at the middles of their bins, in their unit; NaN: some are out of range */
	double wasserstein;
	double divergence; /* Jensen-Shannon, in bits */
};

/*
 * -1: the reference has no samples besides NaN in a channel, or in all of its keys, or one bin for
 * all finite samples, so that any two histograms are equal (STATUS_DATA).
 */
int compare_refuses(const struct hist *reference, const char *name, struct fail *fail);

/* Bytes of the counts that pictures keep of a reference of h, at most. */
uint64_t compare_bytes(const struct hist *h);

/*
 * Compare each channel with the reference's, which has the same channels and an axis that fits
 * (axis_fits), and set h->compared and, if it will be drawn, h->reference. Keys are compared by
 * name; the KS of one that only h has, or that has no samples besides NaN on one side, is 1, and
 * all else unknown. -1: h has no samples besides NaN, or no key in common with the reference
 * (STATUS_DATA), or no memory.
 */
int hist_compare(struct hist *h, const struct hist *reference, bool drawn, struct fail *fail);

/* The number of keys of `from` that h lacks; the first is *first. */
uint32_t hist_keys_lacking(const struct hist *h, const struct hist *from, uint32_t *first);

/* Largest KS of all channels; *channel is where. */
double comparison_worst(const struct hist *h, uint32_t *channel);

#endif
