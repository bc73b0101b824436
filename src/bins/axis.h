/* SPDX-License-Identifier: MIT */
/*
 * axis: what a histogram counts by: the type of the samples, the bins, and what becomes of samples
 * that are out of range.
 *
 * The job holds a struct axis_spec, what was asked for; a histogram holds a struct axis, what it
 * is. The axis is made from the spec once the type is known. Nothing that counts or writes looks at
 * the spec.
 */
#ifndef GPUHIST_AXIS_H
#define GPUHIST_AXIS_H

#include <stdbool.h>
#include <stdint.h>

#include "bins/edges.h"
#include "bins/sample.h"

/* What was asked for, except the type. */
struct axis_spec {
	struct edges_spec edges; /* --bins, --range, --log, --edges, --mod, --auto, --closed */
	bool clamp;              /* --clamp */
};

struct axis {
	enum axis_kind kind;
	struct sample_type type;
	struct edges edges; /* of the bins, their number, and whether the last one takes HI */
	bool clamp;         /* the first and the last bin take what is out of range */
};

/*
 * Completes a spec that leaves the bins or their kind open. Without a kind: integers with a number
 * of bins get bin = value; integers of 8 bits and fewer get all values; everything else gets AUTO.
 * A range of integers without a number of bins gets a bin for each value if it has few.
 */
struct edges_spec axis_settle(const struct edges_spec *spec, const struct sample_type *type);

/* -1 when the spec cannot be met for the type; *why is then a static text. */
int axis_init(struct axis *axis, const struct axis_spec *spec, const struct sample_type *type,
	      const char **why);

static inline uint32_t axis_bins(const struct axis *axis)
{
	return axis->edges.binning.bins;
}

/*
 * Joins the neighbouring bins of a document's axis until there are `bins`, which divides their
 * number. It becomes the axis that the same option makes with so many bins, if that has these edges
 * to the bit; else one of explicit edges. --mod stays --mod; not for AUTO. -1: no memory, and
 * nothing has changed.
 */
int axis_join(struct axis *axis, uint32_t bins);

static inline const struct axis_kind_row *axis_kind_of(const struct axis *axis)
{
	return &AXIS_KINDS[axis->kind];
}

/*
 * Can counts by the axis `more` be added to counts by the other? False: why says what differs, such
 * as "its samples are i8, not u8". It makes no difference how the bins were asked for; the last bit
 * of a single edge does.
 */
#define AXIS_WHY (4 * NUMBER_TEXT + 64)
bool axis_fits(char why[AXIS_WHY], const struct axis *axis, const struct axis *more);

#endif
