/* SPDX-License-Identifier: MIT */
/*
 * axis: the type of the samples, the bins, and whether samples out of range are clamped.
 *
 * A struct axis_spec (edges.h) is the user's request, kept in the job. Once the type is known, it
 * becomes a struct axis, which is all that counting and writing need.
 */
#ifndef GPUHIST_AXIS_H
#define GPUHIST_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/edges.h"
#include "bins/missing.h"
#include "bins/sample.h"

struct axis {
	enum axis_kind kind;
	struct sample_type type;
	struct edges edges;
	bool clamp;             /* samples out of range go to the first or the last bin */
	struct missing missing; /* values before --abs that are counted with NaN */
	bool finds_whole;       /* find out whether all samples are whole numbers (hist.whole) */
};

/*
 * Complete a spec that leaves the number of bins or their kind open. The default kind is bin =
 * value for integers with a number of bins, all values for integers of up to 8 bits, and AUTO for
 * everything else. A range of few integers gets a bin for each value.
 */
struct axis_spec axis_complete(const struct axis_spec *spec, const struct sample_type *type);

/* -1: the type cannot have these bins, and *why, a static text, gives the reason. */
int axis_init(struct axis *axis, const struct axis_spec *spec, const struct sample_type *type,
	      const char **why);

static inline uint32_t axis_bins(const struct axis *axis)
{
	return axis->edges.binning.bins;
}

/*
 * Join neighbouring bins of a document's axis until `bins` remain; that must divide their number.
 * The axis becomes the one that the same option makes with that many bins, if its edges are the
 * same to the bit, or else one with explicit edges. --mod remains --mod. Not for AUTO and RANKS.
 * -1: out of memory; the axis is unchanged.
 */
int axis_join(struct axis *axis, uint32_t bins);

static inline const struct axis_kind_row *axis_kind_of(const struct axis *axis)
{
	return &AXIS_KINDS[axis->kind];
}

/* Does a sample's bin tell something about it? A single bin that was asked for does not. */
static inline bool axis_divides(const struct axis *axis)
{
	return axis_bins(axis) != 1 || axis_kind_of(axis)->from_samples;
}

/* Does one bin hold all finite samples, so that any two histograms are equal? */
bool axis_is_blind(const struct axis *axis);

/*
 * Can counts with the axis `more` be added to counts with `axis`? If not, `why` gives the
 * difference, such as "its samples are i8, not u8". The bins may come from different options, but
 * each edge must be the same to the last bit.
 */
#define AXIS_WHY (4 * NUMBER_TEXT + 64)
bool axis_fits(char why[AXIS_WHY], const struct axis *axis, const struct axis *more);

#endif
